//go:build unix

package interrupt_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/interrupt"
)

// SIGTERM comes in the second step, which sees that its context is done and returns. The next
// start goes on there.
func ExampleContext() {
	dir, err := os.MkdirTemp("", "pawl-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	program := func(deploy bool) (exitCode int) {
		ctx, stop := interrupt.Context(context.Background(), 10*time.Second)
		defer stop()
		store, err := pawl.Open(dir)
		if err != nil {
			log.Fatal(err)
		}
		defer store.Close()
		_, err = pawl.Do(ctx, store, "run-1", func(ctx context.Context) (string, error) {
			for _, key := range []string{"fetch", "analyze", "report"} {
				_, err := pawl.Step(ctx, key, func(ctx context.Context) (string, error) {
					if deploy && key == "analyze" {
						syscall.Kill(os.Getpid(), syscall.SIGTERM)
						<-ctx.Done()
						return "", context.Cause(ctx)
					}
					fmt.Println("done:", key)
					return key, nil
				})
				if err != nil {
					return "", err
				}
			}
			return "done", nil
		})
		fmt.Println("error:", err)
		return interrupt.ExitCode(ctx, err) // for os.Exit
	}
	fmt.Println("exit code", program(true))
	fmt.Println("exit code", program(false))
	// Output:
	// done: fetch
	// error: stopped by SIGTERM
	// exit code 143
	// done: analyze
	// done: report
	// error: <nil>
	// exit code 0
}

// A loop over one state looks at the context between two saves.
func ExampleContext_loop() {
	dir, err := os.MkdirTemp("", "pawl-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	type State struct {
		Next int `json:"next"`
	}
	docs := []string{"alpha", "beta", "gamma"}

	work := func(ctx context.Context) error {
		ck, err := pawl.OpenFile[State](filepath.Join(dir, "run.json"))
		if err != nil {
			return err
		}
		defer ck.Close()
		st := ck.State()
		for st.Next < len(docs) {
			if ctx.Err() != nil {
				break
			}
			fmt.Println("reading", docs[st.Next])
			if st.Next == 1 {
				syscall.Kill(os.Getpid(), syscall.SIGINT) // Ctrl-C
				<-ctx.Done()
			}
			st.Next++
			if err := ck.Save(st); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return ck.Complete("all read")
	}

	for range 2 {
		ctx, stop := interrupt.Context(context.Background(), 10*time.Second)
		err := work(ctx)
		fmt.Println(err, interrupt.ExitCode(ctx, err))
		stop()
	}
	// Output:
	// reading alpha
	// reading beta
	// stopped by SIGINT 130
	// reading gamma
	// <nil> 0
}
