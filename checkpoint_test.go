package pawl_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
)

func TestFileLifecycle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoints", "deep", "run.json")
	ck := ckOpen[cursorState](t, path)
	if ck.Resumed() || !reflect.DeepEqual(ck.State(), cursorState{}) {
		t.Errorf("a fresh start resumes %+v", ck.State())
	}
	if done, err := ck.Result(nil); done || err != nil {
		t.Errorf("a fresh start is complete: %t, %v", done, err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening made the file: %v", err)
	}
	ckNil(t, ck.Save(cursorState{1, []string{"a"}}))
	ckNil(t, ck.Save(cursorState{2, []string{"a", "é"}}))
	if got := ck.State(); !ck.Resumed() || got.Cursor != 2 {
		t.Errorf("after a save: %+v", got)
	}
	ckNil(t, ck.Close())

	ck = ckOpen[cursorState](t, path)
	if got := ck.State(); !ck.Resumed() || !reflect.DeepEqual(got, cursorState{2, []string{"a", "é"}}) {
		t.Errorf("resumed %t with %+v", ck.Resumed(), got)
	}
	ckNil(t, ck.Complete(map[string]any{"ok": true, "n": 3}))
	if got := ck.State(); !reflect.DeepEqual(got, cursorState{}) {
		t.Errorf("the state of complete work is %+v", got)
	}
	ckNil(t, ck.Close())

	ck = ckOpen[cursorState](t, path)
	var result map[string]any
	done, err := ck.Result(&result)
	if !done || err != nil || !reflect.DeepEqual(result, map[string]any{"ok": true, "n": json.Number("3")}) {
		t.Errorf("result %v, %t, %v", result, done, err)
	}
	if !ck.Resumed() {
		t.Error("complete work counts as a fresh start")
	}
	ckWant(t, ck.Save(cursorState{}), pawl.ErrComplete, path, "Clear starts over")
	ckNil(t, ck.Clear())
	if ck.Resumed() {
		t.Error("resumed after Clear")
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Clear left the file: %v", err)
	}
	ckNil(t, ck.Save(cursorState{Cursor: 9}))
	ckNil(t, ck.Close())
	if got := ckOpen[cursorState](t, path).State(); got.Cursor != 9 {
		t.Errorf("after Clear and a save: %+v", got)
	}
	if w := ck.Warnings(); len(w) > 0 {
		t.Errorf("warnings: %q", w)
	}
}

// C-56: complete work stays complete, byte for byte.
func TestC56CompleteAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	ck := ckOpen[cursorState](t, path)
	ckNil(t, ck.Save(cursorState{Cursor: 1}))
	ckNil(t, ck.Complete(json.RawMessage(`{"ok":true}`)))
	ckNil(t, ck.Close())
	want := ckRead(t, path)
	for range 3 {
		ck := ckOpen[cursorState](t, path)
		var raw json.RawMessage
		if done, err := ck.Result(&raw); !done || err != nil || string(raw) != `{"ok":true}` {
			t.Errorf("result %s, %t, %v", raw, done, err)
		}
		ckNil(t, ck.Complete(map[string]bool{"ok": true}))
		ckNil(t, ck.Complete(json.RawMessage(` { "ok" : true } `)))
		ckWant(t, ck.Complete(map[string]bool{"ok": false}), pawl.ErrComplete, "another one and unchanged")
		ckWant(t, ck.Save(cursorState{}), pawl.ErrComplete)
		ckNil(t, ck.Close())
	}
	if got := ckRead(t, path); got != want {
		t.Errorf("the file changed:\n%s\n%s", want, got)
	}
}

func TestResultMismatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	ck := ckOpen[int](t, path)
	ckNil(t, ck.Complete(map[string]any{"text": "x", "extra": 1}))
	target := struct {
		Text string `json:"text"`
	}{"before"}
	done, err := ck.Result(&target)
	ckWant(t, err, pawl.ErrMismatch, "$.extra: unknown member")
	if !done || target.Text != "before" {
		t.Errorf("done %t, target %+v", done, target)
	}
	if _, err := ck.Result(target); err == nil {
		t.Error("a result was decoded into something that is no pointer")
	}
	ckNil(t, ck.Close())
	done, err = ckOpen[int](t, path, pawl.AllowUnknown()).Result(&target)
	if !done || err != nil || target.Text != "x" {
		t.Errorf("with AllowUnknown: %+v, %v", target, err)
	}
}

func TestStateIsACopy(t *testing.T) {
	ck := ckOpen[map[string][]int](t, filepath.Join(t.TempDir(), "run.json"))
	mine := map[string][]int{"a": {1, 2}}
	ckNil(t, ck.Save(mine))
	mine["a"][0] = 99
	one, two := ck.State(), ck.State()
	one["a"][1] = 77
	want := map[string][]int{"a": {1, 2}}
	if !reflect.DeepEqual(two, want) || !reflect.DeepEqual(ck.State(), want) {
		t.Errorf("copies share memory: %v, %v", two, ck.State())
	}
}

