//go:build !linux

package bench

import (
	"os"
	"testing"
)

func sync(b *testing.B, f *os.File) {
	b.Helper()
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
}
