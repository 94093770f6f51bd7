package report

import (
	"bytes"
	"context"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/yuin/goldmark"

	"github.com/pawlgo/pawl/examples/research/internal/analysis"
	"github.com/pawlgo/pawl/examples/research/internal/docs"
)

var update = flag.Bool("update", false, "write the golden files anew")

// corpus analyses the shipped documents whose names begin with prefix.
func corpus(t *testing.T, prefix string) Input {
	t.Helper()
	fsys := os.DirFS("../../corpus/sqlite")
	l, err := docs.List(fsys)
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Folder: "the shipped corpus", Method: analysis.Offline{}.Name()}
	for _, ref := range l.Docs {
		if !strings.HasPrefix(ref.Path, prefix) {
			continue
		}
		text, err := docs.Read(fsys, ref)
		if err != nil {
			t.Fatal(err)
		}
		a, err := analysis.Offline{}.Analyze(context.Background(), text)
		if err != nil {
			t.Fatal(err)
		}
		in.Items = append(in.Items, Item{ref, a})
	}
	return in
}

// TestGolden holds the report over the whole shipped corpus to a recorded one,
// which doubles as the example that the README links to.
func TestGolden(t *testing.T) {
	const golden = "testdata/corpus.golden.md"
	in := corpus(t, "")
	if len(in.Items) < 60 {
		t.Fatalf("the corpus holds %d documents, not 60 or more", len(in.Items))
	}
	got := Markdown(in)
	if again := Markdown(corpus(t, "")); again != got {
		t.Fatal("two reports over the same documents differ")
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the report is not the recorded one; go test -update writes it anew, git diff shows what changed")
	}
}

func TestSmall(t *testing.T) {
	in := Input{Folder: "x", Method: "m"}
	if got := Markdown(in); !strings.Contains(got, "0 documents, 0 content words") {
		t.Errorf("empty: %s", got)
	}
	in.Items = []Item{{
		Ref: docs.Ref{Path: "a`b.txt", SHA256: "00"},
		Analysis: analysis.Analysis{
			Title: "T", Summary: "It says *so*.", Words: 1234567, Cut: true,
			Counts: map[string]int{"log": 2}, Sentences: []analysis.Sentence{{N: 9, Text: "Second."}, {N: 2, Text: "First."}},
		},
	}}
	in.Skipped = []docs.Skip{{Path: "s.txt", Reason: "too large"}}
	got := Markdown(in)
	for _, want := range []string{
		"1 document, 1,234,567 content words", "### [1] T", "Source: `` a`b.txt ``", "Terms: log.", "Only its beginning",
		`not a quotation: It says \*so\*.`, "- First. (sentence 2)\n- Second. (sentence 9)", "- [1] T: ", "- `s.txt`: too large",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "## Themes") {
		t.Error("a single document has themes")
	}
	in.Items = []Item{in.Items[0], {Ref: docs.Ref{Path: "b"}, Analysis: analysis.Analysis{Title: "B", Counts: map[string]int{"log": 1}}}}
	if got := Markdown(in); !strings.Contains(got, "No term that only some") || !strings.Contains(got, "No sentences were found") {
		t.Errorf("two documents alike: %s", got)
	}
}

// TestEscape renders hostile text with a Markdown implementation: it must come
// out as the text it is.
func TestEscape(t *testing.T) {
	for _, s := range []string{
		"<script>alert(1)</script>", "![x](http://example.org/p.png)", "[x](javascript:y)", "# no heading", "- no list", "+ none", "= x",
		"1. no list", "12) none", "*a* _b_ `c` ~~d~~ | e", "&lt; &amp;", `back\slash`, "> no quotation", "plain", "", "1",
	} {
		var out bytes.Buffer
		if err := goldmark.Convert([]byte("- "+escape(s)), &out); err != nil {
			t.Fatal(err)
		}
		plain := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&amp;", "&").Replace(out.String())
		if want := "<ul>\n<li>" + s + "</li>\n</ul>\n"; plain != want {
			t.Errorf("%q became %q", s, plain)
		}
	}
}

func TestCode(t *testing.T) {
	for s, want := range map[string]string{"a": "`a`", "a`b": "`` a`b ``", "``": "``` `` ```"} {
		if got := code(s); got != want {
			t.Errorf("code(%q) = %q, want %q", s, got, want)
		}
	}
}
