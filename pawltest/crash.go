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
	"github.com/pawlgo/pawl/internal/memfs"
)

// CrashEverywhere shows that program can die anywhere. It first runs program undisturbed, in
// a store in memory, and then once more for every record that was written: the process
// "dies" right behind that record, and program starts again in the same store, as its next
// process would. Each time it checks, as errors of t, that
//
//   - the second start ends as the undisturbed run: with an equal result (compared as
//     JSON), or the same error;
//   - no step ran again whose result was recorded;
//   - both starts asked for keys only that the undisturbed run asked for too: another key
//     comes from a clock, from chance or from the order of goroutines, and its step would
//     be paid for twice;
//   - nothing recorded was left that nobody asked for.
//
// Each death is tried in two ways: the goroutine that wrote the record ends there
// (deferred functions run, which a real death does not do), and the program goes on for as
// long as it does not use pawl, so that an effect happens whose result is not recorded.
// In both ways ctx ends, and every further call of pawl is an error that changes nothing.
//
// Program must take ctx and the store that it is given, and start from nothing else: what it
// keeps in variables or files would survive a death here. It may run in t's goroutine or another
// one. It should be small: it runs twice for every record, which are 10,000 at most.
func CrashEverywhere[R any](t testing.TB, program func(ctx context.Context, store *pawl.Store) (R, error)) {
	t.Helper()
	whole := start(memfs.New(), &memfs.Process{}, program)
	switch {
	case whole.crash != nil:
		t.Fatalf("pawltest: undisturbed, the program panicked: %v", whole.crash)
	case !whole.returned:
		t.Fatalf("pawltest: undisturbed, the program did not return")
	case whole.writes > maxRecords:
		t.Fatalf("pawltest: the program wrote %d records; at most %d can be tried", whole.writes, maxRecords)
	}
	for n := int64(1); n <= whole.writes; n++ {
		for _, stop := range []bool{true, false} {
			disk := memfs.New()
			first := start(disk, &memfs.Process{DieAfter: n, Stop: stop}, program)
			recorded := first.journals
			second := start(disk, &memfs.Process{}, program)
			how := "the goroutine ended"
			if !stop {
				how = "the program went on without pawl"
			}
			report := func(format string, args ...any) {
				t.Errorf("pawltest: died behind write %d of %d (%s; %s): %s", n, whole.writes, first.last(), how, fmt.Sprintf(format, args...))
			}
			if ok := compare(report, whole, second) && compareJournals(report, whole.journals, recorded, second.journals); !ok && t.Failed() {
				return // one place is enough to begin with
			}
		}
	}
}

const maxRecords = 10_000

// outcome is how one start of a program ended.
type outcome struct {
	result   []byte // JSON
	err      error
	crash    any // value of a panic
	returned bool
	writes   int64
	journals map[string][]record // by run ID
}

// start runs program as a process of its own on a disk.
func start[R any](disk *memfs.FS, as *memfs.Process, program func(context.Context, *pawl.Store) (R, error)) outcome {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := disk.Process()
	p.DieAfter, p.Stop, p.OnDeath = as.DieAfter, as.Stop, cancel
	var o outcome
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { o.crash = recover() }()
		store, err := pawl.Open("memory", hook.StoreFS(p).(pawl.StoreOption))
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
	o.writes = p.Writes()
	p.Die() // what it left open is nobody's
	o.journals = journals(disk)
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
