package journalfile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// errnos and faultsOf are what all tests of faults share.
var errnos, faultsOf = crashfs.Errnos, crashfs.FaultsOf

// torn is a journal of three records with a torn tail that holds half a record.
func torn(t *testing.T) (*crashfs.FS, *model) {
	base, m := crashfs.New(), &model{lying: true}
	base.Mkdir(dir, 0o700) //nolint:errcheck // an empty file system
	base.SyncDir("/")      //nolint:errcheck // as above
	j, err := m.create(base, body(journal.KindRun, 1, 100))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if err := m.append(base, j, body(journal.KindStep, i+2, 500), true); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	whole := base.AppendBytes(nil, path)
	if err := m.append(base, reopened(t, base), body(journal.KindStep, 4, 900), true); err != nil {
		t.Fatal(err)
	}
	more := base.AppendBytes(nil, path)
	m.bodies, m.lines, m.alive, m.acked = m.bodies[:3], m.lines[:3], 3, 3
	fresh := crashfs.New()
	fresh.Mkdir(dir, 0o700) //nolint:errcheck // as above
	fresh.SyncDir("/")      //nolint:errcheck // as above
	fresh.Put(path, more[:len(whole)+600])
	return fresh, m
}

func reopened(t *testing.T, base *crashfs.FS) *journalfile.File {
	j, _, _, err := journalfile.Open(base, path, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// faultRun is a short life of a journal in which one kind of operation fails.
type faultRun struct {
	base  *crashfs.FS
	m     *model
	errno syscall.Errno
	hurt  bool // a failure was reported
	dead  bool // the handle takes nothing any more
}

// live creates or opens the journal, and appends, closes, opens and appends.
func (r *faultRun) live(exists bool) error {
	var j *journalfile.File
	var err error
	if exists {
		j, err = r.open()
	} else {
		j, err = r.m.create(r.base, body(journal.KindRun, 1, 100))
	}
	if err != nil {
		return r.expect("create or open", err)
	}
	for _, reopen := range []bool{false, true} {
		if reopen {
			closeErr := j.Close()
			if closeErr == nil && !r.dead {
				r.m.acked = r.m.alive
			} else if closeErr == nil {
				// it reported when it died
			} else if err := r.expect("close", closeErr); err != nil {
				return err
			}
			if j, err = r.open(); err != nil {
				return r.expect("open", err)
			}
		}
		for i := 0; i < 5 && !r.dead; i++ {
			size := []int{30, 700, 20, 5000, 40}[i]
			if err := r.append(j, size, i != 1); err != nil {
				return err
			}
		}
	}
	if err := j.Close(); err != nil {
		return r.expect("close", err)
	}
	if !r.dead {
		r.m.acked = r.m.alive
	}
	return nil
}

func (r *faultRun) open() (*journalfile.File, error) {
	j, _, _, err := journalfile.Open(r.m.fs(r.base), path, func(string) {})
	if err != nil {
		return nil, err
	}
	n, err := r.m.compare(r.base, r.m.acked)
	if err != nil {
		return nil, err
	}
	r.m.settle(r.base, n)
	r.dead = false
	return j, nil
}

// append appends and, where that fails, checks what the error promises.
func (r *faultRun) append(j *journalfile.File, size int, durable bool) error {
	err := r.m.append(r.base, j, body(journal.KindStep, r.m.alive+1, size), durable)
	if err == nil {
		return nil
	}
	if bad := r.expect("append", err); bad != nil {
		return bad
	}
	if !errors.Is(err, journalfile.ErrInDoubt) {
		// Invariant 8: it is absent, now and after any power cut.
		r.m.bodies = r.m.bodies[:r.m.alive]
		if _, err := r.m.compare(r.base, r.m.alive); err != nil {
			return fmt.Errorf("invariant 8: after a failed append: %w", err)
		}
		return nil
	}
	r.dead = true
	// Invariant 7, rule 3: without the fault, too, the handle takes nothing.
	fault := r.base.Fault
	r.base.Fault = nil
	defer func() { r.base.Fault = fault }()
	before := r.base.AppendBytes(nil, path)
	if _, err := j.Append(body(journal.KindStep, 99, 10), true); !errors.Is(err, journalfile.ErrInDoubt) {
		return fmt.Errorf("invariant 7: appended after a failed flush: %v", err)
	}
	if err := j.Sync(); !errors.Is(err, journalfile.ErrInDoubt) && j.Durable() != j.Seq() {
		return fmt.Errorf("invariant 7: flushed after a failed flush: %v", err)
	}
	if after := r.base.AppendBytes(nil, path); string(before) != string(after) {
		return errors.New("invariant 7: a poisoned handle wrote")
	}
	return nil
}

// expect checks the class of an error: the cause is there for errors.Is, and it is
// neither damage nor absence nor a replaced file.
func (r *faultRun) expect(what string, err error) error {
	r.hurt = true
	switch {
	case err == nil, !errors.Is(err, r.errno),
		errors.Is(err, journal.ErrCorrupt), errors.Is(err, fs.ErrNotExist), errors.Is(err, journalfile.ErrReplaced):
		return fmt.Errorf("%s: the error is %w", what, err)
	}
	return nil
}

// after checks what is left once the fault is gone: for the next process at once, and
// for one after a power cut.
func (r *faultRun) after() error {
	r.base.Fault = nil
	l := crashfs.Limits{Sectors: 3, Plain: true}
	if scale() < 1 {
		l.Sectors = 1
	}
	for img, v := range r.base.Images(l) {
		if _, _, err := r.m.open(img, r.m.acked); err != nil {
			return fmt.Errorf("after a power cut (%v): %w", v, err)
		}
	}
	base := r.base.Clone()
	j, n, err := r.m.open(base, r.m.acked)
	if err != nil {
		return fmt.Errorf("opening again: %w", err)
	}
	if j == nil {
		_, err := r.m.create(base, body(journal.KindRun, 1, 100))
		return err
	}
	// What opening found is durable, whatever the page cache had said (rule 4).
	again := &model{wrap: r.m.wrap, lying: true, bodies: r.m.bodies[:n], lines: r.m.lines}
	again.settle(base, n)
	for range 2 {
		for img, v := range base.Images(l) {
			if _, _, err := again.open(img, again.acked); err != nil {
				return fmt.Errorf("after opening again, power cut (%v): %w", v, err)
			}
		}
		if err := again.append(base, j, body(journal.KindStep, n+1, 50), true); err != nil {
			return fmt.Errorf("appending again: %w", err)
		}
	}
	return nil
}

// faults runs the journal with every fault of some errors, and returns the number
// of runs, of those in which the fault was reported, and what went wrong first.
func faults(t *testing.T, wrap func(vfs.FS) vfs.FS, errnos []syscall.Errno, times []int) (runs, hurt int, err error) {
	for _, exists := range []bool{false, true} {
		for _, kind := range crashfs.Kinds() {
			for _, errno := range errnos {
				if kind == crashfs.SyncDir && errno == syscall.EINVAL {
					continue // no failure: the file system has no such thing
				}
				for _, fault := range faultsOf(kind, errno) {
					for _, times := range times {
						for n := 1; ; n++ {
							r := newFaultRun(t, wrap, exists, errno)
							first := r.base.Count(kind)
							r.base.Fault = crashfs.Nth(kind, first+n, times, fault)
							err := r.live(exists)
							if r.base.Count(kind) < first+n {
								break
							}
							if err == nil {
								err = r.after()
							}
							runs++
							if r.hurt {
								hurt++
							}
							if err != nil {
								return runs, hurt, fmt.Errorf("torn %v, %v %d of %d times, %+v: %w", exists, kind, n, times, fault, err)
							}
						}
					}
				}
			}
		}
	}
	return runs, hurt, nil
}

func newFaultRun(t *testing.T, wrap func(vfs.FS) vfs.FS, exists bool, errno syscall.Errno) *faultRun {
	r := &faultRun{base: crashfs.New(), m: &model{lying: true}, errno: errno}
	if exists {
		r.base, r.m = torn(t)
	} else {
		r.base.Mkdir(dir, 0o700) //nolint:errcheck // an empty file system
		r.base.SyncDir("/")      //nolint:errcheck // as above
	}
	r.m.wrap = wrap
	return r
}

// TestFaults fails every operation of every kind in every way, once, twice and for
// good: invariants 1, 2, 3, 7, 8; rules 2, 3, 4, 19, 20, 25.
func TestFaults(t *testing.T) {
	errs, times := errnos, crashfs.Times
	if scale() < 1 {
		errs, times = errnos[:1], []int{1}
	}
	runs, hurt, err := faults(t, nil, errs, times)
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d runs with a fault, %d in which it was reported", runs, hurt)
}

// TestWithoutDirectorySync: a file system that cannot sync directories is warned
// about, and worked on.
func TestWithoutDirectorySync(t *testing.T) {
	r := newFaultRun(t, nil, false, syscall.EINVAL)
	r.base.Fault = crashfs.Nth(crashfs.SyncDir, 1, -1, crashfs.Fault{Err: syscall.EINVAL})
	var warnings []string
	j, err := journalfile.Create(r.base, path, body(journal.KindRun, 1, 100), func(s string) { warnings = append(warnings, s) })
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], dir) {
		t.Fatalf("%v, warnings %q", err, warnings)
	}
	if _, err := j.Append(body(journal.KindStep, 2, 10), true); err != nil {
		t.Error(err)
	}
}
