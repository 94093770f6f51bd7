package retry_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/retry"
)

func Example() {
	dir, err := os.MkdirTemp("", "retry")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := pawl.Open(filepath.Join(dir, "store"))
	if err != nil {
		log.Fatal(err)
	}
	answer, err := pawl.Do(context.Background(), store, "run-1", func(ctx context.Context) (string, error) {
		return pawl.Step(ctx, "ask", func(ctx context.Context) (string, error) {
			if pawl.Try(ctx) < 3 {
				return "", retry.After(errors.New("overloaded"), 10*time.Millisecond)
			}
			return fmt.Sprint("answered in try ", pawl.Try(ctx)), nil
		}, retry.With(retry.Policy{Tries: 5, Base: time.Millisecond, Timeout: time.Minute}))
	})
	fmt.Println(answer, err)

	// What no try will mend fails finally: every later start gets the same error.
	for range 2 {
		_, err = pawl.Do(context.Background(), store, "run-2", func(ctx context.Context) (string, error) {
			return pawl.Step(ctx, "ask", func(context.Context) (string, error) {
				fmt.Println("called")
				return "", retry.Permanent(errors.New("no such model"))
			})
		})
		fmt.Println(err)
	}
	// Output:
	// answered in try 3 <nil>
	// called
	// pawl: run "run-2" step "ask" failed finally (try 1): no such model
	// pawl: run "run-2" step "ask" failed finally (try 1): no such model
}
