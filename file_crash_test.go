//go:build !windows

package pawl_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/vfs"
)

const modelPath = "/dir/run.json"

// modelRun is a program on the crash model, and what a start after a power cut at
// this moment may find.
type modelRun struct {
	opts []pawl.FileOption
	fs   *crashfs.FS
	seam vfs.FS // what the program uses, if it is not fs
	may  []string
}

func openModel(fsys vfs.FS, opts []pawl.FileOption) (*pawl.Checkpoint[int], error) {
	return pawl.OpenFile[int](modelPath, append(slices.Clone(opts), pawl.WithModel(fsys))...)
}

// play does the steps; errors are expected if there are faults.
func (m *modelRun) play(steps []string) error {
	var fsys vfs.FS = m.fs
	if m.seam != nil {
		fsys = m.seam
	}
	ck, err := openModel(fsys, m.opts)
	if err != nil {
		return err
	}
	for _, step := range steps {
		m.may = append(m.may[:1], step) // while it is under way, either
		verb, arg, _ := strings.Cut(step, " ")
		var n int
		fmt.Sscan(arg, &n)
		switch verb {
		case "save":
			err = ck.Save(n)
		case "complete":
			err = ck.Complete(arg)
		case "clear":
			err = ck.Clear()
		}
		switch {
		case err == nil:
			m.may = []string{step}
		case errors.Is(err, pawl.ErrInDoubt):
			return err // either for good
		default:
			m.may = m.may[:1]
		}
	}
	return err
}

// check opens every file system that a power cut may leave now and returns how
// many were new, and what is wrong with one.
func (m *modelRun) check(seen map[string]bool) (images int, problem error) {
	for image, v := range m.fs.Images(crashfs.Limits{}) {
		key := fmt.Sprint(image.Hash(), m.may)
		if seen[key] {
			continue
		}
		seen[key] = true
		images++
		if err := m.goOn(image); err != nil {
			return images, fmt.Errorf("%v: %w", v, err)
		}
	}
	return images, nil
}

// goOn starts the program on what a power cut left.
func (m *modelRun) goOn(image *crashfs.FS) error {
	ck, err := openModel(image, m.opts)
	if err != nil {
		return fmt.Errorf("the next start fails: %w", err)
	}
	if got := outcome(ck); !slices.Contains(m.may, got) {
		return fmt.Errorf("the next start finds %q, want one of %q", got, m.may)
	}
	if err := errors.Join(ck.Clear(), ck.Save(1000)); err != nil {
		return err
	}
	if ck, err = openModel(image.Clone(), m.opts); err != nil || ck.State() != 1000 {
		return fmt.Errorf("after another save: %w", err)
	}
	return nil
}

// modelScenarios are played on the crash model; prepare leaves everything durable.
var modelScenarios = []struct {
	name    string
	opts    []pawl.FileOption
	before  []pawl.FileOption // those of prepare, if they are others
	prepare []string
	noDir   bool // the directory is not there yet
	damage  bool
	steps   []string
}{
	{name: "fresh", noDir: true, steps: []string{"save 1", "save 2", "save 3", "complete r"}},
	{
		name: "versions", opts: []pawl.FileOption{pawl.KeepVersions(2)},
		prepare: []string{"save 1", "save 2", "save 3"}, steps: []string{"save 4", "save 5", "clear", "save 6", "complete r", "clear"},
	},
	{
		name: "C08 damaged", opts: []pawl.FileOption{pawl.KeepVersions(2), pawl.FallBack(func(pawl.Recovery) {})},
		prepare: []string{"save 1", "save 2", "save 3"}, damage: true, steps: []string{"save 4", "save 5"},
	},
	{ // the version that it falls back to is one too many as soon as something is saved
		name: "damaged, keep no version", opts: []pawl.FileOption{pawl.KeepVersions(1), pawl.FallBack(func(pawl.Recovery) {})},
		before:  []pawl.FileOption{pawl.KeepVersions(2)},
		prepare: []string{"save 1", "save 2", "save 3"}, damage: true, steps: []string{"save 4", "save 5"},
	},
}

