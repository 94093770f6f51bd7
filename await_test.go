package pawl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/pawltest"
	"github.com/pawlgo/pawl/retry"
	"github.com/pawlgo/pawl/runs"
	"github.com/pawlgo/pawl/wait"
)

type deletion struct{ Delete []string }

// approve is a function that asks before it deletes, and counts how often it was called.
func approve(calls *int, opts ...pawl.AwaitOption) func(ctx context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		*calls++
		a, err := pawl.Await[wait.Approval](ctx, "may I", deletion{[]string{"a", "b"}}, opts...)
		if err != nil {
			return "", err
		}
		return fmt.Sprint(a.Approved, " ", a.Reason), nil
	}
}

func TestAwait(t *testing.T) {
	s := openStore(t)
	calls := 0
	for i := range 2 {
		_, err := run(t, s, approve(&calls))
		wantErr(t, err, pawl.ErrWaiting)
		if _, timed := wait.Until(err); timed || !strings.Contains(err.Error(), "pawl answer r 'may I'") || calls != i+1 {
			t.Errorf("%v", err)
		}
		info := inspect(t, s)
		if info.Status != runs.Waiting || info.Failed != 0 || info.Waiting != 1 || info.Running != 0 || info.Owner != nil {
			t.Errorf("%+v", info)
		}
		ckNil(t, second(s.Compact(t.Context(), "r")))
	}
	qs, err := s.Questions(t.Context(), "r")
	ckNil(t, err)
	if len(qs) != 1 || qs[0].Key != "may I" || string(qs[0].Question) != `{"Delete":["a","b"]}` || qs[0].Answered != nil || !qs[0].Until.IsZero() {
		t.Fatalf("%+v", qs)
	}
	wantErr(t, s.ResolveDone(t.Context(), "r", "may I", true, "ann", ""), pawl.ErrInvalid)
	for wrong, why := range map[string]string{`{"approved":"yes"}`: "$.approved: a string", `{}`: `"approved" is missing`, `true`: "$: a boolean", `{"approved":true,"by":1}`: `no member "by"`} {
		err := s.Answer(t.Context(), "r", "may I", json.RawMessage(wrong), "ann", "")
		if !errors.Is(err, pawl.ErrMismatch) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	ckNil(t, s.Answer(t.Context(), "r", "may I", wait.Approval{Approved: true, Reason: "fine"}, "ann", "looked at it"))
	ckNil(t, s.Answer(t.Context(), "r", "may I", wait.Approval{Approved: true, Reason: "fine"}, "ann", "again")) // the same
	answered := func() {
		t.Helper()
		err := s.Answer(t.Context(), "r", "may I", wait.Approval{Approved: false}, "bob", "")
		if !errors.Is(err, pawl.ErrConflict) || !strings.Contains(err.Error(), "by ann at ") || !strings.Contains(err.Error(), "looked at it") {
			t.Errorf("%v", err)
		}
	}
	answered() // while it is in the inbox
	if qs, err := s.Questions(t.Context(), "r"); err != nil || qs[0].Answered == nil || qs[0].Answered.By != "ann" {
		t.Errorf("%+v, %v", qs, err)
	}
	stop := errors.New("stop here")
	_, err = run(t, s, func(ctx context.Context) (string, error) {
		if v, err := approve(&calls)(ctx); v != "true fine" || err != nil {
			t.Errorf("%q, %v", v, err)
		}
		return "", stop
	})
	wantErr(t, err, stop)
	answered() // when it is in the journal
	ckNil(t, second(s.Compact(t.Context(), "r")))
	answered()
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(inspect(t, s).Path), "*.inbox")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if v, err := run(t, s, approve(&calls)); v != "true fine" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	wantErr(t, s.Answer(t.Context(), "r", "may I", true, "ann", ""), pawl.ErrComplete)
	wantErr(t, s.Answer(t.Context(), "nobody", "may I", true, "ann", ""), pawl.ErrNotFound)
}

