package vfs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestIdentifyInterrupted: rule 19. On a network file system statx may be interrupted by a signal,
// which the Go runtime sends all the time; and of other errors none is passed over.
func TestIdentifyInterrupted(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	real := statx
	defer func() { statx = real }()
	for _, c := range []struct {
		errno unix.Errno
		times int // of each two calls, how often it fails
		good  bool
	}{{unix.EINTR, 3, true}, {unix.EIO, 1, false}, {unix.ESTALE, 1, false}, {unix.ENOSYS, 1, true}} {
		for _, byName := range []bool{false, true} {
			// Anew: what file is open is asked once.
			f, err := OS.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			statx = func(fd int, path string, flags, mask int, st *unix.Statx_t) error {
				if (path != "") == byName && n < c.times {
					n++
					return c.errno
				}
				return real(fd, path, flags, mask, st)
			}
			good := c.good && (!byName || c.errno != unix.ENOSYS)
			if same, _, err := OS.(osFS).Identify(f, name); (err == nil && same) != good || err != nil && !errors.Is(err, c.errno) {
				t.Errorf("%v, by name %v: same %v, %v", c.errno, byName, same, err)
			}
			f.Close()
		}
	}
}
