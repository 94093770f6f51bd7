package pawltest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/pawltest"
)

// A job is tested twice over: it fails half-way, and goes on where it stopped.
func ExampleNewStore() {
	var t testing.TB = &inExample{} // func TestReport(t *testing.T) gives you one
	store := pawltest.NewStore(t)

	paid := 0 // what must not be paid for twice
	report := func(fail bool) (string, error) {
		return pawl.Do(context.Background(), store, "report", func(ctx context.Context) (string, error) {
			text, err := pawl.Step(ctx, "research", func(context.Context) (string, error) {
				paid++
				return "findings", nil
			})
			if err != nil {
				return "", err
			}
			if fail {
				return "", errors.New("the network is down")
			}
			return "report on " + text, nil
		})
	}
	_, err := report(true)
	fmt.Println("first:", err)
	text, err := report(false)
	fmt.Println("second:", text, err)
	fmt.Println("paid:", paid)
	// Output:
	// first: the network is down
	// second: report on findings <nil>
	// paid: 1
}

// inExample is what an example has instead of a test.
type inExample struct{ testing.TB }

func (*inExample) Helper()        {}
func (*inExample) Cleanup(func()) {}