// An answer may come before the question; one that is none is refused when the question is
// asked, recorded, and somebody can give another one.
func TestAnswerBeforeTheQuestion(t *testing.T) {
	s := openStore(t)
	calls := 0
	ckNil(t, begin(t, s).Close())
	ckNil(t, s.Answer(t.Context(), "r", "may I", 12, "ann", "wrong"))
	_, err := run(t, s, approve(&calls))
	wantErr(t, err, pawl.ErrWaiting)
	var kinds []string
	for e, err := range s.History(t.Context(), "r") {
		ckNil(t, err)
		kinds = append(kinds, e.Kind)
	}
	if got := strings.Join(kinds, " "); got != "run attempt interrupted attempt await refuse waiting" {
		t.Errorf("history: %s", got)
	}
	ckNil(t, s.Answer(t.Context(), "r", "may I", wait.Approval{Approved: true}, "ann", "right"))
	if v, err := run(t, s, approve(&calls)); v != "true " || err != nil {
		t.Errorf("%q, %v", v, err)
	}

	s = openStore(t)
	ckNil(t, begin(t, s).Close())
	ckNil(t, s.Answer(t.Context(), "r", "may I", wait.Approval{}, "ann", "no"))
	if v, err := run(t, s, approve(&calls)); v != "false " || err != nil {
		t.Errorf("%q, %v", v, err)
	}
}

// Who waits here is told at once, in this process and in another one.
func TestAwaitBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pawltest.NewStore(t)
		begin, calls := time.Now(), 0
		var wg sync.WaitGroup
		wg.Go(func() {
			if v, err := run(t, s, approve(&calls, wait.Block(100*time.Hour))); v != "true " || err != nil || calls != 1 {
				t.Errorf("%q, %v after %d calls", v, err, calls)
			}
		})
		time.Sleep(time.Hour)
		ckNil(t, s.Answer(t.Context(), "r", "may I", wait.Approval{Approved: true}, "ann", ""))
		wg.Wait()
		if took := time.Since(begin); took > time.Hour+100*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		// Its patience may end, and so may the run's context.
		_, err := pawl.Do(t.Context(), s, "patience", approve(&calls, wait.Block(time.Hour)))
		wantErr(t, err, pawl.ErrWaiting)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = pawl.Do(ctx, s, "stopped", approve(&calls, wait.Block(time.Hour)))
		wantErr(t, err, context.DeadlineExceeded)
		if info := mustInspect(t, s, "stopped"); info.Status != runs.InProgress || info.Waiting != 1 {
			t.Errorf("%+v", info)
		}
	})
}

func TestAwaitWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pawltest.NewStore(t)
		calls := 0
		fallback := []pawl.AwaitOption{wait.Within(time.Hour), wait.Default(wait.Approval{Reason: "nobody said yes"})}
		asked := time.Now()
		for _, id := range []string{"default", "none"} {
			opts := fallback
			if id == "none" {
				opts = opts[:1]
			}
			_, err := pawl.Do(t.Context(), s, id, approve(&calls, opts...))
			wantErr(t, err, pawl.ErrWaiting)
			if at, ok := wait.Until(err); !ok || !at.Equal(asked.Add(time.Hour)) || !mustInspect(t, s, id).WakeAt.Equal(at) {
				t.Errorf("%s: until %v, %v", id, at, ok)
			}
		}
		time.Sleep(time.Hour)
		if v, err := pawl.Do(t.Context(), s, "default", approve(&calls, fallback...)); v != "false nobody said yes" || err != nil {
			t.Errorf("%q, %v", v, err)
		}
		for range 2 { // as on every start
			_, err := pawl.Do(t.Context(), s, "none", approve(&calls, fallback[0]))
			if se, ok := errors.AsType[*pawl.StepError](err); !ok || !se.Final || !strings.Contains(err.Error(), "nobody answered in time") {
				t.Errorf("%v", err)
			}
		}
		wantErr(t, s.Answer(t.Context(), "none", "may I", wait.Approval{}, "ann", "too late"), pawl.ErrConflict)
		_, err := s.Retry(t.Context(), "none", "may I", "ann", "ask again")
		ckNil(t, err)
		_, err = pawl.Do(t.Context(), s, "none", approve(&calls, fallback[0]))
		wantErr(t, err, pawl.ErrWaiting)
		ckNil(t, s.Answer(t.Context(), "none", "may I", wait.Approval{Approved: true}, "ann", "in time"))
		if v, err := pawl.Do(t.Context(), s, "none", approve(&calls, fallback[0])); v != "true " || err != nil {
			t.Errorf("%q, %v", v, err)
		}
		// A start that sets no time does not end the one that was recorded, neither early nor never.
		_, err = pawl.Do(t.Context(), s, "later", approve(&calls, fallback[0]))
		wantErr(t, err, pawl.ErrWaiting)
		time.Sleep(59 * time.Minute)
		_, err = pawl.Do(t.Context(), s, "later", approve(&calls))
		wantErr(t, err, pawl.ErrWaiting)
		time.Sleep(time.Minute)
		_, err = pawl.Do(t.Context(), s, "later", approve(&calls))
		if se, ok := errors.AsType[*pawl.StepError](err); !ok || !se.Final {
			t.Errorf("when the time is over: %v", err)
		}
		// And while somebody waits here.
		if v, err := pawl.Do(t.Context(), s, "here", approve(&calls, append(fallback, wait.Block(5*time.Hour))...)); v != "false nobody said yes" || err != nil {
			t.Errorf("%q, %v", v, err)
		}
		_, err = pawl.Do(t.Context(), s, "bad", approve(&calls, wait.Within(1), wait.Default("yes")))
		wantErr(t, err, pawl.ErrInvalid)
	})
}

