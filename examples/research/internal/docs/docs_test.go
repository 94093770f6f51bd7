package docs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// read runs one file through List and Read.
func read(t *testing.T, name, content string) Text {
	t.Helper()
	fsys := fstest.MapFS{name: {Data: []byte(content)}}
	l, err := List(fsys)
	if err != nil || len(l.Docs) != 1 {
		t.Fatalf("List(%s) = %+v, %v; want one document", name, l, err)
	}
	text, err := Read(fsys, l.Docs[0])
	if err != nil {
		t.Fatalf("Read(%s): %v", name, err)
	}
	return text
}

func TestFormats(t *testing.T) {
	want := []string{"The log is written before the page is.", "A crash leaves the log behind (mostly)."}
	for _, tc := range []struct{ name, content, title string }{
		{"a.txt", "Write-ahead logs\r\n\r\nThe log is written\r\nbefore the page is. A crash leaves\nthe log behind (mostly).\n", "Write-ahead logs"},
		{"dir/b.MD", "---\ntitle: no\n---\n# Write-ahead *logs*\n\nThe log is [written](x) before the `page` is. A crash leaves\nthe log <b>behind</b> (mostly).\n\n    code is not a sentence here.\n", "Write-ahead logs"},
		{"c.html", `<!DOCTYPE html><html><head><title>Write-ahead logs</title><style>p { this is no sentence at all. }</style></head>
			<body><nav><p>Here is a way to all other pages.</p></nav><ul><li>Home<li>About</ul>
			<h1>Another heading that is no sentence</h1><p>The <a href=x>log</a> is writ<b>ten</b> before the&nbsp;page is.
			<p>A crash leaves the log behind (mostly).</p><script>var this = "is no sentence either.";</script>
			<p hidden>Nobody is ever meant to see this.</p><pre>and this is program text too.</pre></body></html>`, "Write-ahead logs"},
		{"d.htm", "<h1>Write-ahead <i>logs</i></h1><p>The log is written before the page is.<table><tr><td>A crash leaves the log behind (mostly).<td>cell</table>", "Write-ahead logs"},
	} {
		got := read(t, tc.name, tc.content)
		if got.Title != tc.title || !slices.Equal(got.Sentences, want) {
			t.Errorf("%s: title %q, sentences %q", tc.name, got.Title, got.Sentences)
		}
	}
	if got := read(t, "e.html", "<p>x"); got.Title != "e.html" || len(got.Sentences) != 0 {
		t.Errorf("a page without title and sentences: %+v", got)
	}
}

func TestEncodings(t *testing.T) {
	for name, content := range map[string]string{
		"declared.html": "<meta charset=iso-8859-1><p>The caf\xe9 is open on every day.",
		"utf8.html":     "<p>" + strings.Repeat(" ", 2000) + "The café is open on every day.",
		"bom.txt":       "\xef\xbb\xbfThe café is open on every day.",
	} {
		if got := read(t, name, content); !slices.Equal(got.Sentences, []string{"The café is open on every day."}) {
			t.Errorf("%s: %q", name, got.Sentences)
		}
	}
	if got := read(t, "bad.txt", "The caf\xe9 is\x1b[31m open on every day."); !slices.Equal(got.Sentences, []string{"The caf� is[31m open on every day."}) {
		t.Errorf("invalid bytes and control characters: %q", got.Sentences)
	}
	if got := read(t, "cjk.txt", "日志在页面之前写入。崩溃后日志仍然存在。"); len(got.Sentences) != 2 {
		t.Errorf("text without spaces: %q", got.Sentences)
	}
}

func TestBounds(t *testing.T) {
	var b strings.Builder
	for i := range MaxSentences + 10 {
		fmt.Fprintf(&b, "This is sentence number %d of very many.\n\n", i)
	}
	if got := read(t, "long.txt", b.String()); len(got.Sentences) != MaxSentences || !got.Cut {
		t.Errorf("%d sentences, cut %v", len(got.Sentences), got.Cut)
	}
	got := read(t, "s.txt", strings.Repeat("no full stop ", 100)+"at all.\n\nShort one.\n\nThis one comes twice here.\n\nThis one comes twice here.\n")
	if !slices.Equal(got.Sentences, []string{"This one comes twice here."}) || got.Cut {
		t.Errorf("overlong, short and repeated sentences: %q", got.Sentences)
	}
	// html.Parse refuses to nest without end; what matters is that we come back.
	fsys := fstest.MapFS{"deep.html": {Data: []byte(strings.Repeat("<div>", 100_000) + "The bottom of it is here.")}}
	l, _ := List(fsys)
	if _, err := Read(fsys, l.Docs[0]); err != nil && !strings.Contains(err.Error(), "deep.html") {
		t.Errorf("an absurdly deep page: %v", err)
	}
}

func TestList(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write := func(name, content string) {
		t.Helper()
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("b.txt", "b")
	write("a/z.md", "z")
	write("a.html", "a")
	write("pic.png", "x")
	write(".git/c.txt", "c")
	write(".hidden.txt", "c")
	write("nul.txt", "a\x00b")
	write("big.txt", strings.Repeat("x", MaxFileBytes+1))
	secret := filepath.Join(outside, "secret.txt")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link.txt": secret, "linkdir": outside, "inside.txt": "b.txt"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	l, err := List(root.FS())
	if err != nil {
		t.Fatal(err)
	}
	var paths, skipped []string
	for _, d := range l.Docs {
		paths = append(paths, d.Path)
	}
	for _, s := range l.Skipped {
		skipped = append(skipped, s.Path)
	}
	if !slices.Equal(paths, []string{"a/z.md", "a.html", "b.txt"}) ||
		!slices.Equal(skipped, []string{"big.txt", "inside.txt", "link.txt", "linkdir", "nul.txt"}) || l.Other != 1 {
		t.Errorf("documents %q, skipped %q, other %d", paths, skipped, l.Other)
	}

	// A link put in a listed document's place must not be followed either.
	if err := os.Remove(filepath.Join(dir, "b.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(dir, "b.txt")); err != nil {
		t.Fatal(err)
	}
	if text, err := Read(root.FS(), l.Docs[2]); err == nil {
		t.Errorf("read %q through a link out of the folder", text.Words)
	}
	// Other content is not passed off as the version that was listed.
	write("a.html", "changed")
	if _, err := Read(root.FS(), l.Docs[1]); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "a.html") {
		t.Errorf("changed document: %v", err)
	}
	if _, err := List(os.DirFS(filepath.Join(dir, "absent"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent folder: %v", err)
	}
	if id := (Ref{"a.html", digest(nil)}).ID(); id != "a.html@e3b0c44298fc" {
		t.Errorf("ID = %q", id)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("x.html", []byte("<p>One <b>two</b> three four five.<script>"))
	f.Add("x.md", []byte("# a\n\n* b\n\n<div>\n"))
	f.Add("x.txt", []byte("a\xff\nb\r\n\r\nc"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		fsys := fstest.MapFS{"x" + ext(name): {Data: data}}
		l, err := List(fsys)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range l.Docs {
			text, err := Read(fsys, d)
			if err == nil && text.Title == "" {
				t.Error("no title")
			}
		}
	})
}
