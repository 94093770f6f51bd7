package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/hook"
)

func init() {
	children["zone"] = func() error {
		s, err := pawl.Open(os.Getenv("Z_STORE"))
		if err != nil {
			return err
		}
		if id := os.Getenv("Z_RUN"); id != "" {
			_, err := pawl.Do(context.Background(), s, id, func(ctx context.Context) (int, error) {
				return pawl.Step(ctx, "s", func(context.Context) (int, error) { return 1, nil })
			})
			return err
		}
		for info, err := range s.Runs(context.Background()) {
			if err != nil {
				return err
			}
			fmt.Println(info.ID, info.Created)
			for e, err := range s.History(context.Background(), info.ID) {
				if err != nil {
					return err
				}
				fmt.Println(e.Seq, e.Kind, e.At)
			}
		}
		return nil
	}
}

// TestC49TimeZones: whatever the zone of a host, times are recorded and told in UTC, and
// order, IDs and lists are the same; also while clocks are put forward or back for summer.
func TestC49TimeZones(t *testing.T) {
	dir := t.TempDir() + "/store"
	est, edt := time.FixedZone("EST", -5*3600), time.FixedZone("EDT", -4*3600)
	at := time.Date(2026, 3, 8, 6, 59, 59, 0, time.UTC)
	s, err := pawl.Open(dir, hook.StoreClock(func() time.Time {
		at = at.Add(time.Second)
		if at.Hour() < 7 {
			return at.In(est)
		}
		return at.In(edt) // 01:59:59 is followed by 03:00:00
	}).(pawl.StoreOption))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, s, func(ctx context.Context) (int, error) {
		return pawl.Step(ctx, "s", func(context.Context) (int, error) { return 1, nil })
	}); err != nil {
		t.Fatal(err)
	}
	child := func(zone, id string) string {
		t.Helper()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "PAWL_TEST_CHILD=zone", "Z_STORE="+dir, "Z_RUN="+id, "TZ="+zone)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	zones := []string{"Asia/Shanghai", "UTC", "America/New_York"}
	for i, zone := range zones {
		child(zone, fmt.Sprint("run-", i))
	}
	lists := map[string]bool{}
	for _, zone := range zones {
		lists[child(zone, "")] = true
	}
	if len(lists) != 1 {
		t.Errorf("lists differ by zone: %v", lists)
	}
	for _, id := range []string{"r", "run-0", "run-1", "run-2"} {
		text, err := os.ReadFile(mustInspect(t, s, id).Path)
		if err != nil {
			t.Fatal(err)
		}
		var times []string
		for _, m := range regexp.MustCompile(`"at":"([^"]*)"`).FindAllSubmatch(text, -1) {
			times = append(times, string(m[1]))
		}
		if len(times) < 4 || !slices.IsSorted(times) || slices.ContainsFunc(times, func(s string) bool { return !strings.HasSuffix(s, "Z") }) {
			t.Errorf("%s: times %q", id, times)
		}
		for e, err := range s.History(t.Context(), id) {
			if err != nil || e.At.Location() != time.UTC {
				t.Errorf("%s: %v, %v", id, e.At, err)
			}
		}
	}
}

// TestC50Fleet: fifty workers claim one run at once, again and again. Each time exactly one
// is its owner, the others are told so at once, and no step runs twice.
func TestC50Fleet(t *testing.T) {
	const workers = 50
	rounds := 200
	if raceEnabled || testing.Short() {
		rounds = 30
	}
	dir := fastDir(t) + "/store"
	var stores [workers]*pawl.Store
	for i := range stores {
		s, err := pawl.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		stores[i] = s
	}
	var owners, ran atomic.Int32 // owners at this moment
	for round := range rounds {
		start := make(chan struct{})
		var claimed, all sync.WaitGroup
		var won, slow atomic.Int32
		claimed.Add(workers)
		for _, s := range stores {
			all.Go(func() {
				<-start
				begin := time.Now()
				r, err := s.Begin(t.Context(), "r")
				if time.Since(begin) > time.Second {
					slow.Add(1)
				}
				claimed.Done()
				if err != nil {
					if !errors.Is(err, pawl.ErrLocked) {
						t.Errorf("round %d: %v", round, err)
					}
					return
				}
				won.Add(1)
				if owners.Add(1) != 1 {
					t.Errorf("round %d: a second owner", round)
				}
				if _, err := pawl.Step(r.Context(t.Context()), fmt.Sprint(round), func(context.Context) (int, error) {
					ran.Add(1)
					return round, nil
				}); err != nil {
					t.Errorf("round %d: %v", round, err)
				}
				claimed.Wait() // who comes late must find it owned
				owners.Add(-1)
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		close(start)
		all.Wait()
		if won.Load() != 1 || slow.Load() > 0 {
			t.Fatalf("round %d: %d owners, %d claims took more than a second", round, won.Load(), slow.Load())
		}
	}
	info := mustInspect(t, stores[0], "r")
	if int(ran.Load()) != rounds || int(info.Done) != rounds || int(info.Attempts) != rounds {
		t.Errorf("%d rounds: %d steps ran, %d have a result, %d attempts", rounds, ran.Load(), info.Done, info.Attempts)
	}
}

// TestC55TheSameItemTwice: equal items need keys that tell them apart; with such keys each is
// done once.
func TestC55TheSameItemTwice(t *testing.T) {
	s := openStore(t)
	ran := 0
	prompts := func(key func(i int) string, stop bool) ([]string, error) {
		return run(t, s, func(ctx context.Context) ([]string, error) {
			return pawl.Map(ctx, "m", []int{0, 1, 2}, key, func(_ context.Context, i int) (string, error) {
				if stop && ran == 1 {
					return "", errors.New("killed")
				}
				ran++
				return fmt.Sprint("answer ", i, " to p"), nil
			}, pawl.Parallel(1))
		})
	}
	out, err := prompts(func(int) string { return "p" }, false)
	wantErr(t, err, pawl.ErrDuplicateKey)
	if out != nil || ran != 0 || !strings.Contains(err.Error(), `"m/p"`) {
		t.Errorf("one key for all: %q, ran %d, %v", out, ran, err)
	}
	key := func(i int) string { return fmt.Sprint("p#", i) }
	if out, err := prompts(key, true); out != nil || err == nil || ran != 1 {
		t.Fatalf("first start: %q, %v, ran %d", out, err, ran)
	}
	if out, err := prompts(key, false); err != nil || ran != 3 || strings.Join(out, ", ") != "answer 0 to p, answer 1 to p, answer 2 to p" {
		t.Errorf("second start: %q, %v, ran %d", out, err, ran)
	}
}
