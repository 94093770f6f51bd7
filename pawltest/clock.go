package pawltest

import (
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/hook"
)

// Clock gives the records of a store their times: a test that compares what is listed or
// exported gets the same on every day. Order never depends on it. Inside of
// [testing/synctest.Test] the clock of the bubble is used without it.
func Clock(now func() time.Time) pawl.StoreOption {
	return hook.StoreClock(now).(pawl.StoreOption)
}
