//go:build unix

package interrupt_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/pawltest/witness"
)

// TestC63 interrupts a run in its second step, by signals of every kind, and starts it again:
// what had finished is not done again, and what had not is.
func TestC63(t *testing.T) {
	const (
		soon = 5 * time.Second // far less than a grace of a minute
		term = syscall.SIGTERM
		intr = syscall.SIGINT
	)
	cut := []string{"effect step-1", "acked step-1"}
	doubt := append(cut[:2:2], "effect step-2")
	kept := append(cut[:2:2], "effect step-2", "acked step-2")
	again := []string{"acked step-1", "effect step-2", "acked step-2", "effect step-3", "acked step-3"}
	for _, tt := range []struct {
		name    string
		mode    string // what step 2 does
		grace   time.Duration
		signals []syscall.Signal
		code    int
		forced  bool // the process does not end by itself
		first   []string
		next    []string
	}{
		{"SIGTERM, the step obeys", "obeys", time.Minute, []syscall.Signal{term}, 143, false, cut, again},
		{"Ctrl-C, the step obeys", "obeys", time.Minute, []syscall.Signal{intr}, 130, false, cut, again},
		{"SIGTERM, the step finishes", "finishes", time.Minute, []syscall.Signal{term}, 143, false, kept, []string{"acked step-1", "acked step-2", "effect step-3", "acked step-3"}},
		{"SIGTERM, the step ignores it", "ignores", 500 * time.Millisecond, []syscall.Signal{term}, 143, true, doubt, again},
		{"Ctrl-C, the step ignores it", "ignores", 500 * time.Millisecond, []syscall.Signal{intr}, 130, true, doubt, again},
		{"Ctrl-C twice", "ignores", time.Minute, []syscall.Signal{intr, intr}, 130, true, doubt, again},
		{"SIGTERM twice, no end of the grace", "ignores", 0, []syscall.Signal{term, term}, 143, true, doubt, again},
		{"Ctrl-C, then SIGTERM", "ignores", time.Minute, []syscall.Signal{intr, term}, 130, true, doubt, again},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // they sleep, mostly
			h := newHistory(t, "steps")
			p := h.start(tt.mode, tt.grace)
			p.at("step-2")
			time.Sleep(50 * time.Millisecond) // into the step
			for i, sig := range tt.signals {
				if i > 0 {
					time.Sleep(100 * time.Millisecond)
				}
				p.signal(sig)
			}
			says := p.ends(tt.code, soon)
			if forced := strings.Contains(says, "what has finished is recorded\n") && strings.Count(says, "\n") == 1; forced != tt.forced {
				t.Errorf("it said %q", says)
			}
			if !tt.forced && !strings.Contains(says, "stopped by SIG") {
				t.Errorf("its error does not name the signal: %q", says)
			}
			h.saw(tt.first...)
			h.found(len(tt.first) / 2)
			// That it was asked to stop is noted at once, so that an exit after the grace is no
			// crash either. Behind a second signal there may have been no time for it.
			if kind := h.lastKind(); len(tt.signals) == 1 && kind != journal.KindInterrupted {
				t.Errorf("the newest record is %q", kind)
			}
			h.finish()
			h.saw(tt.next...)
			h.finish() // complete now
			h.saw()
		})
	}
}

// TestC63InterruptedAgainAndAgain: a run that is interrupted on each start still comes to its
// end, one step at a time.
func TestC63InterruptedAgainAndAgain(t *testing.T) {
	h := newHistory(t, "steps")
	for range 3 {
		p := h.start("obeys", time.Minute)
		p.at("step-2")
		p.signal(syscall.SIGTERM)
		p.ends(143, 5*time.Second)
		h.found(1)
	}
	h.saw("effect step-1", "acked step-1", "acked step-1", "acked step-1")
	h.finish()
	h.saw("acked step-1", "effect step-2", "acked step-2", "effect step-3", "acked step-3")
}

// TestC63Map: SIGTERM while eight items are under way. Those that end all the same are
// recorded, those that obey are not, none begins any more; the next start does the rest, and
// no item is done twice.
func TestC63Map(t *testing.T) {
	h := newHistory(t, "map")
	p := h.start("waits", time.Minute)
	for range 8 {
		p.at("waiting")
	}
	p.signal(syscall.SIGTERM)
	p.ends(143, 5*time.Second)
	report, err := witness.Check(h.path("witness"))
	check(t, err)
	if report.Effects != 12 { // the first eight, and four of those under way
		t.Errorf("%d effects in the first start", report.Effects)
	}
	h.found(12)
	h.finish()
	report, err = witness.Check(h.path("witness"))
	check(t, err)
	if report.Effects != mapItems || report.Keys != mapItems {
		t.Errorf("%d effects of %d items, want %d of each; twice: %q", report.Effects, report.Keys, mapItems, report.Repeated)
	}
}
