package suite

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl/tools/internal/tree"
)

const testFile = `package m

import (
	"testing"
	"time"
)

func TestGood(t *testing.T)  {}
func TestSkip(t *testing.T)  { t.Skip("the moon is full") }
func TestBad(t *testing.T)   { t.Error("it broke") }
func TestHangs(t *testing.T) { time.Sleep(time.Hour) }
`

// module writes a module whose tests do what their names say.
func module(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module m\n\ngo 1.26\n", "m_test.go": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRun(t *testing.T) {
	root := module(t, testFile)
	for _, c := range []struct {
		match  string
		budget time.Duration
		err    string // what the result's error says
		shows  string // what is printed
		counts [3]int // passed, failed, skipped
	}{
		{"Good|Skip", time.Minute, "", "ok  \tm\t", [3]int{1, 0, 1}},
		{"Good|Bad", time.Minute, "1 failed", "it broke", [3]int{1, 1, 0}},
		{"Good|Hangs", time.Second, "1 failed", "panic: test timed out", [3]int{1, 1, 0}},
		{"Good", time.Nanosecond, "failed", "", [3]int{}},
	} {
		var out strings.Builder
		m := tree.Module{Path: "m", Dir: ".", Budget: c.budget}
		r := Run(t.Context(), root, m, Options{Match: c.match, Out: &out})
		got := ""
		if r.Err != nil {
			got = r.Err.Error()
		}
		if !strings.Contains(got, c.err) || (c.err == "") != (r.Err == nil) {
			t.Errorf("%s: error %q, want %q; shown:\n%s", c.match, got, c.err, &out)
		}
		if !strings.Contains(out.String(), c.shows) {
			t.Errorf("%s: %q is not shown:\n%s", c.match, c.shows, &out)
		}
		if n := [3]int{r.Report.Passed, r.Report.Failed, r.Report.Skipped}; c.budget > time.Nanosecond && n != c.counts {
			t.Errorf("%s: counts %v, want %v", c.match, n, c.counts)
		}
	}
}

func TestRunBroken(t *testing.T) {
	root := module(t, "package m\n\nfunc f() { undefined() }\n")
	var out strings.Builder
	r := Run(t.Context(), root, tree.Module{Path: "m", Dir: ".", Budget: time.Minute}, Options{Out: &out})
	if r.Err == nil || !strings.Contains(r.Err.Error(), "build failed") || !strings.Contains(out.String(), "undefined") {
		t.Errorf("error %v, shown:\n%s", r.Err, &out)
	}
}

func TestRunInterrupted(t *testing.T) {
	root := module(t, testFile)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	r := Run(ctx, root, tree.Module{Path: "m", Dir: ".", Budget: time.Minute}, Options{Out: &out})
	if r.Err == nil {
		t.Error("a suite that was interrupted passed")
	}
}
