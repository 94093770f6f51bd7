package interrupt_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlgo/pawl/interrupt"
)

func ExampleExitCode() {
	ctx := context.Background() // no signal came
	fmt.Println(interrupt.ExitCode(ctx, nil))
	fmt.Println(interrupt.ExitCode(ctx, errors.New("the disk is full")))
	// Output:
	// 0
	// 1
}
