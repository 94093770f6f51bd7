package pawl

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/regular"
	"github.com/pawlgo/pawl/internal/statefile"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/runs"
)

// InspectFile describes a checkpoint by its path: the JSON file of [OpenFile], the
// Python original's included, or a journal, that of [OpenState] or of a run. Kind is
// then "file" or "state", or what the run was given. It takes no lock and changes
// nothing. If there is something that cannot be read, its ID, path, size and owner are set
// all the same. Errors match [ErrNotFound], [ErrInvalid] (not a regular file),
// [ErrCorrupt], [ErrNewerFormat], or come from the operating system.
func InspectFile(path string) (runs.Info, error) {
	resolved, err := resolveFile(newFileConfig(nil).fs, path)
	if err != nil {
		return runs.Info{}, &RunError{Op: "inspect", Path: path, Err: err}
	}
	fi, err := os.Lstat(resolved)
	if err == nil {
		err = checkRegular(fi)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return runs.Info{}, &RunError{Op: "inspect", Path: path, Err: ErrNotFound, Hint: "nothing was created; check the path"}
	}
	if err != nil {
		return runs.Info{}, &RunError{Op: "inspect", Path: path, Err: err}
	}
	isJournal, err := looksLikeJournal(resolved)
	if err != nil {
		return runs.Info{}, &RunError{Op: "inspect", Path: path, Err: err}
	}
	lockPath := resolved + lockSuffix
	broken := runs.Info{ID: filepath.Base(resolved), Path: resolved, Size: fi.Size(), Owner: owner(vfs.OS, lockPath)}
	if isJournal {
		info, fold, err := readRun(vfs.OS, resolved, lockPath)
		if err != nil {
			broken.Err = openError("", resolved, err)
			return broken, broken.Err
		}
		if why := otherName(resolved, fold.Header); why != "" {
			info.Warnings = append(info.Warnings, why)
		}
		if fold.Header.Store != "" {
			info.Owner = owner(vfs.OS, strings.TrimSuffix(resolved, ".jsonl")+lockSuffix)
		}
		return info, nil
	}
	data, err := readRegular(resolved)
	if err != nil {
		return runs.Info{}, &RunError{Op: "inspect", Path: path, Err: err}
	}
	b := &fileBacking{cfg: newFileConfig(nil), path: resolved, cur: identity{info: fi, size: int64(len(data))}}
	b.fs = b.cfg.fs
	rec, err := statefile.Decode(data)
	if err != nil {
		broken.Err = b.refused(data, err)
		return broken, broken.Err
	}
	b.adopt(rec)
	info := runs.Info{
		ID: filepath.Base(resolved), Kind: "file", Status: runs.InProgress, Updated: rec.At.UTC(),
		Records: rec.Generation, Size: int64(len(data)), Path: resolved, Owner: broken.Owner, Warnings: b.cfg.warnings,
	}
	if rec.Complete {
		info.Status = runs.Complete
	}
	return info, nil
}

// looksLikeJournal decides by how the file begins, and by its name if that says
// nothing.
func looksLikeJournal(path string) (bool, error) {
	f, err := regular.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, 16)
	n, err := f.Read(head)
	if err != nil {
		n = 0 // empty: the name decides
	}
	return bytes.HasPrefix(head[:n], []byte(line.Prefix)) || strings.HasSuffix(path, ".jsonl"), nil
}

func readRegular(path string) ([]byte, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// owner returns who holds a lock now, nil if nobody does.
func owner(fsys vfs.FS, lockPath string) *runs.Owner {
	o, held, err := vfs.ProbeLock(fsys, lockPath)
	if err != nil || !held {
		return nil
	}
	return &runs.Owner{Host: o.Host, PID: o.PID, Since: o.Since}
}
