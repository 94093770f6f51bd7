package pawl_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pawlgo/pawl/internal/killfs"
	"github.com/pawlgo/pawl/internal/memfs"
	"github.com/pawlgo/pawl/runs"
)

// tally counts what random programs did.
type tally struct {
	ops, deaths             map[string]int
	programs, starts, kills int
	events, most, lost      int
}

// randomCase runs one random program until its run is complete, killing its processes, and
// returns what cannot be, "" if all is well, with what happened before.
func randomCase(seed uint64, sum *tally) (wrong string, trace []string) {
	r := rand.New(rand.NewPCG(seed, 3))
	prog := generate(r, 1+r.IntN(2), false)
	m := &model{worlds: []*world{newWorld()}, counts: sum.ops}
	fs, death := memfs.New(), ""
	for start, last := 1, 3+r.IntN(5); ; start++ {
		calm := start > last
		kfs := killfs.New(fs, chooseDeath(r, calm, death))
		m.dead = kfs.Dead
		edit(r, prog, calm)
		m.trace = append(m.trace, fmt.Sprintf("start %d (calm %v)", start, calm))
		p := &process{fs: kfs, prog: prog, r: r, x: &random{m: m, seed: seed, start: start, calm: calm, calls: map[string]int{}}}
		err := p.live()
		sum.starts++
		if death = kfs.Death(); death != "" {
			sum.kills++
			sum.deaths[death]++
			m.death()
		}
		if m.lost {
			sum.lost++
			return m.wrong, m.trace
		}
		m.dead = func() bool { return false }
		fs = fs.Snapshot()
		if err == nil && (r.IntN(3) > 0 || len(m.worlds) > 100) {
			err = look(m, fs)
		}
		if err != nil && m.wrong == "" {
			m.wrong = err.Error()
		}
		if calm && m.wrong == "" {
			if start > last+1 && m.worlds[0].status != runs.Complete {
				m.wrong = "it does not come to its end"
			}
			if start > last+2 {
				break
			}
		}
		if m.wrong != "" {
			break
		}
	}
	sum.programs++
	sum.events += m.event
	sum.most = max(sum.most, m.most)
	return m.wrong, m.trace
}

// deathAt are the operations at which a process may be told to die, beside any.
var deathAt = []string{
	"write", "write run", "write attempt", "write start", "write step", "write fail", "write map", "write epoch", "write alias", "write note",
	"write state", "write complete", "write failed", "write interrupted", "write several", "rename", "create", "remove", "link", "mkdir", "truncate",
	// rare ones more often
	"write alias", "write alias", "write alias", "write epoch", "write epoch", "write epoch", "write complete", "write complete",
	"write several", "write several", "write interrupted", "write interrupted", "rename", "truncate",
}

// chooseDeath decides when a process dies, if at all, knowing how the one before did.
func chooseDeath(r *rand.Rand, calm bool, before string) func(killfs.Op) (killfs.Mode, bool) {
	never := func(killfs.Op) (killfs.Mode, bool) { return 0, false }
	if calm || r.IntN(4) == 0 {
		return never
	}
	mode := pick(r, killfs.Before, killfs.Torn, killfs.After, killfs.After)
	if r.IntN(4) == 0 {
		at := 1 + r.IntN(25)
		return func(op killfs.Op) (killfs.Mode, bool) { return mode, op.N == at }
	}
	kind, nth := pick(r, deathAt...), 1
	if strings.Contains("write start write step write fail write note write state", kind) {
		nth += r.IntN(4) // there are many of these
	}
	if strings.HasSuffix(before, "torn") && r.IntN(3) == 0 {
		kind = "truncate" // a torn record is cut off
	}
	latest := 5 + r.IntN(20) // where there is nothing of the kind
	return func(op killfs.Op) (killfs.Mode, bool) {
		if !strings.HasPrefix(op.Name+" ", kind+" ") {
			return mode, op.N == latest
		}
		nth--
		return mode, nth == 0
	}
}

