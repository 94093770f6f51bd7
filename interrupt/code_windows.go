package interrupt

import "os"

// statusControlCExit is what a program ends with that does not handle Ctrl-C.
const statusControlCExit uint32 = 0xC000013A

// code is the exit code after a signal.
func code(os.Signal) int {
	status := statusControlCExit
	return int(status) // negative where int has 32 bits; os.Exit makes it what it was
}
