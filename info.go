package pawl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/pawlgo/pawl/internal/runid"
	"github.com/pawlgo/pawl/journal"
)

// Status is the state of a run.
type Status = journal.Status

// Statuses of a run.
const (
	StatusInProgress = journal.InProgress // has work left: going on now, or interrupted
	StatusComplete   = journal.Complete   // has its result
	StatusFailed     = journal.Failed     // its last attempt ended with an error; the next start tries again
)

// Owner is the process that has a run open.
type Owner struct {
	Host  string
	PID   int
	Since time.Time
}

// RunInfo is what can be said of a run without loading payloads.
type RunInfo struct {
	ID       string
	UID      string
	Kind     string // as given with RunKind
	Status   Status
	Owner    *Owner // nil if no process has it open now
	Attempts int
	Done     int           // steps with a result
	Failed   int           // steps whose last try failed
	Running  int           // steps started and not ended: under way, or in doubt if there is no owner
	Took     time.Duration // time that the finished steps took, nested ones within the outer one
	Maps     []Progress    // each Map's progress, in the order of their start
	Created  time.Time     // by the clock of the machine that created it
	Updated  time.Time     // of the newest record
	Error    string        // why the last attempt failed
	Input    []byte        // canonical JSON of the run's input, nil if absent or large
	Records  int64         // records in the journal, or saves of a JSON file
	Size     int64         // bytes that they take
	Torn     int64         // bytes behind the last record: being written now, or left by a crash
	Path     string        // journal file
	Warnings []string
	// Err says why the run cannot be read: then only ID (if it could be told), Path
	// and Size are set. It matches ErrCorrupt or ErrNewerFormat, or comes from the
	// operating system.
	Err error
}

// StepInfo is what can be said of a step without loading its result.
type StepInfo struct {
	Key    string
	Status string // "done", "failed" or "running"
	Item   bool   // an item of a Map
	Tries  int    // over all attempts
	Took   time.Duration
	Ended  time.Time // zero while running
	Seq    int64     // its newest record
	Size   int64     // bytes of that record
	Error  string    // why its last try failed, its beginning
}

// Event is one record of a run's history.
type Event struct {
	Seq  int64
	Kind string // see package journal
	Key  string
	At   time.Time
	JSON []byte // the whole record
}

