package pawl_test

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"sort"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// maxExports is the budget of top-level exports of the root package.
const maxExports = 70

// TestExports compares the exports with testdata/api.txt, so that none appears or
// goes without being seen in a review. Run with -update to change the list.
func TestExports(t *testing.T) {
	got, top := exports(t)
	if top > maxExports {
		t.Errorf("%d top-level exports, the budget is %d", top, maxExports)
	}
	const golden = "testdata/api.txt"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the exports changed; if that is meant, run: go test -run TestExports -update .\n--- have\n%s", got)
	}
	t.Logf("%d of %d top-level exports", top, maxExports)
}

func exports(t *testing.T) (list string, top int) {
	fset := token.NewFileSet()
	names, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	add := func(s, doc string) {
		out = append(out, s)
		if strings.TrimSpace(doc) == "" {
			t.Errorf("%s has no documentation", s)
		}
	}
	for _, e := range names {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, e.Name(), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if !d.Name.IsExported() {
					continue
				}
				if d.Recv == nil {
					add("func "+d.Name.Name, d.Doc.Text())
					top++
					continue
				}
				if recv := receiver(d.Recv.List[0].Type); ast.IsExported(recv) {
					add("method "+recv+"."+d.Name.Name, d.Doc.Text())
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						if s.Name.IsExported() {
							add("type "+s.Name.Name, d.Doc.Text()+s.Doc.Text())
							top++
						}
					case *ast.ValueSpec:
						for _, name := range s.Names {
							if name.IsExported() {
								add(d.Tok.String()+" "+name.Name, d.Doc.Text()+s.Doc.Text()+s.Comment.Text())
								top++
							}
						}
					}
				}
			}
		}
	}
	sort.Strings(out)
	return strings.Join(out, "\n") + "\n", top
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// TestDependencies guards the promise that an importer of the root module gets two
// modules and nothing else.
func TestDependencies(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]bool{"github.com/go-json-experiment/json": true, "golang.org/x/sys": true}
	for line := range strings.SplitSeq(string(mod), "\n") {
		f := strings.Fields(line)
		if len(f) >= 2 && strings.HasPrefix(f[1], "v") && !allowed[f[0]] {
			t.Errorf("go.mod requires %s", f[0])
		}
		if len(f) > 0 && (f[0] == "replace" || f[0] == "exclude" || f[0] == "toolchain") {
			t.Errorf("go.mod has a %s line", f[0])
		}
	}
}

// TestRootFilesStayRooms keeps files readable in one sitting.
func TestRootFilesStayRooms(t *testing.T) {
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if n := strings.Count(string(text), "\n"); n > 400 {
			t.Errorf("%s has %d lines: two ideas in one room?", path, n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
