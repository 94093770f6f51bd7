package eino_test

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// children are programs that tests run as processes of their own, by executing the test binary
// again. Only a real process can really die.
var children = map[string]func() error{}

func TestMain(m *testing.M) {
	name := os.Getenv("PAWL_TEST_CHILD")
	if name == "" {
		os.Exit(m.Run())
	}
	if err := children[name](); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// ctx shortens the signatures of functions in tests.
type ctx = context.Context