// Runs yields all runs in the order of their file names, read one by one: runs that
// cannot be read are yielded with Err set and do not hide the others. An error ends
// the sequence. It takes no lock and changes nothing.
func (s *Store) Runs(ctx context.Context) iter.Seq2[RunInfo, error] {
	return func(yield func(RunInfo, error) bool) {
		if err := s.checkOpen("list", ""); err != nil {
			yield(RunInfo{}, err)
			return
		}
		entries, err := s.dir.Entries()
		if err != nil {
			yield(RunInfo{}, &RunError{Op: "list", Path: s.dir.Path, Err: err})
			return
		}
		for _, e := range entries {
			if ctx.Err() != nil {
				yield(RunInfo{}, &RunError{Op: "list", Path: s.dir.Path, Err: ended(ctx)})
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
				yield("", &RunError{Op: "list", Path: s.dir.Path, Err: ended(ctx)})
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
func (s *Store) Owner(id string) (*Owner, error) {
	if err := s.checkOpen("inspect", id); err != nil {
		return nil, err
	}
	if err := runid.Check(id); err != nil {
		return nil, invalidID("inspect", id, err)
	}
	return owner(s.dir.Lock(id)), nil
}

// Inspect describes one run. It takes no lock and changes nothing. Errors match
// [ErrNotFound], [ErrCorrupt], [ErrNewerFormat]; if there is something that cannot be
// read, its ID, path and size are set all the same.
func (s *Store) Inspect(ctx context.Context, id string) (RunInfo, error) {
	info, _, err := s.inspect(ctx, "inspect", id)
	return info, err
}

// Steps describes the steps of a run in the order in which they first started.
func (s *Store) Steps(ctx context.Context, id string) ([]StepInfo, error) {
	_, fold, err := s.inspect(ctx, "list the steps of", id)
	if err != nil {
		return nil, err
	}
	return stepInfos(fold), nil
}

// History yields every record of a run, oldest first. The JSON of an event is valid
// until the next one.
func (s *Store) History(ctx context.Context, id string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		info, _, err := s.inspect(ctx, "read", id)
		if err != nil {
			yield(Event{}, err)
			return
		}
		stop := errors.New("stop")
		_, err = journal.Each(info.Path, func(r *journal.Record) error {
			if ctx.Err() != nil {
				return ended(ctx)
			}
			if !yield(Event{Seq: r.Seq, Kind: r.Kind, Key: r.Key, At: r.Time(), JSON: r.Text}, nil) {
				return stop
			}
			return nil
		})
		if err != nil && err != stop {
			yield(Event{}, &RunError{Op: "read", RunID: id, Err: err})
		}
	}
}

func (s *Store) inspect(ctx context.Context, op, id string) (RunInfo, *journal.Fold, error) {
	if err := s.checkOpen(op, id); err != nil {
		return RunInfo{}, nil, err
	}
	if err := ctx.Err(); err != nil {
		return RunInfo{}, nil, &RunError{Op: op, RunID: id, Err: ended(ctx)}
	}
	if err := runid.Check(id); err != nil {
		return RunInfo{}, nil, invalidID(op, id, err)
	}
	info, fold, err := s.readRun(s.dir.Journal(id), s.dir.Lock(id))
	if errors.Is(err, fs.ErrNotExist) {
		return RunInfo{}, nil, &RunError{Op: op, RunID: id, Path: s.dir.Path, Err: ErrNotFound, Hint: "nothing was created; list the runs with: pawl ls"}
	}
	if err != nil {
		err = openError(id, s.dir.Journal(id), err)
		info.ID, info.Err = id, err
		return info, nil, err
	}
	return info, fold, nil
}

// readRun reads the journal of a run in the store.
func (s *Store) readRun(path, lockPath string) (RunInfo, *journal.Fold, error) {
	info, fold, err := readRun(path, lockPath)
	if err != nil {
		return info, nil, err
	}
	// A journal copied to another name would be a second run with the first one's
	// identity.
	if want := runid.FileName(fold.Header.RunID) + ".jsonl"; want != filepath.Base(path) {
		err := &journal.CorruptError{Path: path, Seq: 1, Reason: fmt.Sprintf("it holds run %q, whose journal is %s: a copy?", fold.Header.RunID, want)}
		return RunInfo{Path: path, Size: info.Size, Err: err}, nil, err
	}
	return info, fold, nil
}

// readRun folds a journal and asks who owns it. On an error info.Err is that error.
func readRun(path, lockPath string) (RunInfo, *journal.Fold, error) {
	info := RunInfo{Path: path}
	st, err := os.Stat(path)
	if err != nil {
		info.Err = err
		return info, nil, err
	}
	info.Size = st.Size()
	// Before reading: an owner that completes the run meanwhile is better than a run
	// in progress that nobody owns.
	info.Owner = owner(lockPath)
	fold, tail, err := journal.Read(path)
	if err != nil {
		info.Err = err
		return info, nil, err
	}
	info.Size = tail.End // what follows is fill, or torn
	h := fold.Header
	info.ID, info.UID, info.Kind, info.Input, info.Created = h.RunID, h.UID, h.RunKind, h.Input, h.Created
	info.Status, info.Attempts, info.Error = fold.Status, int(fold.Attempts), fold.Error
	info.Records, info.Updated, info.Torn = fold.Records, fold.LastAt(), tail.Torn
	c := fold.Counts()
	info.Done, info.Failed, info.Running, info.Took = c.Done, c.Failed, c.Running, c.Took
	info.Maps = mapProgress(fold)
	return info, fold, nil
}

func mapProgress(fold *journal.Fold) []Progress {
	keys := make([]string, 0, len(fold.Maps))
	for key := range fold.Maps {
		keys = append(keys, key)
	}
	sort.Slice(keys, func(i, j int) bool { return fold.Maps[keys[i]].First < fold.Maps[keys[j]].First })
	var out []Progress
	counts := fold.Items()
	for _, key := range keys {
		c := counts[key]
		out = append(out, Progress{RunID: fold.Header.RunID, Key: key, Done: c.Done, Failed: c.Failed, Total: int(fold.Maps[key].Total)})
	}
	return out
}

func stepInfos(fold *journal.Fold) []StepInfo {
	keys := make([]string, 0, len(fold.Steps))
	for key := range fold.Steps {
		keys = append(keys, key)
	}
	sort.Slice(keys, func(i, j int) bool { return fold.Steps[keys[i]].First < fold.Steps[keys[j]].First })
	infos := make([]StepInfo, 0, len(keys))
	for _, key := range keys {
		s := fold.Steps[key]
		info := StepInfo{Key: key, Status: s.Status.String(), Item: s.Map != "", Tries: int(s.Tries), Took: s.Took, Seq: s.Seq, Size: s.Len, Error: fold.StepError(key)}
		if s.Status != journal.StepRunning && s.At != 0 {
			info.Ended = time.UnixMicro(s.At).UTC()
		}
		infos = append(infos, info)
	}
	return infos
}
