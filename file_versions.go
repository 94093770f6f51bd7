package pawl

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pawlgo/pawl/internal/statefile"
	"github.com/pawlgo/pawl/internal/vfs"
)

// version is an older state, a whole file of its own.
type version struct {
	generation int64
	path       string
}

// listVersions finds the kept versions, oldest first, if they matter. Without
// KeepVersions and FallBack they are left alone, and a directory with very many
// files costs nothing.
func (b *fileBacking) listVersions() error {
	if !b.cfg.keepAsked && b.cfg.fallBack == nil {
		return nil
	}
	return b.scanVersions()
}

func (b *fileBacking) scanVersions() error {
	names, err := b.fs.ReadDir(b.dir())
	if err != nil {
		return err
	}
	b.versions = nil
	for _, name := range names {
		if g, ok := parseVersion(filepath.Base(b.path), name); ok {
			b.versions = append(b.versions, version{g, filepath.Join(b.dir(), name)})
			b.top = max(b.top, g)
		}
	}
	b.sortVersions()
	return nil
}

// sortVersions orders by the number in the name: clocks go backwards.
func (b *fileBacking) sortVersions() {
	slices.SortStableFunc(b.versions, func(x, y version) int { return cmp.Compare(x.generation, y.generation) })
}

// parseVersion reads the generation from the name of a version of base. Behind a
// tilde stands a number that tells two files of one generation apart.
func parseVersion(base, name string) (int64, bool) {
	rest, ok := strings.CutPrefix(name, base+versionSuffix)
	digits, _, _ := strings.Cut(rest, "~")
	if !ok || len(digits) < 12 {
		return 0, false
	}
	g, err := strconv.ParseInt(digits, 10, 64)
	return g, err == nil && g > 0
}

// newestGood returns the newest version that can be read, nil if there is none.
func (b *fileBacking) newestGood() (*version, *statefile.Record, error) {
	if err := b.scanVersions(); err != nil {
		return nil, nil, err
	}
	for _, v := range slices.Backward(b.versions) {
		data, _, err := b.readFile(v.path)
		if err != nil {
			continue
		}
		rec, err := statefile.Decode(data)
		if err == nil {
			return &v, rec, nil
		}
		if e, ok := errors.AsType[*statefile.Error](err); ok && e.Newer {
			return nil, nil, fmt.Errorf("%w: version %s: %w", ErrNewerFormat, v.path, e)
		}
	}
	return nil, nil, nil
}

// goBack goes on from the newest good version. The damaged file stays at its
// path until the next save: were it moved away now and the process killed, the
// next start would find no file and start over.
func (b *fileBacking) goBack(damage *RunError) error {
	v, rec, err := b.newestGood()
	if err != nil {
		return b.fail("open", err, untouched)
	}
	if v == nil {
		damage.Hint += "; there is no good version to fall back to"
		return damage
	}
	rec.Generation = v.generation
	b.adopt(rec)
	b.top++ // the damaged one had a generation too; it is not given out again
	b.text = nil
	b.damaged = true
	b.recovery = &Recovery{Path: b.path, Err: damage, From: v.path, Generation: v.generation, Aside: b.beside(damagedSuffix)}
	return nil
}

// preserve gives the file at the path a second name before a save or a clear
// takes the first one away, if it is to be kept. Until then both names mean one
// file, so at no moment is there less than there was.
//
// If the file holds what nothing else holds, the second name is synced first: a
// power cut may keep of two changes to a directory only the later one. Before an
// ordinary save that flush is not spent. A power cut in its midst may then cost
// the version before it, never the newer one.
func (b *fileBacking) preserve(clearing bool) error {
	switch {
	case b.cur.absent():
		return nil
	case b.damaged:
		if _, err := b.linkFree(b.beside(damagedSuffix)); err != nil {
			return err
		}
	case b.cfg.keep > 1 || b.cfg.keepAsked && clearing:
		g := b.rec.Generation
		path, err := b.linkFree(b.beside(fmt.Sprintf("%s%012d", versionSuffix, g)))
		if err != nil {
			return err
		}
		known := func(v version) bool { return v.path == path }
		if !slices.ContainsFunc(b.versions, known) {
			b.versions = append(b.versions, version{g, path})
			b.sortVersions()
		}
	default:
		return nil
	}
	if !clearing && !b.damaged {
		return nil
	}
	if err := b.fs.SyncDir(b.dir()); err != nil && !vfs.IsUnsupported(err) {
		return err
	}
	return nil
}

// linkFree makes name another name of the file, or name~1, name~2 and so on if
// others have it: nothing is ever overwritten. A name that holds the same bytes
// already, as after a kill between link and rename, is good as it is.
func (b *fileBacking) linkFree(name string) (string, error) {
	for k := 0; ; k++ {
		to := name
		if k > 0 {
			to = fmt.Sprint(name, "~", k)
		}
		err := b.fs.Link(b.path, to)
		if err == nil {
			return to, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			// FAT and some network file systems have no hard links, and a kernel
			// may forbid them for files of others.
			err = b.copyFile(to)
		}
		switch {
		case err == nil:
			return to, nil
		case !errors.Is(err, fs.ErrExist) || k == 1000:
			return "", err
		case b.holdsSame(to):
			return to, nil
		}
	}
}

// copyFile is Link for file systems without it. It fails with fs.ErrExist.
func (b *fileBacking) copyFile(to string) error {
	switch _, err := b.fs.Lstat(to); {
	case err == nil:
		return fs.ErrExist
	case !isAbsent(err):
		return err
	}
	data, id, err := b.readFile(b.path)
	if err != nil {
		return err
	}
	if !id.sameContent(b.cur) {
		return fmt.Errorf("%w: it changed while it was copied", ErrReplaced)
	}
	if _, err := b.writeFile(copySuffix, data); err != nil {
		return err
	}
	if err := b.fs.Rename(b.beside(copySuffix), to); err != nil {
		_ = b.removeLeftover(copySuffix)
		return err
	}
	return nil
}

func (b *fileBacking) holdsSame(path string) bool {
	_, id, err := b.readFile(path)
	return err == nil && id.sameContent(b.cur)
}

// prune removes the oldest versions beyond the number to keep. The caller has
// made the newer state durable.
func (b *fileBacking) prune() {
	if !b.cfg.keepAsked {
		return
	}
	keep := b.cfg.keep
	if !b.cur.absent() {
		keep-- // the file itself
	}
	for len(b.versions) > keep {
		if err := b.fs.Remove(b.versions[0].path); err != nil && !isAbsent(err) {
			b.warn("an old version could not be removed: " + err.Error())
			return
		}
		b.versions = b.versions[1:]
	}
}
