package pawl_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/vfs"
)

type agentState struct {
	Cursor   int            `json:"cursor"`
	Messages []string       `json:"messages"`
	Scores   map[string]int `json:"scores,omitempty"`
	Raw      any            `json:"raw,omitempty"`
}

func openState[T any](t *testing.T, path string, opts ...pawl.FileOption) *pawl.Checkpoint[T] {
	t.Helper()
	ck, err := pawl.OpenState[T](path, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ck.Close() })
	return ck
}

func TestStateVerbs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "er", "s.jsonl")
	ck := openState[agentState](t, path)
	if ck.Resumed() || ck.State().Cursor != 0 {
		t.Error("a fresh start is not fresh")
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("opening made the file: %v", err)
	}
	want := agentState{Cursor: 1, Messages: []string{"a\u2028", "<&>"}, Raw: map[string]any{"id": json.Number("9007199254740993")}}
	if err := ck.Save(want); err != nil {
		t.Fatal(err)
	}
	if got := ck.State(); !reflect.DeepEqual(got, want) {
		t.Errorf("State = %+v", got)
	}
	_, err := pawl.OpenState[agentState](path)
	wantErr(t, err, pawl.ErrLocked)
	if err := errors.Join(ck.Close(), ck.Close()); err != nil {
		t.Fatal(err)
	}
	wantErr(t, ck.Save(want), pawl.ErrClosed)

	ck = openState[agentState](t, path)
	if got := ck.State(); !ck.Resumed() || !reflect.DeepEqual(got, want) {
		t.Errorf("after opening again: %+v", got)
	}
	if err := errors.Join(ck.Complete(map[string]bool{"ok": true}), ck.Complete(map[string]bool{"ok": true})); err != nil {
		t.Fatal(err)
	}
	wantErr(t, ck.Complete(7), pawl.ErrComplete)
	wantErr(t, ck.Save(want), pawl.ErrComplete)
	ck.Close()

	ck = openState[agentState](t, path)
	var result map[string]bool
	if done, err := ck.Result(&result); !done || err != nil || !result["ok"] {
		t.Errorf("Result = %v, %v, %v", result, done, err)
	}
	wantErr(t, ck.Save(want), pawl.ErrComplete)
	if err := ck.Clear(); err != nil {
		t.Fatal(err)
	}
	ck.Close()
	ck = openState[agentState](t, path)
	if ck.Resumed() || ck.State().Cursor != 0 {
		t.Error("after Clear it is not fresh")
	}
	if err := ck.Save(agentState{Cursor: 9}); err != nil {
		t.Fatal(err)
	}
	ck.Close()
	if got := openState[agentState](t, path).State(); got.Cursor != 9 || got.Messages != nil {
		t.Errorf("after Clear and a save: %+v", got)
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
}

// Any sequence of states comes back exactly, through patches and whole copies.
func TestStateHistories(t *testing.T) {
	rnd := rand.New(rand.NewPCG(testSeed(t), 2))
	for n := range 20 {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		st := agentState{Scores: map[string]int{}}
		ck := openState[agentState](t, path)
		for range 60 {
			switch rnd.IntN(6) {
			case 0, 1:
				st.Messages = append(st.Messages, strings.Repeat(fmt.Sprint("m", rnd.IntN(1000), "\u0085 "), rnd.IntN(40)))
			case 2:
				if len(st.Messages) > 0 {
					i := rnd.IntN(len(st.Messages))
					st.Messages = append(st.Messages[:i:i], st.Messages[i+1:]...)
				}
			case 3:
				st.Scores[fmt.Sprint("k/~", rnd.IntN(20))] = rnd.IntN(100)
			case 4:
				delete(st.Scores, fmt.Sprint("k/~", rnd.IntN(20)))
			case 5:
				st.Raw = []any{json.Number("1e400"), nil, st.Cursor}
			}
			st.Cursor++
			if err := ck.Save(st); err != nil {
				t.Fatal(err)
			}
			if rnd.IntN(10) == 0 {
				ck.Close()
				ck = openState[agentState](t, path)
			}
			want, _ := json.Marshal(st)
			got, _ := json.Marshal(ck.State())
			if string(got) != string(want) {
				t.Fatalf("history %d, save %d:\n got %s\nwant %s", n, st.Cursor, got, want)
			}
		}
		ck.Close()
	}
}

