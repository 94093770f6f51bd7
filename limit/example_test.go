package limit_test

import (
	"context"
	"fmt"
	"time"

	"github.com/pawlgo/pawl/limit"
)

// A limiter is mostly an option of a step. By hand it does the same for what is not one.
func ExampleLimiter_Acquire() {
	search := limit.New("search", 2, limit.PerSecond(50))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	begin := time.Now()
	for range 3 {
		release, err := search.Acquire(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		// call the service here
		release()
	}
	fmt.Println("three calls, 20 ms apart:", time.Since(begin) >= 40*time.Millisecond)
	// Output: three calls, 20 ms apart: true
}

// What cannot be is an error where it is used, not where it is declared.
func ExampleNew() {
	limit.New("translate", 4, limit.PerMinute(60))
	_, err := limit.New("translate", 4, limit.PerMinute(90)).Acquire(context.Background())
	fmt.Println(err)
	// Output: pawl: wait for limiter "translate": invalid: limit/example_test.go:33 has 4 at once, 60 in 1m0s, but limit/example_test.go:34 has 4 at once, 90 in 1m0s; give both the same numbers, or each a name of its own (docs/errors.md#errinvalid)
}
