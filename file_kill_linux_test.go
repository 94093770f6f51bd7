package pawl_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
)

// Invariants 1 and 2, C-44: killed at every system call of a save, for real.
func TestC44KilledAtEveryCall(t *testing.T) {
	need(t, "strace", "-f", "-o", "/dev/null", "true")
	points := map[string]int{"pwrite64": 4, "fdatasync": 3, "renameat": 3, "fsync": 3, "linkat": 2, "close": 0}
	if testing.Short() {
		points = map[string]int{"renameat": 2, "fsync": 1}
	} else {
		points["close"] = 12 // from the first to those behind the second save
	}
	kills := 0
	for call, n := range points {
		for when := 1; when <= n; when++ {
			path := filepath.Join(t.TempDir(), "run.json")
			env := map[string]string{"F_PATH": path, "F_TO": "3", "F_KEEP": "2"}
			lines := runFile(t, env, "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace="+call, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, when))
			acked := lastAck(lines)
			if acked < 3 {
				kills++
			}
			checkKilled(t, fmt.Sprintf("%s %d", call, when), path, acked)
		}
	}
	t.Logf("%d kills", kills)
	if kills < len(points) {
		t.Error("hardly any kill hit")
	}
}

// Invariant 12, C-43: killed at the rename of its first save fifty times, it leaves one temporary
// file, not fifty.
func TestC43KilledAtRename(t *testing.T) {
	need(t, "strace", "-f", "-o", "/dev/null", "true")
	path := filepath.Join(t.TempDir(), "run.json")
	runFile(t, map[string]string{"F_PATH": path, "F_TO": "1"})
	starts := 50
	if testing.Short() {
		starts = 5
	}
	for range starts {
		lines := runFile(t, map[string]string{"F_PATH": path, "F_TO": "9"}, "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat", "-e", "inject=renameat:signal=KILL:when=1:retval=-1")
		if len(lines) == 0 || lines[0] != "at 1" || len(lines) > 1 {
			t.Fatalf("got %q", lines)
		}
		if names := strings.Join(ckNames(t, filepath.Dir(path)), " "); names != "run.json run.json.pawl-new" {
			t.Fatalf("invariant 12: there is %s", names)
		}
	}
}

// checkKilled opens what a killed program left.
func checkKilled(t *testing.T, what, path string, acked int) {
	t.Helper()
	if n := len(ckNames(t, filepath.Dir(path))); n > 4 {
		t.Errorf("%s: %d files: %q", what, n, ckNames(t, filepath.Dir(path)))
	}
	ck, err := pawl.OpenFile[padded](path)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	defer ck.Close()
	if got := ck.State().Cursor; got != acked && got != acked+1 {
		t.Errorf("invariant 1: %s: acknowledged %d, found %d", what, acked, got)
	}
	for _, name := range ckNames(t, filepath.Dir(path)) {
		if strings.Contains(name, ".pawl-") {
			t.Errorf("invariant 12: %s: still there after a start: %s", what, name)
		}
	}
}

// C-43, C-44: killed at random moments, again and again, while it goes on.
func TestC43KilledAtRandom(t *testing.T) {
	seed := testSeed(t)
	rnd := rand.New(rand.NewPCG(seed, 44))
	path := filepath.Join(t.TempDir(), "run.json")
	exe, err := os.Executable()
	ckNil(t, err)
	acked, kills := 0, 0
	for kills < 15 {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "PAWL_TEST_CHILD=file", "F_PATH="+path, "F_TO=1000000", "F_PAD=20000")
		var out bytes.Buffer
		cmd.Stdout = &out
		ckNil(t, cmd.Start())
		// Its start takes most of this time.
		timer := time.AfterFunc(time.Duration(20+rnd.IntN(120))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		timer.Stop()
		kills++
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if at, ok := strings.CutPrefix(lines[0], "at "); ok {
			if n, _ := strconv.Atoi(at); n != acked && n != acked+1 {
				t.Errorf("kill %d: acknowledged %d, found %s", kills, acked, at)
			} else {
				acked = n
			}
		} else if lines[0] != "" {
			t.Fatalf("kill %d: %q", kills, lines)
		}
		acked = max(acked, lastAck(lines))
		if n := len(ckNames(t, filepath.Dir(path))); n > 2 {
			t.Errorf("kill %d: %q", kills, ckNames(t, filepath.Dir(path)))
		}
	}
	t.Logf("%d kills, %d saves", kills, acked)
	checkKilled(t, "at the end", path, acked)
}

// Rules 2, 3, 6 and 20, C-34, C-37, C-39, C-40: real system calls that fail.
func TestC39InjectedErrors(t *testing.T) {
	need(t, "strace", "-f", "-o", "/dev/null", "true")
	for _, tt := range []struct {
		name, inject string
		want         []string // beginnings of the lines, in order
		parts        string   // in the line that begins with "save:"
		found        int
	}{
		{"C39 fsync of the file", "fdatasync:error=EIO:when=2", []string{"at 0", "ack 1", "save: 2", "ack 3"}, "input/output error; what was last saved is intact", 3},
		{"C37 quota", "pwrite64:error=EDQUOT:when=3", []string{"at 0", "ack 1", "save: 2", "ack 3"}, "disk quota exceeded", 3},
		{"C36 full disk", "pwrite64:error=ENOSPC:when=2+", []string{"at 0", "save: 1", "save: 2", "save: 3"}, "no space left on device", 0},
		{"C34 other file system", "renameat:error=EXDEV:when=2", []string{"at 0", "ack 1", "save: 2", "ack 3"}, "invalid cross-device link", 3},
		{"C40 no directory sync", "fsync:error=EINVAL", []string{"at 0", "ack 1", "ack 2", "ack 3", "warning: the file system cannot sync a directory"}, "", 3},
		{"C40 not supported", "fsync:error=EOPNOTSUPP", []string{"at 0", "ack 1", "ack 2", "ack 3", "warning: the file system cannot sync a directory"}, "", 3},
		{"C40 failing directory sync", "fsync:error=EIO:when=SECOND", []string{"at 0", "ack 1", "save: 2", "save: 3"}, "it is not known whether it is durable", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.json")
			env := map[string]string{"F_PATH": path, "F_TO": "3", "F_GOON": "1"}
			call, _, _ := strings.Cut(tt.inject, ":")
			second := 2 // of the saves' directory syncs, behind those of all directories above at the start
			for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
				second++
			}
			tt.inject = strings.Replace(tt.inject, "SECOND", strconv.Itoa(second), 1)
			lines := runFile(t, env, "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace="+call, "-e", "inject="+tt.inject)
			if len(lines) != len(tt.want) {
				t.Fatalf("got %q, want %q", lines, tt.want)
			}
			for i, want := range tt.want {
				if !strings.HasPrefix(lines[i], want) || strings.HasPrefix(want, "save:") && i == 2 && !strings.Contains(lines[i], tt.parts) {
					t.Errorf("line %q, want %q with %q", lines[i], want, tt.parts)
				}
			}
			if got := ckOpen[padded](t, path).State().Cursor; got != tt.found {
				t.Errorf("found %d, want %d", got, tt.found)
			}
			if names := ckNames(t, filepath.Dir(path)); len(names) > 1 {
				t.Errorf("left over: %q", names)
			}
		})
	}
}
