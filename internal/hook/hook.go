// Package hook lets other packages of this module reach what the root package does not
// export: users should not see it in their documentation.
package hook

import (
	"context"
	"time"

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
