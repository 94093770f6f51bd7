package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/pawlgo/pawl"
)

// tempStore is a store for an example.
func tempStore(opts ...pawl.StoreOption) (store *pawl.Store, remove func()) {
	dir, err := os.MkdirTemp("", "pawl")
	if err != nil {
		panic(err)
	}
	store, err = pawl.Open(dir, opts...)
	if err != nil {
		panic(err)
	}
	return store, func() { os.RemoveAll(dir) } //nolint:errcheck // it is temporary
}

// A loop that is not worth a step for each round keeps a state in the run.
func ExampleSaveState() {
	store, remove := tempStore()
	defer remove()
	type state struct{ Next, Sum int }
	crash := true
	add := func(ctx context.Context) (int, error) {
		st, found, err := pawl.LoadState[state](ctx)
		if err != nil {
			return 0, err
		}
		fmt.Println("going on:", found, "at", st.Next)
		for ; st.Next < 5; st.Next++ {
			if st.Next == 3 && crash {
				crash = false
				return 0, errors.New("crash")
			}
			st.Sum += st.Next
			if err := pawl.SaveState(ctx, state{st.Next + 1, st.Sum}); err != nil {
				return 0, err
			}
		}
		return st.Sum, nil
	}
	for range 2 {
		fmt.Println(pawl.Do(context.Background(), store, "add", add))
	}
	// Output:
	// going on: false at 0
	// 0 crash
	// going on: true at 3
	// 10 <nil>
}

// A job was submitted, and the process dies while it waits: the next try finds the job's ID
// instead of submitting once more.
func ExampleNote() {
	store, remove := tempStore()
	defer remove()
	submitted := 0
	batch := func(ctx context.Context) (string, error) {
		job, found, err := pawl.LoadNote[string](ctx)
		if err != nil {
			return "", err
		}
		if !found {
			submitted++
			job = fmt.Sprint("job-", submitted)
			if err := pawl.Note(ctx, job); err != nil {
				return "", err
			}
		}
		if pawl.Try(ctx) == 1 {
			return "", errors.New("connection lost while waiting")
		}
		return "answer of " + job, nil
	}
	for range 2 {
		answer, err := pawl.Do(context.Background(), store, "r", func(ctx context.Context) (string, error) {
			return pawl.Step(ctx, "batch", batch)
		})
		fmt.Println(answer, err != nil, "submitted:", submitted)
	}
	// Output:
	//  true submitted: 1
	// answer of job-1 false submitted: 1
}

// A service that knows the key of a request does it once, however often it is asked.
func ExampleIdempotencyKey() {
	store, remove := tempStore()
	defer remove()
	charged := map[string]int{} // the payment provider's book, by key
	lost := true
	pay := func(ctx context.Context) (string, error) {
		charged[pawl.IdempotencyKey(ctx)] = 20
		if lost {
			lost = false
			return "", errors.New("the answer was lost")
		}
		return "paid", nil
	}
	for range 2 {
		got, err := pawl.Do(context.Background(), store, "order-7", func(ctx context.Context) (string, error) {
			return pawl.Step(ctx, "pay", pay)
		})
		fmt.Println(got, err != nil)
	}
	fmt.Println("charges:", len(charged))
	// Output:
	//  true
	// paid false
	// charges: 1
}

// Where there are no idempotency keys, a step can refuse to run a second time while nobody
// knows whether it happened.
func ExampleAtMostOnce() {
	store, remove := tempStore()
	defer remove()
	mail := func(ctx context.Context) (string, error) {
		return pawl.Step(ctx, "mail", func(context.Context) (string, error) {
			return "", fmt.Errorf("no answer from the server: %w", pawl.ErrInDoubt)
		}, pawl.AtMostOnce())
	}
	for range 2 {
		_, err := pawl.Do(context.Background(), store, "r", mail)
		_, again := errors.AsType[*pawl.StepError](err)
		fmt.Println("in doubt:", errors.Is(err, pawl.ErrInDoubt), "called:", again)
	}
	// Somebody has looked: it was sent.
	err := store.ResolveDone(context.Background(), "r", "mail", "sent", "ann", "it is in the log of the server")
	fmt.Println(err)
	fmt.Println(pawl.Do(context.Background(), store, "r", mail))
	// Output:
	// in doubt: true called: true
	// in doubt: true called: false
	// <nil>
	// sent <nil>
}

// A step got a better name, and runs that are under way keep what they paid for.
func ExampleAlias() {
	store, remove := tempStore()
	defer remove()
	expensive := func(context.Context) (string, error) {
		fmt.Println("paying")
		return "summary", nil
	}
	pawl.Do(context.Background(), store, "r", func(ctx context.Context) (string, error) { //nolint:errcheck // it fails on purpose
		if _, err := pawl.Step(ctx, "step2", expensive); err != nil {
			return "", err
		}
		return "", errors.New("crash")
	})
	fmt.Println(pawl.Do(context.Background(), store, "r", func(ctx context.Context) (string, error) {
		return pawl.Step(ctx, "summarize", expensive, pawl.Alias("step2"))
	}))
	// Output:
	// paying
	// summary <nil>
}

// Secrets do not reach the disk.
func ExampleRedact() {
	const key = "sk-12345"
	store, remove := tempStore(pawl.Redact(func(s string) string { return strings.ReplaceAll(s, key, "***") }))
	defer remove()
	_, err := pawl.Do(context.Background(), store, "r", func(ctx context.Context) (string, error) {
		return pawl.Step(ctx, "call", func(context.Context) (string, error) {
			return "", errors.New("401 Unauthorized: key " + key)
		})
	}, pawl.Label("team", "search"))
	fmt.Println(err)
	info, err := store.Inspect(context.Background(), "r")
	fmt.Println(info.Labels, info.Error, err)
	// Output:
	// pawl: run "r" step "call" failed (try 1): 401 Unauthorized: key ***
	// map[team:search] step "call": 401 Unauthorized: key *** <nil>
}
