package pawl_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawlgo/pawl"
)

func init() { children["file"] = fileProgram }

// padded is a state of any size.
type padded struct {
	Cursor int    `json:"cursor"`
	Pad    string `json:"pad,omitempty"`
}

// fileProgram opens a checkpoint, saves until F_TO and prints what happens, a line
// each, so that tests can kill it, let its system calls fail, or run it where little
// is allowed. Environment: F_PATH, F_TO, F_PAD (bytes of state), F_KEEP (versions),
// F_COMPLETE (the result), F_UID (who to be), F_GOON (do not stop at an error).
func fileProgram() error {
	// strace counts calls per thread.
	runtime.LockOSThread()
	num := func(name string) int {
		n, _ := strconv.Atoi(os.Getenv(name))
		return n
	}
	if uid := num("F_UID"); uid > 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(uid), syscall.Setuid(uid)); err != nil {
			return err
		}
	}
	var opts []pawl.FileOption
	if n := num("F_KEEP"); n > 0 {
		opts = append(opts, pawl.KeepVersions(n))
	}
	ck, err := pawl.OpenFile[padded](os.Getenv("F_PATH"), opts...)
	if err != nil {
		fmt.Println("open:", err)
		return nil
	}
	var result string
	if done, err := ck.Result(&result); done || err != nil {
		fmt.Println("result:", result, err)
		return err
	}
	fmt.Println("at", ck.State().Cursor)
	for i := ck.State().Cursor + 1; i <= num("F_TO"); i++ {
		err := ck.Save(padded{i, strings.Repeat("x", num("F_PAD"))})
		if err != nil {
			fmt.Println("save:", i, err)
			if os.Getenv("F_GOON") == "" {
				return nil
			}
			continue
		}
		fmt.Println("ack", i)
	}
	if r := os.Getenv("F_COMPLETE"); r != "" {
		fmt.Println("complete:", ck.Complete(r))
	}
	for _, w := range ck.Warnings() {
		fmt.Println("warning:", w)
	}
	return ck.Close()
}

// runFile runs fileProgram, under a command if there is one, and returns its lines.
func runFile(t *testing.T, env map[string]string, under ...string) []string {
	t.Helper()
	exe, err := os.Executable()
	ckNil(t, err)
	args := append(under, exe)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "PAWL_TEST_CHILD=file")
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() == 1 || exit.ExitCode() == 2) {
		t.Fatalf("%v: %v\n%s%s", args, err, out.String(), stderr.String())
	}
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}

// need skips a test whose tool is not there, or not allowed, and says so.
func need(t *testing.T, try ...string) {
	t.Helper()
	if out, err := exec.Command(try[0], try[1:]...).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: this test needs %q, which fails: %v %s", strings.Join(try, " "), err, out)
	}
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: this test needs root")
	}
}

// lastAck returns the last acknowledged number in a program's lines.
func lastAck(lines []string) (n int) {
	for _, l := range lines {
		if s, ok := strings.CutPrefix(l, "ack "); ok {
			n, _ = strconv.Atoi(s)
		}
	}
	return n
}

// C-44: killed at every system call of a save, for real.
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

// C-43: killed at the rename of its first save fifty times, it leaves one temporary
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
			t.Fatalf("there is %s", names)
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
		t.Errorf("%s: acknowledged %d, found %d", what, acked, got)
	}
	for _, name := range ckNames(t, filepath.Dir(path)) {
		if strings.Contains(name, ".pawl-") {
			t.Errorf("%s: still there after a start: %s", what, name)
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

// C-34, C-37, C-39, C-40: real system calls that fail.
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
		{"C40 failing directory sync", "fsync:error=EIO:when=2", []string{"at 0", "ack 1", "save: 2", "save: 3"}, "it is not known whether it is durable", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.json")
			env := map[string]string{"F_PATH": path, "F_TO": "3", "F_GOON": "1"}
			call, _, _ := strings.Cut(tt.inject, ":")
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

// C-35: a file that is mounted by itself.
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

// C-36: a full disk.
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

// C-38: where nothing can be written the work does not begin; a result is read.
func TestC38ReadOnly(t *testing.T) {
	check := func(t *testing.T, reason string, run func(env map[string]string, dir string) []string) {
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
	t.Run("directory without write permission", func(t *testing.T) {
		check(t, "permission denied", func(env map[string]string, dir string) []string {
			ckNil(t, os.Chmod(dir, 0o555))
			if os.Geteuid() == 0 {
				env["F_UID"] = "65534"
			}
			return runFile(t, env)
		})
	})
	t.Run("read-only mount", func(t *testing.T) {
		needRoot(t)
		check(t, "read-only file system", func(env map[string]string, dir string) []string {
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