func TestClosedCheckpoint(t *testing.T) {
	ck := ckOpen[int](t, filepath.Join(t.TempDir(), "run.json"))
	ckNil(t, ck.Save(5))
	ckNil(t, ck.Close())
	ckNil(t, ck.Close())
	_, err := ck.Result(nil)
	for _, err := range []error{ck.Save(6), ck.Complete(6), ck.Clear(), err} {
		ckWant(t, err, pawl.ErrClosed)
	}
	if ck.State() != 5 || !ck.Resumed() {
		t.Error("State and Resumed changed with Close")
	}
}

// A save that is refused or unchanged writes nothing.
func TestNothingWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	ck := ckOpen[map[string]any](t, path)
	ckNil(t, ck.Save(map[string]any{"é": 1}))
	want := ckRead(t, path)
	ckNil(t, ck.Save(map[string]any{"é": 1}))
	ckWant(t, ck.Save(map[string]any{"x": []any{1, math.Inf(1)}}), pawl.ErrInvalid, path, "$.x[1]: +Inf")
	ckWant(t, ck.Complete(make(chan int)), pawl.ErrInvalid, "a Go chan int cannot be stored")
	if got := ckRead(t, path); got != want {
		t.Errorf("the file changed:\n%s\n%s", want, got)
	}
	if got := ck.State(); !reflect.DeepEqual(got, map[string]any{"é": json.Number("1")}) {
		t.Errorf("state %v", got)
	}
	// But unchanged does not mean unchecked.
	ckNil(t, os.Remove(path))
	ckWant(t, ck.Save(map[string]any{"é": 1}), pawl.ErrReplaced)
}

func TestRefusedTypes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sub", "run.json")
	_, err := pawl.OpenFile[struct{ C chan int }](path)
	ckWant(t, err, pawl.ErrInvalid, "$.C: a Go chan int cannot be stored")
	_, err = pawl.OpenFile[struct{ E error }](path)
	ckWant(t, err, pawl.ErrInvalid, "$.E: error is an error, which cannot be read back; store its text")
	if names := ckNames(t, dir); len(names) > 0 {
		t.Errorf("there is %q", names)
	}
}

// Raw JSON comes back byte for byte, and the file stays ASCII on one line.
func TestRawState(t *testing.T) {
	for _, text := range []string{`{"a":1}`, "{ \"é😀\" :\n [1.0, \"\u2028\"]\t}", ` "x" `, `"\u00e9 \ud83d\ude00 é"`} {
		path := filepath.Join(t.TempDir(), "run.json")
		ck := ckOpen[json.RawMessage](t, path)
		ckNil(t, ck.Save(json.RawMessage(text)))
		ckNil(t, ck.Close())
		file := ckRead(t, path)
		if strings.IndexFunc(file, func(r rune) bool { return r > '~' }) >= 0 || strings.Count(file, "\n") != 1 {
			t.Errorf("the file is %q", file)
		}
		ck = ckOpen[json.RawMessage](t, path)
		if got := string(ck.State()); got != text {
			t.Errorf("%q came back as %q", text, got)
		}
		ckNil(t, ck.Save(json.RawMessage(text)))
		if ckRead(t, path) != file {
			t.Errorf("%q: an unchanged save wrote", text)
		}
		ckNil(t, ck.Complete(json.RawMessage(text)))
		ckNil(t, ck.Close())
		var got json.RawMessage
		if _, err := ckOpen[int](t, path).Result(&got); err != nil || string(got) != text {
			t.Errorf("result %q came back as %q, %v", text, got, err)
		}
	}
}

// C-24: the same state gives the same bytes.
func TestC24SameBytes(t *testing.T) {
	state := map[string]map[string]struct{}{}
	for i := range 100 {
		state[fmt.Sprint("key-", i*7919%100)] = map[string]struct{}{fmt.Sprint(i): {}, "x": {}}
	}
	first := ""
	for i := range 20 {
		path := filepath.Join(t.TempDir(), "run.json")
		ck := ckOpen[map[string]map[string]struct{}](t, path)
		ckNil(t, ck.Save(state))
		text := ckRead(t, path)
		text = text[:strings.Index(text, `,"status"`)]
		if i == 0 {
			first = text
		}
		if text != first {
			t.Fatalf("save %d wrote\n%s\nnot\n%s", i, text, first)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	type accounts struct{ A, B int }
	path := filepath.Join(t.TempDir(), "run.json")
	ck := ckOpen[accounts](t, path)
	ckNil(t, ck.Save(accounts{100, 0}))
	stop := time.Now().Add(300 * time.Millisecond)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := 0; time.Now().Before(stop); i++ {
				s := ck.State()
				if s.A+s.B != 100 {
					t.Errorf("read %+v", s)
				}
				s.A, s.B = s.A-g, s.B+g
				if err := ck.Save(s); err != nil {
					t.Error(err)
				}
				ck.Resumed()
				ck.Warnings()
			}
		})
	}
	wg.Wait()
	ckNil(t, ck.Close())
	if s := ckOpen[accounts](t, path).State(); s.A+s.B != 100 {
		t.Errorf("at the end %+v", s)
	}
}
