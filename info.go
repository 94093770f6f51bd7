package pawl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/pawlgo/pawl/internal/inbox"
	"github.com/pawlgo/pawl/internal/runid"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/runs"
)

// Runs yields all runs in the order of their file names, read one by one: runs that
// cannot be read are yielded with Err set and do not hide the others. An error ends
// the sequence. It takes no lock and changes nothing.
func (s *Store) Runs(ctx context.Context) iter.Seq2[runs.Info, error] {
	return func(yield func(runs.Info, error) bool) {
		if err := s.checkOpen("list", ""); err != nil {
			yield(runs.Info{}, err)
			return
		}
		entries, err := s.dir.Entries()
		if err != nil {
			yield(runs.Info{}, &RunError{Op: "list", Path: s.dir.Path, Err: err})
			return
		}
		for _, e := range entries {
			if ctx.Err() != nil {
				yield(runs.Info{}, &RunError{Op: "list", Path: s.dir.Path, Err: s.ended(ctx)})
				return
			}
			info, _, err := s.readRun(e.Path, e.Lock)
			if errors.Is(err, fs.ErrNotExist) {
				continue // deleted since we listed
			}
			if err != nil {
				info.ID = e.ID
			}
			if !yield(info, nil) {
				return
			}
		}
	}
}

// IDs yields the IDs of all runs that begin with prefix, without reading their
// journals (but for IDs so long that their file name holds only a part). It takes no
// lock and changes nothing.
func (s *Store) IDs(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := s.checkOpen("list", ""); err != nil {
			yield("", err)
			return
		}
		entries, err := s.dir.Entries()
		if err != nil {
			yield("", &RunError{Op: "list", Path: s.dir.Path, Err: err})
			return
		}
		for _, e := range entries {
			if ctx.Err() != nil {
				yield("", &RunError{Op: "list", Path: s.dir.Path, Err: s.ended(ctx)})
				return
			}
			id := e.ID
			if id == "" {
				info, _, err := s.readRun(e.Path, e.Lock)
				if err != nil {
					continue // Runs shows it; its ID cannot be told
				}
				id = info.ID
			}
			if strings.HasPrefix(id, prefix) && !yield(id, nil) {
				return
			}
		}
	}
}

// Owner returns the process that has a run open now, nil if none has or there is no
// such run. It reads no journal.
func (s *Store) Owner(id string) (*runs.Owner, error) {
	if err := s.checkOpen("inspect", id); err != nil {
		return nil, err
	}
	if err := runid.Check(id); err != nil {
		return nil, invalidID("inspect", id, err)
	}
	return owner(s.dir.FS, s.dir.Lock(id)), nil
}

// Inspect describes one run. It takes no lock and changes nothing. Errors match
// [ErrNotFound], [ErrCorrupt], [ErrNewerFormat]; if there is something that cannot be
// read, its ID, path and size are set all the same.
func (s *Store) Inspect(ctx context.Context, id string) (runs.Info, error) {
	info, _, err := s.inspect(ctx, "inspect", id)
	return info, err
}

// History yields every record of a run, oldest first. The JSON of an event is valid
// until the next one.
func (s *Store) History(ctx context.Context, id string) iter.Seq2[runs.Event, error] {
	return func(yield func(runs.Event, error) bool) {
		info, _, err := s.inspect(ctx, "read", id)
		if err != nil {
			yield(runs.Event{}, err)
			return
		}
		stop := errors.New("stop")
		err = s.each(info.Path, func(r *journal.Record) error {
			if ctx.Err() != nil {
				return s.ended(ctx)
			}
			if !yield(runs.Event{Seq: r.Seq, Kind: r.Kind, Key: r.Key, At: r.Time(), JSON: r.Text}, nil) {
				return stop
			}
			return nil
		})
		if err != nil && err != stop {
			yield(runs.Event{}, &RunError{Op: "read", RunID: id, Err: err})
		}
	}
}

