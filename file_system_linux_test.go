package pawl_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pawlgo/pawl"
)

// C-33: what is no regular file stays what it is.
func TestC33OtherNodes(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	ckNil(t, unix.Mkfifo(fifo, 0o600))
	nodes := map[string]string{fifo: "a FIFO"}
	device := filepath.Join(dir, "device")
	if err := unix.Mknod(device, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))); err == nil {
		nodes[device] = "a device"
	} else {
		t.Log("SKIPPED for devices: ", err)
	}
	for path, what := range nodes {
		before, err := os.Lstat(path)
		ckNil(t, err)
		_, err = pawl.OpenFile[int](path)
		ckWant(t, err, pawl.ErrInvalid, "not a regular file but "+what, "nothing was changed")
		after, err := os.Lstat(path)
		if err != nil || after.Mode() != before.Mode() {
			t.Errorf("%s became %v, %v", path, after.Mode(), err)
		}
		if _, err := os.Lstat(path + ".lock"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("there is a lock file beside %s", path)
		}
	}
}

// inMount runs fileProgram in a mount namespace of its own, behind a shell script.
func inMount(t *testing.T, env map[string]string, script string) []string {
	t.Helper()
	need(t, "unshare", "-m", "true")
	return runFile(t, env, "unshare", "-m", "sh", "-ec", script+"\nexec \"$0\"")
}

// Rule 21, C-35: a file that is mounted by itself.
func TestC35MountedFile(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	host, path := filepath.Join(dir, "host.json"), filepath.Join(dir, "d", "run.json")
	ckNil(t, os.Mkdir(filepath.Dir(path), 0o700))
	mount := fmt.Sprintf("mount --bind %s %s", host, path)
	env := map[string]string{"F_PATH": path, "F_TO": "1"}

	inProgress := `{"state": {"cursor": 5, "pad": ""}, "status": "in_progress", "saved_at": 1.5}`
	ckWrite(t, host, inProgress)
	ckWrite(t, path, "")
	lines := inMount(t, env, mount)
	if len(lines) != 1 || !strings.Contains(lines[0], "invalid: the file is mounted by itself and cannot be replaced; nothing was changed; mount the directory, not the file") {
		t.Errorf("in progress: %q", lines)
	}
	if ckRead(t, host) != inProgress {
		t.Error("the host's file changed")
	}
	ckWrite(t, host, `{"state": null, "status": "complete", "result": "r", "completed_at": 1.5}`)
	if lines := inMount(t, env, mount); len(lines) != 1 || lines[0] != "result: r <nil>" {
		t.Errorf("complete: %q", lines)
	}
}

// Rules 2 and 20, C-36: a full disk, and room again.
func TestC36FullDisk(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	env := map[string]string{"F_PATH": filepath.Join(dir, "run.json"), "F_TO": "4", "F_GOON": "1"}
	// The program starts in the small file system when its state fits, goes on
	// when it does not, and a third time when there is room again.
	script := fmt.Sprintf(`mount -t tmpfs -o size=64k none %s
		F_TO=1 F_PAD=10 "$0"
		F_TO=2 F_PAD=1000000 "$0"
		ls -A %s
		mount -o remount,size=8m %s
		F_TO=3 F_PAD=1000000 "$0"`, dir, dir, dir)
	lines := inMount(t, env, script)
	want := []string{"at 0", "ack 1", "at 1", "save: 2 ", "run.json", "run.json.lock", "at 1", "ack 2", "ack 3", "at 3", "ack 4"}
	if len(lines) != len(want) {
		t.Fatalf("got %.300q, want %q", lines, want)
	}
	for i := range want {
		if !strings.HasPrefix(lines[i], want[i]) {
			t.Errorf("line %q, want %q", lines[i], want[i])
		}
	}
	if !strings.Contains(lines[3], "no space left on device; what was last saved is intact") {
		t.Errorf("the message is %q", lines[3])
	}
}

