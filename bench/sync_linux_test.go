package bench

import (
	"os"
	"syscall"
	"testing"
)

func sync(b *testing.B, f *os.File) {
	b.Helper()
	if err := syscall.Fdatasync(int(f.Fd())); err != nil {
		b.Fatal(err)
	}
}
