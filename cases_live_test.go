package pawl_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/pawlgo/pawl"
)

// C-78: values are shared, and changed all the time. What a save is given must not change
// while the call looks at it, as with encoding/json; so the program holds the lock that it
// has anyway, or makes a copy. Nothing else is asked of it: as soon as the call has returned,
// whatever it was given may change, memory behind pointers, maps and slices included. In each
// of the generations the sum must be right.
func TestC78StateChangedMeanwhile(t *testing.T) {
	saves := 10_000
	if (raceEnabled || testing.Short()) && os.Getenv("PAWL_LONG") == "" {
		saves = 2000
	}
	type accounts struct {
		Map   map[string]int  `json:"map"`
		List  []int           `json:"list"`
		Ptr   *int            `json:"ptr"`
		Raw   json.RawMessage `json:"raw"`
		Moves int             `json:"moves"`
	}
	sum := func(a accounts) int { return a.Map["a"] + a.Map["b"] }
	s, err := pawl.Open(filepath.Join(fastDir(t), "store"))
	ckNil(t, err)
	var mu sync.Mutex
	now := accounts{map[string]int{"a": 100, "b": 0}, []int{100, 0}, new(int), json.RawMessage("0"), 0}
	stop := make(chan struct{})
	var movers sync.WaitGroup
	for range 2 {
		movers.Go(func() {
			for i := 1; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				mu.Lock()
				now.Moves++
				now.Map["a"], now.Map["b"] = now.Map["a"]-i%7, now.Map["b"]+i%7
				now.List[0], now.List[1] = now.Map["a"], now.Map["b"]
				*now.Ptr = now.Moves
				now.Raw[0] = '0' + byte(now.Moves%10)
				mu.Unlock()
				runtime.Gosched()
			}
		})
	}
	saved := -1
	_, err = run(t, s, func(ctx context.Context) (int, error) {
		_, _, err := pawl.LoadState[accounts](ctx)
		for i := 0; i < saves && err == nil; i++ {
			mu.Lock()
			for now.Moves == saved { // give the others a turn
				mu.Unlock()
				runtime.Gosched()
				mu.Lock()
			}
			saved = now.Moves
			if i%2 == 0 {
				err = pawl.SaveState(ctx, now) // the live value
				mu.Unlock()
				continue
			}
			ptr := *now.Ptr
			mine := accounts{maps.Clone(now.Map), slices.Clone(now.List), &ptr, slices.Clone(now.Raw), now.Moves}
			mu.Unlock()
			err = pawl.SaveState(ctx, mine)
		}
		return 0, err
	})
	close(stop)
	movers.Wait()
	ckNil(t, err)

	// Every generation, one after the other.
	generations, last := 0, -1
	for _, st := range states(t, ckRead(t, inspect(t, s).Path)) {
		var a accounts
		ckNil(t, json.Unmarshal(st, &a))
		if sum(a) != 100 || a.List[0] != a.Map["a"] || a.List[1] != a.Map["b"] || *a.Ptr != a.Moves || int(a.Raw[0]-'0') != a.Moves%10 || a.Moves < last {
			t.Fatalf("generation %d is %s", generations+1, st)
		}
		generations, last = generations+1, a.Moves
	}
	if generations != saves {
		t.Errorf("%d generations of %d saves", generations, saves)
	}
}
