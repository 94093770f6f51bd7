// Package hook lets other packages of this module reach what the root package does not
// export: users should not see it in their documentation.
package hook

import (
	"context"
	"time"

	"github.com/pawlgo/pawl/internal/series"
	"github.com/pawlgo/pawl/internal/vfs"
)

// StoreFS returns a pawl.StoreOption that makes a store live in a file system. The root
// package sets it; a program that has not imported that one cannot use it.
var StoreFS func(vfs.FS) any

// StoreClock returns a pawl.StoreOption that gives a store's records their times. The root
// package sets it.
var StoreClock func(func() time.Time) any

// ScopeOfKey returns ctx with the scope of a step or item, by its full key, whose names are
// escaped: pawl.Scope takes a slash for a border. The root package sets it.
var ScopeOfKey func(ctx context.Context, key string) context.Context

// Gate is what each try of a step passes before its function runs.
type Gate interface {
	// Acquire waits until the function may run. Release is called when it has returned.
	Acquire(ctx context.Context) (release func(), err error)
	// Pause is told that the service asked to be left alone for d: by the error of a try.
	Pause(d time.Duration)
}

// StepGate returns a pawl.StepOption that makes each try pass a gate. The root package
// sets it.
var StepGate func(Gate) any

// What the packages retry, wait and meter make of the root package's runs and steps. Each that
// returns any returns an option of the root package, which sets all of them.
var (
	Retry      func(p series.Policy, timeout time.Duration) any
	Timeout    func(d time.Duration) any
	KeepError  func(pred func(error) bool) any
	MaxCrashes func(n int) any

	Sleep    func(ctx context.Context, key string, until time.Time, d time.Duration) error
	Yield    func(d time.Duration) any
	Deadline func(d time.Duration) any

	Within  func(d time.Duration) any
	Default func(v any) any
	Block   func(d time.Duration) any

	Meter  func(ctx context.Context, unit string, amount float64) error
	Budget func(unit string, limit float64) any
)