// A save costs what changed, and the file does not grow with the square of the state.
func TestC72StateSavesCostWhatTheyChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	ck := openState[agentState](t, path)
	st := agentState{Messages: make([]string, 1000)}
	for i := range st.Messages {
		st.Messages[i] = strings.Repeat("x", 1000)
	}
	size := func() int64 {
		fi, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return fi.Size()
	}
	reopen := func() {
		ck.Close()
		ck = openState[agentState](t, path)
	}
	save := func(what string, most int64) {
		t.Helper()
		before := size()
		if err := ck.Save(st); err != nil {
			t.Fatal(err)
		}
		reopen() // cuts off the fill
		if grew := size() - before; grew > most {
			t.Errorf("%s: the file grew by %d bytes, want at most %d", what, grew, most)
		}
	}
	if err := ck.Save(st); err != nil {
		t.Fatal(err)
	}
	reopen()
	const attempt = 200 // each opening is recorded with its first save
	st.Messages, st.Cursor = append(st.Messages, strings.Repeat("y", 100)), 1
	save("append", 100+300+attempt)
	st.Messages[500] = strings.Repeat("z", 100)
	save("middle edit", 100+300+attempt)
	st.Messages = append(st.Messages[:300], st.Messages[301:]...)
	save("removal", 300+attempt)
	save("nothing", 0)
}

func init() {
	children["state"] = func() error {
		ck, err := pawl.OpenState[agentState](os.Getenv("S_PATH"))
		if err != nil {
			return err
		}
		st := ck.State()
		fmt.Println("opened", st.Cursor)
		for {
			st.Cursor++
			st.Messages = append(st.Messages, fmt.Sprint("message ", st.Cursor))
			if err := ck.Save(st); err != nil {
				return err
			}
			fmt.Println("acked", st.Cursor)
		}
	}
}

func TestStateUnderRandomKills(t *testing.T) { // invariants 1 and 2, C-44
	kills := 40
	if testing.Short() {
		kills = 5
	}
	rnd := rand.New(rand.NewPCG(testSeed(t), 3))
	path := filepath.Join(t.TempDir(), "s.jsonl")
	acked := 0
	for n := range kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "PAWL_TEST_CHILD=state", "S_PATH="+path)
		out := &strings.Builder{}
		cmd.Stdout, cmd.Stderr = out, os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rnd.Int64N(int64(60 * time.Millisecond))))
		cmd.Process.Kill()
		cmd.Wait()
		for l := range strings.SplitSeq(out.String(), "\n") {
			var c int
			if k, _ := fmt.Sscanf(l, "opened %d", &c); k == 1 && c != acked && c != acked+1 {
				t.Fatalf("kill %d: opened at %d, %d was acknowledged", n, c, acked)
			}
			if k, _ := fmt.Sscanf(l, "acked %d", &c); k == 1 {
				acked = c
			}
		}
		ck := openState[agentState](t, path)
		st := ck.State()
		if st.Cursor < acked || st.Cursor > acked+1 || len(st.Messages) != st.Cursor {
			t.Fatalf("kill %d: %d messages at %d, %d was acknowledged", n, len(st.Messages), st.Cursor, acked)
		}
		acked = st.Cursor
		ck.Close()
	}
	t.Logf("%d kills, %d saves", kills, acked)
}

func TestStateRefusals(t *testing.T) {
	dir := t.TempDir()
	s, err := pawl.Open(filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, s, func(ctx ctx) (int, error) { return 1, nil }); err != nil {
		t.Fatal(err)
	}
	runPath := inspect(t, s).Path
	good := filepath.Join(dir, "good.jsonl")
	ck := openState[agentState](t, good)
	for i := range 3 {
		if err := ck.Save(agentState{Cursor: i}); err != nil {
			t.Fatal(err)
		}
	}
	ck.Close()
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string, b []byte) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	flipped := append([]byte(nil), text...)
	flipped[len(flipped)/2] ^= 1
	link := filepath.Join(dir, "link.jsonl")
	if err := os.Symlink(good, link); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path string
		opts []pawl.FileOption
		want error
	}{
		"empty":          {file("empty.jsonl", nil), nil, pawl.ErrCorrupt},
		"NUL":            {file("nul.jsonl", make([]byte, 700)), nil, pawl.ErrCorrupt},
		"JSON":           {file("level1.json", []byte(`{"state": 1, "status": "in_progress"}`)), nil, pawl.ErrCorrupt},
		"one bit":        {file("flip.jsonl", flipped), nil, pawl.ErrCorrupt},
		"newer":          {file("newer.jsonl", newerJournal()), nil, pawl.ErrNewerFormat},
		"directory":      {dir, nil, pawl.ErrInvalid},
		"run in a store": {runPath, nil, pawl.ErrInvalid},
		"FallBack":       {good, []pawl.FileOption{pawl.FallBack(func(pawl.Recovery) {})}, pawl.ErrInvalid},
		"no schema":      {good, []pawl.FileOption{pawl.Migrate(1, func(b []byte) ([]byte, error) { return b, nil })}, pawl.ErrMismatch},
	} {
		before, _ := os.ReadFile(c.path)
		ck, err := pawl.OpenState[agentState](c.path, c.opts...)
		if err == nil {
			ck.Close()
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if after, _ := os.ReadFile(c.path); string(after) != string(before) {
			t.Errorf("%s: the file was changed", name)
		}
	}
	if got := openState[agentState](t, link).State(); got.Cursor != 2 {
		t.Errorf("through a link: %+v", got)
	}
	if fi, err := os.Lstat(link); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	_, err = pawl.OpenState[struct{ Position int }](filepath.Join(dir, "good.jsonl"))
	wantErr(t, err, pawl.ErrLocked) // the link's target has one owner by any name
}