// each calls fn for every record of a journal.
func (s *Store) each(path string, fn func(*journal.Record) error) error {
	f, err := vfs.OpenRegular(s.dir.FS, path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = journal.EachFile(f, fn)
	return err
}

func (s *Store) inspect(ctx context.Context, op, id string) (runs.Info, *journal.Fold, error) {
	if err := s.checkOpen(op, id); err != nil {
		return runs.Info{}, nil, err
	}
	if err := ctx.Err(); err != nil {
		return runs.Info{}, nil, &RunError{Op: op, RunID: id, Err: s.ended(ctx)}
	}
	if err := runid.Check(id); err != nil {
		return runs.Info{}, nil, invalidID(op, id, err)
	}
	info, fold, err := s.readRun(s.dir.Journal(id), s.dir.Lock(id))
	if errors.Is(err, fs.ErrNotExist) {
		return runs.Info{}, nil, &RunError{Op: op, RunID: id, Path: s.dir.Path, Err: ErrNotFound, Hint: "nothing was created; list the runs with: pawl ls"}
	}
	if err != nil {
		err = openError(id, s.dir.Journal(id), err)
		info.ID, info.Err = id, err
		return info, nil, err
	}
	return info, fold, nil
}

// readRun reads the journal of a run in the store.
func (s *Store) readRun(path, lockPath string) (runs.Info, *journal.Fold, error) {
	// Before the journal: what its owner takes meanwhile must be seen in one of the two.
	mail, mailErr := inbox.ReadAll(s.dir.FS, strings.TrimSuffix(path, ".jsonl")+inbox.Ext)
	info, fold, err := readRun(s.dir.FS, path, lockPath)
	if err != nil {
		return info, nil, err
	}
	if mailErr != nil {
		info.Warnings = append(info.Warnings, mailErr.Error())
	}
	// A journal copied to another name would be a second run with the first one's
	// identity.
	if want := runid.FileName(fold.Header.RunID) + ".jsonl"; want != filepath.Base(path) {
		err := &journal.CorruptError{Path: path, Seq: 1, Reason: fmt.Sprintf("it holds run %q, whose journal is %s: a copy?", fold.Header.RunID, want)}
		return runs.Info{Path: path, Size: info.Size, Err: err}, nil, err
	}
	overlay(&info, fold, mail)
	return info, fold, nil
}

// overlay shows a cancellation that is in the run's inbox: it is in force, the owner has only
// not got to it yet, or there is none.
func overlay(info *runs.Info, fold *journal.Fold, mail []inbox.Entry) {
	if fold.Status == journal.Complete || fold.Status == journal.Cancelled {
		return
	}
	for _, e := range mail {
		if e.Kind != inbox.KindCancel || e.UID != info.UID || e.Mail == fold.Mail {
			continue
		}
		fold.CancelRun(e.By, e.Reason, e.Mail, e.At, 0)
		info.Status, info.WakeAt, info.Cancel = fold.Status, fold.WakeAt, decision(e.By, e.Reason, e.At)
	}
}

func decision(by, reason string, at time.Time) *runs.Decision {
	return &runs.Decision{By: by, Reason: reason, At: at}
}

// readRun folds a journal and asks who owns it. On an error info.Err is that error.
func readRun(fsys vfs.FS, path, lockPath string) (runs.Info, *journal.Fold, error) {
	info := runs.Info{Path: path}
	st, err := fsys.Lstat(path)
	if err != nil {
		info.Err = err
		return info, nil, err
	}
	if st.Mode().IsRegular() {
		info.Size = st.Size()
	}
	// Before reading: an owner that completes the run meanwhile is better than a run
	// in progress that nobody owns.
	info.Owner = owner(fsys, lockPath)
	f, err := vfs.OpenRegular(fsys, path)
	if err != nil {
		info.Err = err
		return info, nil, err
	}
	defer f.Close()
	fold, tail, err := journal.ReadFile(f)
	if err != nil {
		info.Err = err
		return info, nil, err
	}
	info.Size = tail.End // what follows is fill, or torn
	h := fold.Header
	info.ID, info.UID, info.Kind, info.Labels, info.Input, info.Created = h.RunID, h.UID, h.RunKind, h.Labels, h.Input, h.Created
	info.Status, info.Attempts, info.Error = fold.Status, int(fold.Attempts), fold.Error
	info.Records, info.Updated, info.Torn = fold.Records, fold.LastAt(), tail.Torn
	c := fold.Counts()
	info.Done, info.Failed, info.Running, info.Waiting, info.Took = c.Done, c.Failed, c.Running, c.Waiting, c.Took
	info.Sleeping, info.Final = c.Sleeping, c.Final
	info.Spent, info.Kept, info.Budget = fold.SpentSoFar(), c.Used, fold.Budget
	info.Deadline, info.WakeAt = fold.Deadline, fold.WakeAt
	if fold.Status == journal.Cancelled {
		info.Cancel = decision(fold.Cancel.By, fold.Cancel.Reason, fold.Cancel.At)
	}
	info.Maps = mapProgress(fold)
	if p := h.Parent; p.UID != "" {
		info.Parent = &runs.Parent{ID: p.RunID, UID: p.UID, Seq: p.Seq}
	}
	return info, fold, nil
}

func mapProgress(fold *journal.Fold) []runs.Progress {
	keys := make([]string, 0, len(fold.Maps))
	for key := range fold.Maps {
		keys = append(keys, key)
	}
	sort.Slice(keys, func(i, j int) bool { return fold.Maps[keys[i]].First < fold.Maps[keys[j]].First })
	var out []runs.Progress
	counts := fold.Items()
	for _, key := range keys {
		c := counts[key]
		out = append(out, runs.Progress{RunID: fold.Header.RunID, Key: key, Done: c.Done, Failed: c.Failed, Total: int(fold.Maps[key].Total)})
	}
	return out
}