// TestRandomPrograms runs programs that nobody wrote, kills them at every kind of moment,
// changes them between two starts, and compares what they see with a model of what must be
// true. PAWL_SEED=N alone runs the one program of a failure again, with all its events;
// PAWL_PROGRAMS=N runs so many.
func TestRandomPrograms(t *testing.T) {
	sum := &tally{ops: map[string]int{}, deaths: map[string]int{}}
	programs, err := strconv.Atoi(os.Getenv("PAWL_PROGRAMS"))
	switch {
	case err == nil:
	case os.Getenv("PAWL_LONG") != "":
		programs = 100_000
	case os.Getenv("PAWL_SEED") != "":
		wrong, trace := randomCase(testSeed(t), sum)
		t.Logf("%s\n%s", strings.Join(trace, "\n"), wrong)
		if wrong != "" {
			t.Fail()
		}
		return
	case testing.Short():
		programs = 200
	default:
		programs = 600
	}
	t.Parallel()
	first, wrongs := testSeed(t), 0
	enough := func(n int) bool { // everything is to come at least once, within reason
		return n >= programs && (testing.Short() || n >= 8*programs || len(sum.missing()) == 0)
	}
	for n := 0; !enough(n) && wrongs < 3; n++ {
		seed := first + uint64(n)
		if wrong, trace := randomCase(seed, sum); wrong != "" {
			wrongs++
			t.Errorf("PAWL_SEED=%d after %d events: %s\n%s", seed, len(trace), wrong, strings.Join(trace[max(0, len(trace)-12):], "\n"))
		}
	}
	t.Logf("%d programs, %d starts, %d killed, %d events, at most %d worlds, %d given up", sum.programs, sum.starts, sum.kills, sum.events, sum.most, sum.lost)
	if sum.lost > programs/100 {
		t.Error("too many programs were given up")
	}
	for _, counts := range []map[string]int{sum.ops, sum.deaths} {
		for _, what := range slices.Sorted(maps.Keys(counts)) {
			t.Logf("%7d %s", counts[what], what)
		}
	}
	if missing := sum.missing(); len(missing) > 0 && !testing.Short() && wrongs == 0 {
		t.Errorf("these never came: %q", missing)
	}
}

// mustCome are the outcomes of each call that random programs are to see.
var mustCome = map[string]string{
	"start":    "answer ErrInputChanged ErrNotFound",
	"step":     "answer canceled deadline ErrClosed ErrComplete ErrDuplicateKey ErrInDoubt ErrInputChanged",
	"map":      "done failed crash ErrClosed ErrComplete ErrDuplicateKey ErrInputChanged",
	"load":     "answer nothing ErrClosed ErrComplete",
	"save":     "answer ErrClosed ErrComplete ErrStateNotLoaded",
	"note":     "answer",
	"complete": "answer ErrClosed ErrComplete",
	"fail":     "answer",
	"close":    "answer",
	"compact":  "answer ErrNotFound",
	"clear":    "answer ErrNotFound",
	"delete":   "answer ErrNotFound",

	"load note": "answer nothing", "late note": "ErrInvalid", "late load note": "ErrInvalid",
	"resolve done":  "answer ErrComplete ErrConflict ErrInvalid ErrNotFound",
	"resolve rerun": "answer ErrComplete ErrConflict ErrInvalid ErrNotFound",
	"compact in it": "answer ErrClosed ErrComplete",
	"begin again":   "answer ErrLocked", "compact owned": "ErrLocked", "clear owned": "ErrLocked", "resolve owned": "ErrLocked",
}

// missing lists what programs were to do, and the moments at which they were to die, that
// never came.
func (sum *tally) missing() (list []string) {
	need := func(what string) {
		if sum.ops[what] == 0 {
			list = append(list, what)
		}
	}
	for kind, outcomes := range mustCome {
		for outcome := range strings.FieldsSeq(outcomes) {
			need(kind + ": " + outcome)
		}
	}
	for _, end := range []string{"value", "error", "crash", "bad"} {
		need("step: fn ended with " + end)
	}
	for _, end := range []string{"value", "error", "crash", "none"} {
		need("start: fn ended with " + end)
	}
	died := map[string]bool{}
	for death := range sum.deaths {
		for _, kind := range deathAt {
			if strings.HasPrefix(death, kind+":") || strings.HasPrefix(death, kind+" ") {
				died[kind+death[strings.LastIndex(death, ":"):]] = true
			}
		}
	}
	for _, kind := range deathAt {
		for _, mode := range []killfs.Mode{killfs.Before, killfs.Torn, killfs.After} {
			if what := fmt.Sprint(kind, ": ", mode); !died[what] {
				list = append(list, "death at "+what)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
