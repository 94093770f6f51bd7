package pawl_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// testFolders are the folders of the packages whose tests the documentation names.
var testFolders = map[string]string{
	"pawl": ".", "journal": "journal", "repair": "journal/repair", "spec": "spec",
	"journalfile": "internal/journalfile", "crashfs": "internal/crashfs", "dirstore": "internal/dirstore",
	"statefile": "internal/statefile", "lock": "internal/lock", "vfs": "internal/vfs",
	"limit": "limit", "interrupt": "interrupt",
}

// testTexts reads the tests of a package: by name, the comment above and the body. Under ""
// is all of it.
func testTexts(t *testing.T, folder string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	function := regexp.MustCompile(`(?m)((?:^//.*\n)*)^func ((?:Test|Fuzz)\w+)\([tf] (?s:.*?)^}`)
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(b), "\r\n", "\n")
		texts[""] += text
		for _, m := range function.FindAllStringSubmatch(text, -1) {
			texts[m[2]] = m[0]
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(.*\}$`).FindAllStringSubmatch(text, -1) {
			texts[m[1]] = m[0] // in one line
		}
	}
	return texts
}

// carries reports whether a text speaks of rule n ("rule 8", "rules 2, 3 and 20", "rules 4 to
// 12"), or of invariant n.
func carries(text, word string, n int) bool {
	for _, m := range regexp.MustCompile(`(?i)`+word+`s? ((?:\d+(?:,? and |, | to |\W*\n//\s*)?)+)`).FindAllStringSubmatch(text, -1) {
		last, upTo := 0, false
		for _, part := range regexp.MustCompile(`\d+|to`).FindAllString(m[1], -1) {
			k, err := strconv.Atoi(part)
			switch {
			case err != nil:
				upTo = true
				continue
			case k == n, upTo && last <= n && n <= k:
				return true
			}
			last, upTo = k, false
		}
	}
	return false
}

// TestDocumentedTests: every test that docs/durability.md and docs/testing.md name is there;
// of those in the row of a rule at least one carries its number, and of those in the row of an
// invariant a package names it.
func TestDocumentedTests(t *testing.T) {
	texts := map[string]map[string]string{}
	for name, folder := range testFolders {
		texts[name] = testTexts(t, folder)
	}
	named := regexp.MustCompile("`(\\w+)\\.((?:Test|Fuzz)\\w+)`")
	numbered := regexp.MustCompile(`^\| (\d+) \|`)
	for _, doc := range []string{"durability.md", "testing.md"} {
		b, err := os.ReadFile(filepath.Join("docs", doc))
		if err != nil {
			t.Fatal(err)
		}
		word := ""
		rows := map[string][]int{}
		for line := range strings.SplitSeq(string(b), "\n") {
			if strings.HasPrefix(line, "#") {
				word = map[string]string{"### The rules": "rule", "### The invariants": "invariant"}[line]
			}
			tests := named.FindAllStringSubmatch(line, -1)
			for _, m := range tests {
				if texts[m[1]] == nil || texts[m[1]][m[2]] == "" {
					t.Errorf("%s: there is no test %s.%s", doc, m[1], m[2])
				}
			}
			row := numbered.FindStringSubmatch(line)
			if row == nil || word == "" {
				continue
			}
			n, err := strconv.Atoi(row[1])
			if err != nil {
				t.Fatal(err)
			}
			rows[word] = append(rows[word], n)
			if len(tests) == 0 {
				if !strings.Contains(line, "no test") {
					t.Errorf("%s: %s %d names no test, and does not say so", doc, word, n)
				}
				continue
			}
			if !slices.ContainsFunc(tests, func(m []string) bool {
				if word == "invariant" {
					return carries(texts[m[1]][""], word, n)
				}
				return carries(texts[m[1]][m[2]], word, n)
			}) {
				t.Errorf("%s: none of the tests of %s %d carries its number", doc, word, n)
			}
		}
		for word, want := range map[string]int{"rule": 26, "invariant": 13} {
			if doc == "testing.md" && len(rows[word]) != want {
				t.Errorf("%s: %ss %v, want 1 to %d", doc, word, rows[word], want)
			}
		}
	}
}

// TestDocumentedCounts: the table in docs/durability.md of what damage leaves unseen is the sum
// of what TestDamage of package journal compares with.
func TestDocumentedCounts(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("journal", "damage_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(filepath.Join("docs", "durability.md"))
	if err != nil {
		t.Fatal(err)
	}
	tables := regexp.MustCompile(`(?m)^\t"([a-z ]+)": \{\n((?:\t\t\{Refused.*\n)+)`).FindAllStringSubmatch(strings.ReplaceAll(string(source), "\r\n", "\n"), -1)
	labels := map[string]string{
		"cut": "cut at every byte", "bit": "every bit changed", "byte": "every byte set to NUL, newline, space, brace, 0xff",
		"sector": "every sector lost, overwritten, exchanged", "line": "every line dropped, doubled, moved, edited",
		"foreign line": "lines of another run", "random": "random damage",
	}
	if len(tables) != len(labels) {
		t.Fatalf("%d kinds of damage, want %d", len(tables), len(labels))
	}
	for _, m := range tables {
		var sums [5]int // copies, refused, intact, torn, unseen
		for i, n := range regexp.MustCompile(`: (\d+)`).FindAllStringSubmatch(m[2], -1) {
			k, err := strconv.Atoi(n[1])
			if err != nil {
				t.Fatal(err)
			}
			sums[0] += k
			sums[1+i%4] += k
		}
		var row strings.Builder
		row.WriteString("| " + labels[m[1]] + " |")
		for _, n := range sums {
			row.WriteString(" " + thousands(n) + " |")
		}
		if !strings.Contains(string(doc), row.String()+"\n") {
			t.Errorf("docs/durability.md lacks the row\n%s", row.String())
		}
	}
}

// thousands writes a number with a comma behind each three digits.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
