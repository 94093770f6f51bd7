package pawl_test

import (
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// hold opens a file as a scanner or an indexer does: nobody may delete or replace
// it meanwhile.
func hold(t *testing.T, path string) (release func()) {
	t.Helper()
	name, err := windows.UTF16PtrFromString(path)
	ckNil(t, err)
	h, err := windows.CreateFile(name, windows.GENERIC_READ, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE, nil, windows.OPEN_EXISTING, 0, 0)
	ckNil(t, err)
	return func() { ckNil(t, windows.CloseHandle(h)) }
}

// Rule 23, C-41: held for a moment, a save waits; held for long, it says so and the old state
// stays.
func TestC41HeldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	ck := ckOpen[int](t, path)
	ckNil(t, ck.Save(1))

	release := hold(t, path)
	time.AfterFunc(300*time.Millisecond, release)
	ckNil(t, ck.Save(2))

	release = hold(t, path)
	err := ck.Save(3)
	ckWant(t, err, nil, "what was last saved is intact")
	release()
	ckNil(t, ck.Save(4))
	ckNil(t, ck.Close())
	if got := ckOpen[int](t, path).State(); got != 4 {
		t.Errorf("at the end %d", got)
	}
	if names := ckNames(t, filepath.Dir(path)); len(names) != 1 {
		t.Errorf("left over: %q", names)
	}
}