// Many questions wait at once, beside work that goes on.
func TestAwaitMany(t *testing.T) {
	s := openStore(t)
	worked := map[string]int{}
	var mu sync.Mutex
	work := func(ctx context.Context) (int, error) {
		items := []string{"a", "b", "c", "d", "e", "f"}
		out, err := pawl.Map(ctx, "m", items, func(s string) string { return s }, func(ctx context.Context, item string) (int, error) {
			n, err := pawl.Step(ctx, "work", func(context.Context) (int, error) {
				mu.Lock()
				defer mu.Unlock()
				worked[item]++
				return len(worked), nil
			})
			if err != nil {
				return 0, err
			}
			ok, err := pawl.Await[bool](ctx, "ok", item)
			if err != nil || !ok {
				return 0, err
			}
			return n, nil
		}, pawl.Parallel(2), retry.Tries(5)) // a wait is not retried
		return len(out), err
	}
	for answered := range 7 {
		v, err := run(t, s, work)
		if answered == 6 {
			if v != 6 || err != nil {
				t.Errorf("%d, %v", v, err)
			}
			break
		}
		wantErr(t, err, pawl.ErrWaiting)
		qs, err := s.Questions(t.Context(), "r")
		ckNil(t, err)
		if len(qs) != 6-answered || len(worked) != 6 {
			t.Fatalf("%d questions, %v", len(qs), worked)
		}
		ckNil(t, s.Answer(t.Context(), "r", qs[0].Key, true, "ann", ""))
	}
	for item, n := range worked {
		if n != 1 {
			t.Errorf("%s was worked on %d times", item, n)
		}
	}
}

func TestAwaitAnotherQuestion(t *testing.T) {
	s := openStore(t)
	text := "delete 2 files"
	ask := func(ctx context.Context) (bool, error) { return pawl.Await[bool](ctx, "ok", text) }
	_, err := run(t, s, ask)
	wantErr(t, err, pawl.ErrWaiting)
	text = "delete 2,000 files"
	_, err = run(t, s, ask)
	wantErr(t, err, pawl.ErrWaiting)
	if qs, err := s.Questions(t.Context(), "r"); err != nil || len(qs) != 1 || string(qs[0].Question) != `"delete 2,000 files"` || qs[0].Answered != nil {
		t.Errorf("%+v, %v", qs, err)
	}
	ckNil(t, s.Answer(t.Context(), "r", "ok", true, "ann", "all right"))
	stop := errors.New("stop")
	_, err = run(t, s, func(ctx context.Context) (bool, error) {
		if ok, err := ask(ctx); !ok || err != nil {
			t.Errorf("%v, %v", ok, err)
		}
		return false, stop
	})
	wantErr(t, err, stop)
	text = "delete all files"
	_, err = run(t, s, ask)
	wantErr(t, err, pawl.ErrInputChanged)
	_, err = run(t, s, func(ctx context.Context) (bool, error) {
		ok, err := pawl.Await[bool](ctx, "ok", text, pawl.IgnoreInput())
		if !ok || err != nil {
			t.Errorf("%v, %v", ok, err)
		}
		return false, stop
	})
	wantErr(t, err, stop)
	_, err = run(t, s, func(ctx context.Context) (bool, error) {
		return pawl.Await[bool](ctx, "ok", text, pawl.RerunOnChange())
	})
	wantErr(t, err, pawl.ErrWaiting)
	ckNil(t, s.Answer(t.Context(), "r", "ok", false, "ann", "certainly not"))
	if ok, err := run(t, s, ask); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
}

