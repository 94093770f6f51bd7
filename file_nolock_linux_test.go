package pawl_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// C-42, with real system calls: where the file system gives no locks the work does not begin,
// and the message names the file and what to do; a stale handle is opened again once.
func TestC42NoLocks(t *testing.T) {
	need(t, "strace", "-f", "-o", "/dev/null", "true")
	for _, tt := range []struct {
		name, inject string
		lines        []string // parts of the lines
	}{
		{"no locks", "flock:error=ENOLCK", []string{"no locks available: its file system gives no locks"}},
		{"not supported", "flock:error=EOPNOTSUPP", []string{"its file system gives no locks"}},
		{"stale once", "flock:error=ESTALE:when=1", []string{"at 2", "ack 3"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.json")
			runFile(t, map[string]string{"F_PATH": path, "F_TO": "2"})
			before := ckRead(t, path)
			lines := runFile(t, map[string]string{"F_PATH": path, "F_TO": "3"}, "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=flock", "-e", "inject="+tt.inject)
			if len(lines) != len(tt.lines) {
				t.Fatalf("got %q", lines)
			}
			for i, part := range tt.lines {
				if !strings.Contains(lines[i], part) {
					t.Errorf("line %q lacks %q", lines[i], part)
				}
			}
			if len(lines) > 1 {
				return
			}
			for _, part := range []string{path + ".lock", "use a local disk", "nothing was started"} {
				if !strings.Contains(lines[0], part) {
					t.Errorf("the message %q lacks %q", lines[0], part)
				}
			}
			if ckRead(t, path) != before {
				t.Error("the file changed")
			}
		})
	}
}
