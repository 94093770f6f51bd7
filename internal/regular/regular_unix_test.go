//go:build unix

package regular_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/regular"
)

// TestOpen: rules 21, what is no plain file is refused at once, a FIFO without waiting for its
// other end, also if it comes between the look and the opening.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := regular.Open(plain)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4)
	if _, err := f.ReadAt(b, 0); err != nil || string(b) != "text" {
		t.Errorf("%q, %v", b, err)
	}
	f.Close()
	fi, err := os.Lstat(plain)
	if err != nil {
		t.Fatal(err)
	}
	for what, make := range map[string]func(string) error{
		"a FIFO":      func(p string) error { return syscall.Mkfifo(p, 0o600) },
		"a link":      func(p string) error { return os.Symlink(plain, p) },
		"a directory": func(p string) error { return os.Mkdir(p, 0o700) },
	} {
		path := filepath.Join(dir, strings.ReplaceAll(what, " ", "-"))
		if err := make(path); err != nil {
			t.Skip("NOT TESTED: ", err)
		}
		errs := map[string]func() error{
			"open": func() error { _, err := regular.Open(path); return err },
			"raced": func() error {
				_, err := regular.OpenWith(path, func(string) (fs.FileInfo, error) { return fi, nil },
					func(name string, flag int) (*os.File, error) { return os.OpenFile(name, flag, 0) })
				return err
			},
		}
		for name, open := range errs {
			ended := time.AfterFunc(10*time.Second, func() { panic("opening " + what + " does not end") })
			err := open()
			ended.Stop()
			if !errors.Is(err, fs.ErrInvalid) && !(name == "raced" && errors.Is(err, syscall.ELOOP)) {
				t.Errorf("%s, %s: %v", what, name, err)
			}
		}
	}
	if _, err := regular.Open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}