// start makes a new model for a scenario, with everything in it durable.
func startModel(t *testing.T, i int) *modelRun {
	t.Helper()
	s := modelScenarios[i]
	m := &modelRun{opts: s.opts, fs: crashfs.New(), may: []string{"clear"}}
	if !s.noDir {
		ckNil(t, m.fs.Mkdir("/dir", 0o700))
		ckNil(t, m.fs.SyncDir("/"))
	}
	if s.before != nil {
		m.opts = s.before
	}
	ckNil(t, m.play(s.prepare))
	m.opts = s.opts
	if s.damage {
		f, err := m.fs.OpenFile(modelPath, os.O_RDWR, 0)
		ckNil(t, err)
		ckNil(t, f.Truncate(7))
		ckNil(t, f.Sync())
		m.may = []string{"save 2"}
	}
	return m
}

// TestPowerCut cuts the power behind every operation. Whatever the model of a disk
// makes of it, the next start finds what was acknowledged, or what was under way,
// whole; a damaged file's bytes are never lost.
func TestPowerCut(t *testing.T) {
	for i, s := range modelScenarios {
		t.Run(s.name, func(t *testing.T) {
			m := startModel(t, i)
			seen := map[string]bool{}
			points, images := 0, 0
			m.fs.After = func(op crashfs.Op) {
				if op.Kind.Changes() && !t.Failed() {
					points++
					n, err := m.check(seen)
					if err == nil && s.damage {
						err = m.keepsDamaged()
					}
					if images += n; err != nil {
						t.Errorf("%v: %v", op, err)
					}
				}
			}
			ckNil(t, m.play(s.steps))
			t.Logf("%d images at %d points", images, points)
		})
	}
}

// keepsDamaged checks that the seven bytes of the damaged file are there.
func (m *modelRun) keepsDamaged() error {
	for image, v := range m.fs.Images(crashfs.Limits{Plain: true}) {
		found := false
		for _, name := range []string{"run.json", "run.json.damaged"} {
			f, err := image.OpenFile("/dir/"+name, os.O_RDONLY, 0)
			if err != nil {
				continue
			}
			text, _ := io.ReadAll(f)
			found = found || bytes.Equal(text, []byte(`{"state`))
		}
		if !found {
			return fmt.Errorf("%v: the damaged file is lost", v)
		}
	}
	return nil
}

// TestPowerCutAfterFault lets each operation fail, once and for good, and cuts the
// power at the end. A failed sync drops the data and goes on showing it, as real
// kernels do.
func TestPowerCutAfterFault(t *testing.T) {
	errnos, often := crashfs.Errnos, crashfs.Times
	if os.Getenv("PAWL_LONG") == "" {
		errnos = errnos[:2]
	}
	if raceEnabled {
		errnos, often = errnos[:1], often[:1]
	}
	for i, s := range modelScenarios {
		t.Run(s.name, func(t *testing.T) {
			runs, images := 0, 0
			for _, kind := range crashfs.Kinds() {
				for _, errno := range errnos {
					for _, fault := range crashfs.FaultsOf(kind, errno) {
						for _, times := range often {
							n, k, err := cutAfterFault(t, i, kind, times, fault)
							runs += n
							if images += k; err != nil {
								t.Fatalf("%v, %+v, %d times: %v", kind, fault, times, err)
							}
						}
					}
				}
			}
			t.Logf("%d runs, %d images", runs, images)
		})
	}
}

// cutAfterFault plays a scenario as often as it has operations of a kind, and lets another one
// fail each time.
func cutAfterFault(t *testing.T, i int, kind crashfs.Kind, times int, fault crashfs.Fault) (runs, images int, err error) {
	for n := 1; ; n++ {
		m := startModel(t, i)
		first := m.fs.Count(kind)
		m.fs.Fault = crashfs.Nth(kind, first+n, times, fault)
		_ = m.play(modelScenarios[i].steps)
		m.fs.Fault = nil
		if m.fs.Count(kind) < first+n {
			return runs, images, nil
		}
		runs++
		k, err := m.check(map[string]bool{})
		if images += k; err != nil {
			return runs, images, fmt.Errorf("operation %d: %w", n, err)
		}
	}
}