func TestAwaitMustBeReturned(t *testing.T) {
	s := openStore(t)
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		_, err := pawl.Await[bool](ctx, "ok", "really?")
		wantErr(t, err, pawl.ErrWaiting)
		return 1, nil
	})
	if !errors.Is(err, pawl.ErrInvalid) || !strings.Contains(err.Error(), `"ok"`) {
		t.Errorf("%v", err)
	}
	// A question that nobody asks any more does not hold up the end.
	if v, err := run(t, s, func(context.Context) (int, error) { return 2, nil }); v != 2 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
	_, err = pawl.Await[bool](t.Context(), "ok", "")
	wantErr(t, err, pawl.ErrNoRun)
	_, err = pawl.Do(t.Context(), s, "other", func(ctx context.Context) (int, error) {
		_, err := pawl.Await[chan int](ctx, "k", "")
		wantErr(t, err, pawl.ErrInvalid)
		_, err = pawl.Await[int](ctx, "k", make(chan int))
		wantErr(t, err, pawl.ErrInvalid)
		_, err = pawl.Await[int](ctx, "", 1)
		wantErr(t, err, pawl.ErrInvalid)
		return 0, nil
	})
	ckNil(t, err)
}

func init() {
	children["answer"] = func() error {
		s, err := pawl.Open(os.Getenv("W_STORE"))
		if err != nil {
			return err
		}
		err = s.Answer(context.Background(), "r", "ok", json.RawMessage(os.Getenv("W_ANSWER")), "process "+os.Getenv("W_ANSWER"), "")
		switch {
		case err == nil:
			fmt.Print("won")
		case errors.Is(err, pawl.ErrConflict):
			fmt.Print("lost")
		default:
			return err
		}
		return nil
	}
}

// TestAnswersRace: of 20 processes that answer at once, beside an owner that takes what comes,
// exactly one wins, and it is the one whose answer the run gets.
func TestAnswersRace(t *testing.T) {
	t.Parallel()
	for _, owned := range []bool{false, true} {
		t.Run(fmt.Sprint("owner ", owned), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			s, err := pawl.Open(dir)
			ckNil(t, err)
			ask := func(opts ...pawl.AwaitOption) (int, error) {
				return run(t, s, func(ctx context.Context) (int, error) { return pawl.Await[int](ctx, "ok", "who?", opts...) })
			}
			_, err = ask()
			wantErr(t, err, pawl.ErrWaiting)
			got := make(chan int, 1)
			if owned {
				go func() {
					v, err := ask(wait.Block(time.Minute))
					if err != nil {
						t.Error(err)
					}
					got <- v
				}()
			}
			results := make([]string, 20)
			var wg sync.WaitGroup
			for i := range results {
				wg.Go(func() {
					cmd := exec.Command(os.Args[0])
					cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "PAWL_TEST_CHILD=answer", "W_STORE="+dir, fmt.Sprint("W_ANSWER=", i))
					out, err := cmd.CombinedOutput()
					if err != nil && !(owned && strings.Contains(string(out), "errcomplete")) { // it came when all was over
						t.Errorf("%v: %s", err, out)
					}
					results[i] = string(out)
				})
			}
			wg.Wait()
			winner := -1
			for i, r := range results {
				if r == "won" {
					if winner >= 0 {
						t.Errorf("%d and %d have won", winner, i)
					}
					winner = i
				}
			}
			if !owned {
				v, err := ask()
				ckNil(t, err)
				got <- v
			}
			if v := <-got; v != winner {
				t.Errorf("the run got the answer of %d, and %d was told that it had won", v, winner)
			}
		})
	}
}
