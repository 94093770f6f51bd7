package pawltest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/hook"
	"github.com/pawlgo/pawl/internal/killfs"
	"github.com/pawlgo/pawl/internal/memfs"
)

// CrashEverywhere shows that program can die anywhere. It first runs program undisturbed, in
// a store in memory, and then again and again: the process "dies" at each change that it
// made to its store, a record above all, and program starts again in what is left, as its
// next process would. Each time it checks, as errors of t, that
//
//   - the second start ends as the undisturbed run: with an equal result (compared as
//     JSON), or the same error;
//   - no step ran again whose result was recorded;
//   - both starts asked for keys only that the undisturbed run asked for too: another key
//     comes from a clock, from chance or from the order of goroutines, and its step would
//     be paid for twice;
//   - nothing recorded was left that nobody asked for.
//
// Each death is tried in two ways: the change happens and nobody is told, as when a process
// dies right behind a record; and it does not happen, as when a process dies behind an
// effect whose result it could not record any more. In both, every further call of pawl is an error that
// changes nothing, and ctx ends. A real process would not go on at all; what program does
// with these errors is of no consequence.
//
// Program must take ctx and the store that it is given, and start from nothing else: what it
// keeps in variables or files would survive a death here. It runs in a goroutine of its own. It should
// be small: it runs four times for every change, of which 10,000 are tried at most.
func CrashEverywhere[R any](t testing.TB, program func(ctx context.Context, store *pawl.Store) (R, error)) {
	t.Helper()
	whole := start(memfs.New(), 0, killfs.Before, program)
	switch {
	case whole.crash != nil:
		t.Fatalf("pawltest: undisturbed, the program panicked: %v", whole.crash)
	case !whole.returned:
		t.Fatalf("pawltest: undisturbed, the program did not return")
	case whole.changes > maxChanges:
		t.Fatalf("pawltest: the program changed its store %d times; at most %d can be tried", whole.changes, maxChanges)
	}
	for n := 1; n <= whole.changes; n++ {
		for _, mode := range []killfs.Mode{killfs.After, killfs.Before} {
			first := start(memfs.New(), n, mode, program)
			second := start(first.disk, 0, mode, program)
			report := func(format string, args ...any) {
				t.Errorf("pawltest: died at change %d of %d (%s; the journal then ended with %s): %s", n, whole.changes, first.death, first.last(), fmt.Sprintf(format, args...))
			}
			if ok := compare(report, whole, second) && compareJournals(report, whole.journals, first.journals, second.journals); !ok && t.Failed() {
				return // one place is enough to begin with
			}
		}
	}
}

const maxChanges = 10_000

// outcome is how one start of a program ended.
type outcome struct {
	result   []byte // JSON
	err      error
	crash    any // value of a panic
	returned bool
	changes  int                 // that it made to its store
	death    string              // at which of them it died
	disk     *memfs.FS           // what is left
	journals map[string][]record // in it, by run ID
}

// start runs program as a process of its own on a disk, which dies at one of its changes; 0
// is none.
func start[R any](disk *memfs.FS, dieAt int, mode killfs.Mode, program func(context.Context, *pawl.Store) (R, error)) outcome {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var o outcome
	process := killfs.New(disk, func(op killfs.Op) (killfs.Mode, bool) {
		if op.N == dieAt {
			cancel()
		}
		return mode, op.N == dieAt
	})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { o.crash = recover() }()
		store, err := pawl.Open("memory", hook.StoreFS(process).(pawl.StoreOption))
		if err != nil {
			o.err, o.returned = err, true
			return
		}
		v, err := program(ctx, store)
		o.returned, o.err = true, err
		if err == nil {
			o.result, o.err = json.Marshal(v)
		}
	}()
	<-ended
	o.changes = process.Kill() // what it left running is nobody's
	o.death = process.Death()
	o.disk = disk.Snapshot() // without the locks of the dead
	o.journals = journals(o.disk)
	return o
}

// compare reports whether two starts ended alike.
func compare(report func(string, ...any), whole, second outcome) bool {
	switch {
	case second.crash != nil:
		report("the next start panicked: %v", second.crash)
	case !second.returned:
		report("the next start did not return")
	case (second.err == nil) != (whole.err == nil), whole.err != nil && message(second.err) != message(whole.err):
		report("the next start ended with the error %v, and undisturbed it was %v", second.err, whole.err)
	case !bytes.Equal(second.result, whole.result):
		report("the next start returned %s, and undisturbed it was %s", second.result, whole.result)
	default:
		return true
	}
	return false
}

// message is an error's text but for the number of the try, which a death makes higher.
func message(err error) string { return try.ReplaceAllString(err.Error(), "(try)") }

var try = regexp.MustCompile(`\(try \d+\)`)

// compareJournals reports whether the steps ran as they should: recorded is what stood in
// the journals at the death.
func compareJournals(report func(string, ...any), whole, recorded, second map[string][]record) bool {
	ok := true
	fail := func(format string, args ...any) { report(format, args...); ok = false }
	for id, records := range second {
		expected := keysOf(whole[id])
		done := map[string]bool{}
		for _, r := range records {
			switch r.Kind {
			case "step":
				done[r.Key] = true
			case "epoch":
				clear(done) // what may run again is the program's decision
			case "start":
				if done[r.Key] {
					fail("run %q: step %q ran again, and its result was recorded", id, r.Key)
				}
			case "complete":
				if r.Unasked > 0 {
					fail("run %q: nobody asked for %d recorded steps: %q", id, r.Unasked, unexpected(recorded[id], expected))
				}
			}
			if r.Key != "" && !expected[r.Key] {
				fail("run %q: key %q was not there undisturbed; keys must not come from clocks, chance or the order of goroutines", id, r.Key)
				return false
			}
		}
	}
	return ok
}

func keysOf(records []record) map[string]bool {
	keys := map[string]bool{}
	for _, r := range records {
		keys[r.Key] = true
	}
	return keys
}

func unexpected(records []record, expected map[string]bool) []string {
	var keys []string
	for _, r := range records {
		if !expected[r.Key] && !slices.Contains(keys, r.Key) {
			keys = append(keys, r.Key)
		}
	}
	return keys
}
