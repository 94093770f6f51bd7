package main

import (
	"fmt"
	"os"
)

// watch, unless it is nil, is told where the work is: before a step, when its function has begun, when it
// has had its effect, and when pawl has acknowledged its result. Tests write that down and kill
// the process there.
type watch func(what, where string, result []byte)

func (w watch) see(what, where string, result []byte) {
	if w != nil {
		w(what, where, result)
	}
}

// dieAt kills the process at a place such as "effect turn/1/model", for demonstrations.
func dieAt(place string) watch {
	if place == "" {
		return nil
	}
	return func(what, where string, _ []byte) {
		if what+" "+where == place {
			fmt.Fprintln(os.Stderr, "agent: kill -9 at", place)
			die()
		}
	}
}

// die ends the process as kill -9 does: nothing deferred runs, nothing is flushed.
func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		self.Kill() //nolint:errcheck // it cannot fail for oneself
	}
	select {} // the signal is on its way
}
