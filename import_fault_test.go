package pawl_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/hook"
	"github.com/pawlgo/pawl/internal/lock"
	"github.com/pawlgo/pawl/internal/memfs"
	"github.com/pawlgo/pawl/internal/vfs"
)

// lockingFS is a file system that can fail, with locks that cannot.
type lockingFS struct {
	*crashfs.FS
	locks *memfs.FS
}

func (f lockingFS) AcquireLock(path string) (vfs.Lock, error) { return f.locks.AcquireLock(path) }

func (f lockingFS) ProbeLock(path string) (lock.Owner, bool, error) { return f.locks.ProbeLock(path) }

func storeOn(t *testing.T, fsys *crashfs.FS) *pawl.Store {
	t.Helper()
	s, err := pawl.Open("/store", hook.StoreFS(lockingFS{fsys, memfs.New()}).(pawl.StoreOption))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestImportFaults fails every operation of an import, once: the run is there, whole, or it
// is not, and then it can be imported. Nothing else is left.
func TestImportFaults(t *testing.T) {
	from := openStore(t)
	interruptedRun(t, from)
	data := export(t, from)
	records := inspect(t, from).Records
	runs, failed, doubtful := 0, 0, 0
	for _, kind := range crashfs.Kinds() {
		for n := 1; ; n++ {
			base := crashfs.New()
			s := storeOn(t, base)
			before := base.Count(kind)
			base.Fault = crashfs.Nth(kind, before+n, 1, crashfs.Fault{Err: syscall.ENOSPC, Short: 100})
			_, err := s.Import(t.Context(), bytes.NewReader(data), "")
			base.Fault = nil
			if base.Count(kind) < before+n {
				break
			}
			runs++
			where := fmt.Sprintf("%v %d", kind, n)
			info, lookErr := s.Inspect(t.Context(), "r")
			switch {
			case err == nil && lookErr == nil, errors.Is(err, pawl.ErrInDoubt) && lookErr == nil:
				if err != nil {
					doubtful++
				}
			case err != nil && errors.Is(lookErr, pawl.ErrNotFound):
				failed++
				if !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("%s: the error %v hides its cause", where, err)
				}
				if _, err := s.Import(t.Context(), bytes.NewReader(data), ""); err != nil {
					t.Errorf("%s: the next import: %v", where, err)
				}
				info = mustInspect(t, s, "r")
			default:
				t.Errorf("%s: imported: %v, and looking: %v", where, err, lookErr)
			}
			if info.Records != records {
				t.Errorf("%s: %d records, want %d", where, info.Records, records)
			}
			for _, name := range base.Files() {
				if strings.HasPrefix(name, "/store/runs/") && name != "/store/runs/r.jsonl" && kind != crashfs.Remove {
					t.Errorf("%s: %s is left", where, name)
				}
			}
		}
	}
	t.Logf("%d runs: %d failed, %d in doubt", runs, failed, doubtful)
	if failed < 5 {
		t.Error("too little failed")
	}
}