// Rule 20, C-38: where nothing can be written the work does not begin; a result is read.
func TestC38ReadOnly(t *testing.T) {
	check := func(t *testing.T, reason string, withLock bool, run func(env map[string]string, dir string) []string) {
		for name, tt := range map[string]struct{ text, want string }{
			"absent":      {"", reason},
			"in progress": {`{"state": {"cursor": 5, "pad": ""}, "status": "in_progress", "saved_at": 1.5}`, reason + "; no state could be saved there, so nothing was started and nothing was changed"},
			"complete":    {`{"state": null, "status": "complete", "result": "r", "completed_at": 1.5}`, "result: r <nil>"},
		} {
			t.Run(name, func(t *testing.T) {
				dir := t.TempDir()
				ckNil(t, os.Chmod(filepath.Dir(dir), 0o755))
				path := filepath.Join(dir, "run.json")
				if tt.text != "" {
					ckWrite(t, path, tt.text)
					ckNil(t, os.Chmod(path, 0o666))
				}
				if withLock {
					ckWrite(t, path+".lock", "")
					ckNil(t, os.Chmod(path+".lock", 0o666))
				}
				for range 2 {
					lines := run(map[string]string{"F_PATH": path, "F_TO": "9"}, dir)
					if len(lines) != 1 || !strings.Contains(lines[0], tt.want) {
						t.Errorf("got %q, want %q", lines, tt.want)
					}
				}
				if tt.text != "" && ckRead(t, path) != tt.text {
					t.Error("the file changed")
				}
				if names := ckNames(t, dir); len(names) > 1 {
					t.Errorf("there is %q", names)
				}
			})
		}
	}
	noWriting := func(env map[string]string, dir string) []string {
		ckNil(t, os.Chmod(dir, 0o555))
		if os.Geteuid() == 0 {
			env["F_UID"] = "65534"
		}
		return runFile(t, env)
	}
	t.Run("directory without write permission", func(t *testing.T) {
		check(t, "permission denied", false, noWriting)
	})
	t.Run("and with a lock file", func(t *testing.T) { check(t, "permission denied", true, noWriting) })
	t.Run("read-only mount", func(t *testing.T) {
		needRoot(t)
		check(t, "read-only file system", false, func(env map[string]string, dir string) []string {
			return inMount(t, env, fmt.Sprintf("mount --bind %s %s; mount -o remount,bind,ro %s", dir, dir, dir))
		})
	})
}

// C-07: a file that may not be read is no fresh start.
func TestC07Unreadable(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run.json")
	ckWrite(t, path, "{}")
	ckNil(t, os.Chmod(path, 0))
	env := map[string]string{"F_PATH": path, "F_TO": "1"}
	if os.Geteuid() == 0 {
		ckNil(t, os.Chmod(filepath.Dir(dir), 0o755))
		ckNil(t, os.Chmod(dir, 0o777))
		env["F_UID"] = "65534"
	}
	lines := runFile(t, env)
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "open: ") || !strings.Contains(lines[0], "permission denied") {
		t.Errorf("got %q", lines)
	}
	ckNil(t, os.Chmod(path, 0o600))
	if ckRead(t, path) != "{}" {
		t.Error("the file changed")
	}
}

// C-32: owner, group and mode stay, and whose file it is can go on after root.
func TestC32Owner(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	ckNil(t, os.Chmod(filepath.Dir(dir), 0o755))
	ckNil(t, os.Chmod(dir, 0o777))
	path := filepath.Join(dir, "run.json")
	user := map[string]string{"F_PATH": path, "F_TO": "1", "F_UID": "1000"}
	if lines := runFile(t, user); lastAck(lines) != 1 {
		t.Fatalf("the user: %q", lines)
	}
	ckNil(t, os.Chmod(path, 0o640))
	ckNil(t, os.Remove(path+".lock")) // so that root makes it anew
	if lines := runFile(t, map[string]string{"F_PATH": path, "F_TO": "2", "F_KEEP": "2"}); lastAck(lines) != 2 {
		t.Fatalf("root: %q", lines)
	}
	fi, err := os.Stat(path)
	ckNil(t, err)
	if st := fi.Sys().(*syscall.Stat_t); st.Uid != 1000 || st.Gid != 1000 || fi.Mode().Perm() != 0o640 {
		t.Errorf("after root it belongs to %d:%d with %v", st.Uid, st.Gid, fi.Mode())
	}
	user["F_TO"] = "3"
	if lines := runFile(t, user); lastAck(lines) != 3 {
		t.Errorf("the user after root: %q", lines)
	}
	// Somebody else, who may write the directory but not give files away: the
	// save works, and their group gets no more than everybody.
	ckNil(t, os.Remove(path+".lock"))
	ckNil(t, os.Chmod(path, 0o664))
	lines := runFile(t, map[string]string{"F_PATH": path, "F_TO": "4", "F_UID": "2000"})
	if lastAck(lines) != 4 || !strings.Contains(strings.Join(lines, "\n"), "warning: the file's owner could not be kept") {
		t.Errorf("somebody else: %q", lines)
	}
	if fi, err = os.Stat(path); err != nil || fi.Mode().Perm() != 0o644 {
		t.Errorf("after somebody else it has %v, %v", fi.Mode(), err)
	}
}
