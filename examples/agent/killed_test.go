package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl/wait"
)

// places are all in which the process can be killed: before and behind each call of the model, of a
// tool, and of a person.
func places(e ending) []string {
	out := []string{"before " + question0, "answered " + question0}
	if e.when != out[0] {
		out = append(out, "asked "+question0)
	}
	all := []string{"turn/0/model", "turn/0/tool/0", "turn/0/tool/1", "turn/0/tool/2", "turn/1/model", "turn/1/tool/1", "turn/2/model"}
	if e.paid != "" {
		all = append(all, "turn/1/tool/0")
	}
	for _, where := range all {
		out = append(out, "before "+where, "begun "+where, "effect "+where, "acked "+where)
	}
	slices.Sort(out)
	return out
}

// ending is what a person decides, when, and what comes of it.
type ending struct {
	name   string
	says   wait.Approval
	when   string // the place of the death behind which he says so; "waiting" is when the program has ended in order
	answer string // to the customer
	paid   string
}

const question0 = "turn/1/tool/0/approve"

var endings = []ending{
	{
		"approve",
		wait.Approval{Approved: true},
		"waiting",
		"We are sorry about the broken lamp. You get 8400 cents back, and the floor lamp is on its way.\n",
		`{"paid":8400,"order":9007199254740993}`,
	},
	{
		"reject before it is asked",
		wait.Approval{Reason: "The customer broke it himself."},
		"before " + question0,
		"We are sorry about the broken lamp. A colleague will write to you; the floor lamp is on its way.\n",
		"",
	},
	{
		"edit while it is dead",
		wait.Approval{Approved: true, Edited: json.RawMessage(`{"order":9007199254740993,"cents":4200}`)},
		"asked " + question0,
		"We are sorry about the broken lamp. You get 4200 cents back, and the floor lamp is on its way.\n",
		`{"paid":4200,"order":9007199254740993}`,
	},
}

// TestKilledEverywhere kills one run with SIGKILL at every place there is, one after the other: each
// start comes one place further. The judges stand outside: the model, which refuses a conversation
// that is not valid and knows what it was paid for, the bank, and a witness.
func TestKilledEverywhere(t *testing.T) {
	for _, e := range endings {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, nil)
			answer, kills := s.play(e, "")
			s.judge(e, answer)
			deaths := slices.Sorted(strings.SplitSeq(strings.TrimSpace(s.read("deaths")), "\n"))
			if want := places(e); !slices.Equal(deaths, want) || kills != len(want) {
				t.Errorf("%d kills, at\n%q, want\n%q", kills, deaths, want)
			}
			if again, code := s.start("never"); again != e.answer || code != 0 {
				t.Errorf("asked again: %q, %d", again, code)
			}
			s.judge(e, answer)

			calm := newScene(t, nil)
			answer, _ = calm.play(e, "never")
			calm.judge(e, answer)
			if !maps.EqualFunc(s.bodies, calm.bodies, bytes.Equal) || len(calm.bodies) != 3 {
				t.Errorf("the model saw\n%s\nand without kills\n%s", s.bodies, calm.bodies)
			}
			t.Logf("%d kills", kills)
		})
	}
}

// TestKilledOnce kills a run at one place and leaves it alone then. The places change from day to day,
// since the above has been at all of them and each costs three processes; crash_test.go dies at every
// record, once.
func TestKilledOnce(t *testing.T) {
	all := places(endings[0])
	rnd := rand.New(rand.NewPCG(uint64(time.Now().Unix()/86400), 0))
	rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, place := range all[:4] {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, nil)
			answer, kills := s.play(endings[0], place)
			s.judge(endings[0], answer)
			if kills != 1 {
				t.Errorf("%d kills", kills)
			}
		})
	}
}

// TestInterrupt: SIGTERM ends the program in order, in the middle of a call, and the next start goes on.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	var once sync.Once
	s := newScene(t, func(r *http.Request) {
		once.Do(func() {
			asked <- struct{}{}
			<-r.Context().Done()
		})
	})
	cmd := s.command("never")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() //nolint:errcheck // its code is looked at
	if code := cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGTERM) || !strings.Contains(stderr.String(), "the same command goes on") {
		t.Errorf("%s\n%s", cmd.ProcessState, &stderr)
	}
	answer, _ := s.play(endings[0], "never")
	s.judge(endings[0], answer)
}
