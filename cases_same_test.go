package pawl_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pawlgo/pawl/journal"
)

func init() {
	children["same"] = func() error {
		set, index := map[string]struct{}{}, map[string]int{}
		for i := range 100 {
			index[fmt.Sprint("key-", i*7919%100)] = i * i
			set[fmt.Sprint("member <&> ", i*31%100)] = struct{}{}
		}
		for _, dir := range []string{os.Getenv("K_DIR"), os.Getenv("K_SHARED")} {
			for _, k := range keepers[map[string]any](dir) {
				o, err := k.open()
				if err != nil {
					return err
				}
				if err := errors.Join(o.save(map[string]any{"index": index, "set": set}), o.close()); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// C-24: twenty processes save the same state, and it is the same bytes twenty times; each
// also saves it where it is already, which is no change.
func TestC24SameBytesFromTwentyProcesses(t *testing.T) {
	shared := fastDir(t)
	texts, before := map[string]bool{}, map[string]string{}
	for n := range 20 {
		dir := fastDir(t)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "PAWL_TEST_CHILD=same", "K_DIR="+dir, "K_SHARED="+shared)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, k := range keepers[map[string]any](dir) {
			texts[stateText(t, k)] = true
		}
		for _, k := range keepers[map[string]any](shared) {
			if got := k.saves(t); got != 1 {
				t.Errorf("process %d: %s has %d saves", n, k.name, got)
			}
			text := ckRead(t, k.path)
			if n > 0 && k.name != "run" && text != before[k.name] { // a run's attempts are recorded
				t.Errorf("process %d: an unchanged save changed %s", n, k.name)
			}
			before[k.name] = text
		}
	}
	if len(texts) != 1 {
		t.Errorf("the same state was written in %d ways", len(texts))
	}
	for text := range texts {
		if len(text) < 3000 {
			t.Errorf("that is no state: %s", text)
		}
	}
}

// stateText is the state as it stands in the file.
func stateText[T any](t *testing.T, k keeper[T]) string {
	t.Helper()
	text := ckRead(t, k.path)
	if strings.HasSuffix(k.path, ".json") {
		text, _, _ = strings.Cut(text, `,"status"`)
		return strings.TrimPrefix(text, `{"state":`)
	}
	sc := journal.NewScanner(strings.NewReader(text), int64(len(text)))
	found := ""
	for sc.Scan() {
		if rec := sc.Record(); rec.Kind == journal.KindState {
			v, ok := rec.Value()
			if !ok {
				t.Fatalf("%s: a state without a value", k.name)
			}
			found = string(v)
		}
	}
	ckNil(t, sc.Err())
	return found
}
