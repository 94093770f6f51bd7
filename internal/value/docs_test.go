package value

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// typeTable reads the rows of the first table in docs/values.md: what a value is called,
// and how it is stored.
func typeTable(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/values.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "|---|---|---|\n")
	rows := map[string]string{}
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) < 5 {
			break
		}
		rows[strings.TrimSpace(cells[1])] = strings.Trim(strings.TrimSpace(cells[2]), "`")
	}
	return rows
}

// TestDocumentedTypes compares the table of the documentation with the one of
// [TestGoTypes].
func TestDocumentedTypes(t *testing.T) {
	rows := typeTable(t)
	if len(rows) < 20 {
		t.Fatalf("%d rows in docs/values.md", len(rows))
	}
	tested := map[string]string{}
	for _, tt := range goTypes {
		tested[tt.name] = tt.text
	}
	for name, text := range rows {
		if got, ok := tested[name]; !ok || got != text {
			t.Errorf("docs/values.md says of %s %s, and the test %s", name, text, got)
		}
	}
}

func TestSizeLimit(t *testing.T) {
	defer func(n int) { limit = n }(limit)
	limit = 100
	for _, v := range []any{strings.Repeat("x", 99), json.RawMessage(strings.Repeat(" ", 99) + "12")} {
		_, err := Encode(v)
		if err == nil || !strings.Contains(err.Error(), "101 bytes of JSON; the limit is 100") {
			t.Errorf("%T: %v", v, err)
		}
	}
	if _, err := Encode(strings.Repeat("x", 98)); err != nil {
		t.Error(err)
	}
}
