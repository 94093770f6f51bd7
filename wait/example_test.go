package wait_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/wait"
)

func open() (*pawl.Store, func()) {
	dir, err := os.MkdirTemp("", "wait")
	if err != nil {
		log.Fatal(err)
	}
	store, err := pawl.Open(filepath.Join(dir, "store"))
	if err != nil {
		log.Fatal(err)
	}
	return store, func() { os.RemoveAll(dir) }
}

// A program that nobody keeps running for an hour: it says when to start it again.
func ExampleYield() {
	store, done := open()
	defer done()
	work := func(ctx context.Context) (string, error) {
		if err := wait.Sleep(ctx, "cool down", 50*time.Millisecond); err != nil {
			return "", err
		}
		return "cool", nil
	}
	for {
		v, err := pawl.Do(context.Background(), store, "run-1", work, wait.Yield(time.Millisecond))
		at, waits := wait.Until(err)
		if !waits {
			fmt.Println(v, err)
			return
		}
		fmt.Println("waiting:", errors.Is(err, pawl.ErrWaiting))
		time.Sleep(time.Until(at)) // a supervisor's timer
	}
	// Output:
	// waiting: true
	// cool <nil>
}

// A person is asked, and answers while no process of the run is alive.
func ExampleApproval() {
	store, done := open()
	defer done()
	ctx := context.Background()
	work := func(ctx context.Context) (string, error) {
		may, err := pawl.Await[wait.Approval](ctx, "delete", "May I delete 412 files?")
		if err != nil {
			return "", err
		}
		return fmt.Sprint("approved: ", may.Approved, ", ", may.Reason), nil
	}
	_, err := pawl.Do(ctx, store, "run-1", work)
	fmt.Println("waiting:", errors.Is(err, pawl.ErrWaiting))

	// What pawl approve does, in a process of its own.
	questions, err := store.Questions(ctx, "run-1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(questions[0].Key, string(questions[0].Question))
	err = store.AnswerQuestion(ctx, questions[0], wait.Approval{Approved: true, Reason: "they are copies"}, "ann", "looked at ten of them")
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(pawl.Do(ctx, store, "run-1", work))
	// Output:
	// waiting: true
	// delete "May I delete 412 files?"
	// approved: true, they are copies <nil>
}
