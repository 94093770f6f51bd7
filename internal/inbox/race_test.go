package inbox_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pawlgo/pawl/internal/inbox"
	"github.com/pawlgo/pawl/internal/vfs"
)

// TestMain is also a program that posts: only real processes share nothing but files.
func TestMain(m *testing.M) {
	dir := os.Getenv("PAWL_TEST_INBOX")
	if dir == "" {
		os.Exit(m.Run())
	}
	in := bufio.NewScanner(os.Stdin) // each line is a key to answer
	for in.Scan() {
		e := answer(in.Text(), "1")
		e.By = fmt.Sprint(os.Getpid())
		_, err := inbox.Post(vfs.OS, dir, e, quiet)
		switch lost, ok := errors.AsType[*inbox.ExistsError](err); {
		case err == nil:
			fmt.Println("won")
		case ok:
			fmt.Println("lost to", lost.Winner.By)
		default:
			fmt.Println(err)
		}
	}
}

// TestProcesses lets several processes post about the same thing at the same time: one wins, and
// all others learn which one.
func TestProcesses(t *testing.T) {
	const processes, rounds = 4, 30
	dir := store(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	said := make([][]string, processes)
	pids := make([]int, processes)
	var wg sync.WaitGroup
	for i := range processes {
		c := exec.Command(self)
		c.Env = append(os.Environ(), "PAWL_TEST_INBOX="+dir)
		var keys strings.Builder
		for k := range rounds {
			fmt.Fprintf(&keys, "k%d\n", k)
		}
		c.Stdin = strings.NewReader(keys.String())
		wg.Go(func() {
			out, err := c.CombinedOutput()
			if err != nil {
				t.Error(err)
				return
			}
			said[i] = strings.Split(strings.TrimSpace(string(out)), "\n")
			pids[i] = c.Process.Pid
		})
	}
	wg.Wait()
	wins := make([]int, processes)
	for k := range rounds {
		winner := -1
		for i := range said {
			if len(said[i]) != rounds {
				t.Fatalf("process %d said %q", i, said[i])
			}
			if said[i][k] == "won" {
				if winner >= 0 {
					t.Errorf("k%d: two winners", k)
				}
				winner = i
				wins[i]++
			}
		}
		for i := range said {
			if winner < 0 || i != winner && said[i][k] != fmt.Sprint("lost to ", pids[winner]) {
				t.Errorf("k%d, process %d: %q", k, i, said[i][k])
			}
		}
	}
	if entries, err := inbox.Read(vfs.OS, dir, uid); err != nil || len(entries) != rounds {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	t.Logf("wins: %d", wins)
}

// TestOwnerAndSenders lets many post while the owner takes, so that the inbox is made and removed
// all the time. What was acknowledged is taken exactly once.
func TestOwnerAndSenders(t *testing.T) {
	for name, fsys := range map[string]vfs.FS{"os": vfs.OS, "no links": linkless{vfs.OS}} {
		t.Run(name, func(t *testing.T) {
			if name == "no links" && runtime.GOOS != "linux" {
				t.Skip("no exclusive rename here")
			}
			const senders, mails, keys = 4, 60, 3
			dir := store(t)
			var acked sync.Map
			var lost atomic.Int64
			var wg sync.WaitGroup
			for s := range senders {
				wg.Go(func() {
					for n := range mails {
						e, err := inbox.Post(fsys, dir, answer(fmt.Sprint("k", (s+n)%keys), "1"), quiet)
						switch {
						case err == nil:
							acked.Store(e.Mail, true)
						case errors.Is(err, fs.ErrExist):
							lost.Add(1)
						default:
							t.Error(err)
						}
					}
				})
			}
			done := make(chan struct{})
			go func() { wg.Wait(); close(done) }()
			taken, removed := map[string]int{}, 0
			for last := false; !last; {
				select {
				case <-done:
					last = true
				default:
				}
				entries, err := inbox.Read(fsys, dir, uid)
				if err != nil {
					t.Error(err)
				}
				for _, e := range entries {
					taken[e.Mail]++
					if err := inbox.Remove(fsys, dir, e, quiet); err != nil {
						t.Error(err)
					}
				}
				if _, err := fsys.Lstat(dir); errors.Is(err, fs.ErrNotExist) && len(entries) > 0 {
					removed++
				}
			}
			n := 0
			acked.Range(func(mail, _ any) bool {
				if n++; taken[mail.(string)] != 1 {
					t.Errorf("%s was taken %d times", mail, taken[mail.(string)])
				}
				return true
			})
			if len(taken) != n {
				t.Errorf("%d taken, %d acknowledged", len(taken), n)
			}
			if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the inbox is left: %v", err)
			}
			t.Logf("%d acknowledged, %d lost, inbox removed %d times", n, lost.Load(), removed)
		})
	}
}

// linkless is a file system without hard links, which renames.
type linkless struct{ vfs.FS }

func (linkless) Link(string, string) error { return &os.LinkError{Op: "link", Err: fs.ErrPermission} }

// RenameNew is what the kernel has for it.
func (l linkless) RenameNew(from, to string) error {
	return l.FS.(interface{ RenameNew(from, to string) error }).RenameNew(from, to)
}

// twice is a network file system that sends a link twice, and tells of the second one.
type twice struct{ *doubled }

type doubled struct{ vfs.FS }

func (d *doubled) Link(from, to string) error {
	if err := d.FS.Link(from, to); err != nil {
		return err
	}
	return d.FS.Link(from, to)
}

func TestLinkThatWasSentTwice(t *testing.T) {
	dir := store(t)
	e, err := inbox.Post(twice{&doubled{vfs.OS}}, dir, cancel(), quiet)
	if err != nil {
		t.Fatal(err)
	}
	if names, err := vfs.OS.ReadDir(dir); err != nil || len(names) != 1 || names[0] != e.Name() {
		t.Errorf("left: %q, %v", names, err)
	}
}

// TestNothingLeadsOut: a link in the place of an inbox or an entry is not followed, and only it is
// removed.
func TestNothingLeadsOut(t *testing.T) {
	dir, out := store(t), t.TempDir()
	if err := os.Symlink(out, dir); err != nil {
		t.Skip(err)
	}
	if _, err := inbox.Post(vfs.OS, dir, cancel(), quiet); err == nil {
		t.Error("posted through a link")
	}
	if _, err := inbox.Read(vfs.OS, dir, uid); err == nil {
		t.Error("read through a link")
	}
	keep := filepath.Join(out, "cancel-01234567.json")
	if err := os.WriteFile(keep, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := inbox.Remove(vfs.OS, dir, cancel(), quiet); err == nil {
		t.Error("removed through a link")
	}
	if err := inbox.RemoveAll(vfs.OS, dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); err == nil {
		t.Error("the link is left")
	}
	if names, err := os.ReadDir(out); err != nil || len(names) != 1 {
		t.Errorf("%d files are left, %v", len(names), err)
	}
	mustPost(t, vfs.OS, dir, answer("k", "1"))
	if err := os.Symlink(keep, filepath.Join(dir, "cancel-01234567.json")); err != nil {
		t.Fatal(err)
	}
	if entries, err := inbox.Read(vfs.OS, dir, uid); err == nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}