func TestStateMigrations(t *testing.T) { // C-51
	type v1 struct {
		Cursor int      `json:"cursor"`
		Notes  []string `json:"notes"`
	}
	type v2 struct {
		Pos   int      `json:"pos"`
		Notes []string `json:"notes"`
	}
	path := filepath.Join(t.TempDir(), "s.jsonl")
	ck := openState[v1](t, path)
	if err := ck.Save(v1{3, []string{"x"}}); err != nil {
		t.Fatal(err)
	}
	ck.Close()
	_, err := pawl.OpenState[v2](path)
	wantErr(t, err, pawl.ErrMismatch)
	if !strings.Contains(err.Error(), "$.cursor") {
		t.Errorf("the place is not named: %v", err)
	}
	rename := pawl.Migrate(1, func(b []byte) ([]byte, error) {
		return []byte(strings.Replace(string(b), `"cursor"`, `"pos"`, 1)), nil
	})
	for range 2 { // opening rewrites nothing
		ck := openState[v2](t, path, rename, pawl.UnversionedAs(1))
		if got := ck.State(); got.Pos != 3 || len(got.Notes) != 1 {
			t.Errorf("migrated: %+v", got)
		}
		ck.Close()
	}
	ck2 := openState[v2](t, path, rename, pawl.UnversionedAs(1))
	if err := ck2.Save(ck2.State()); err != nil {
		t.Fatal(err)
	}
	ck2.Close()
	if got := openState[v2](t, path, rename).State(); got.Pos != 3 {
		t.Errorf("after a save: %+v", got)
	}
	_, err = pawl.OpenState[v2](path)
	if !errors.Is(err, pawl.ErrLocked) && !errors.Is(err, pawl.ErrNewerFormat) {
		t.Error(err)
	}
}

// After a save that is in doubt nothing is acknowledged any more, not even the state
// that was saved before; opening again finds one of the two, whole.
func TestStateInDoubt(t *testing.T) { // rules 3 and 25, invariant 7, C-39
	for _, op := range []string{"sync", "syncdir"} {
		t.Run(op, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.jsonl")
			fsys := &faultFS{FS: vfs.OS}
			ck := openState[agentState](t, path, pawl.WithFileSystem(fsys))
			a, b := agentState{Cursor: 1}, agentState{Cursor: 2}
			if err := ck.Save(a); err != nil {
				t.Fatal(err)
			}
			fsys.fail = func(c call) error {
				if c.op == op {
					return syscall.EIO
				}
				return nil
			}
			err := ck.Save(b)
			if op == "syncdir" { // of a compaction: the new file may lose its name
				err = ck.Compact()
			}
			wantErr(t, err, pawl.ErrInDoubt)
			wantErr(t, err, syscall.EIO)
			fsys.fail = nil
			for _, st := range []agentState{a, b, {Cursor: 3}} {
				if op == "syncdir" && st.Cursor == b.Cursor {
					continue // acknowledged before the compaction
				}
				wantErr(t, ck.Save(st), pawl.ErrInDoubt)
			}
			ck.Close() //nolint:errcheck // it has failed
			if got := openState[agentState](t, path).State(); got.Cursor != a.Cursor && got.Cursor != b.Cursor {
				t.Errorf("found %+v", got)
			}
		})
	}
}

// A journal of such a name would be taken for what the owner of another one left, and removed.
func TestStateNamedLikeALeftover(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl.new")
	_, err := pawl.OpenState[int](path)
	ckWant(t, err, pawl.ErrInvalid, ".new", "nothing was changed")
}
