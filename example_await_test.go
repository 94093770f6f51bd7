package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/pawlgo/pawl"
)

// A run asks, ends, and goes on with the answer when it is started again. The answer may come
// from another process: pawl answer run-1 'how many' 3.
func ExampleAwait() {
	dir, err := os.MkdirTemp("", "await")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := pawl.Open(filepath.Join(dir, "store"))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	work := func(ctx context.Context) (string, error) {
		n, err := pawl.Await[int](ctx, "how many", "How many pages shall I read?")
		if err != nil {
			return "", err // ErrWaiting, until somebody has answered
		}
		return fmt.Sprint("read ", n, " pages"), nil
	}
	_, err = pawl.Do(ctx, store, "run-1", work)
	fmt.Println("waiting:", errors.Is(err, pawl.ErrWaiting))
	if err := store.Answer(ctx, "run-1", "how many", 3, "ann", "time is short"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(pawl.Do(ctx, store, "run-1", work))
	// Output:
	// waiting: true
	// read 3 pages <nil>
}
