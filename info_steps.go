package pawl

import (
	"bytes"
	"context"
	"sort"
	"time"

	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/runs"
)

// Steps describes the steps of a run in the order in which they first started, with their
// notes. It takes no lock and changes nothing.
func (s *Store) Steps(ctx context.Context, id string) ([]runs.Step, error) {
	const op = "list the steps of"
	for try := 1; ; try++ {
		info, fold, err := s.inspect(ctx, op, id)
		if err != nil {
			return nil, err
		}
		steps := stepInfos(fold)
		err = s.readNotes(info.Path, fold, steps)
		if err == nil {
			return steps, nil
		}
		if try == 3 { // else a compaction may have replaced the file meanwhile
			return nil, openError(id, info.Path, err)
		}
	}
}

// maxNote bounds the notes that are shown with a step, in bytes.
const maxNote = 4 << 10

// readNotes reads the notes of steps.
func (s *Store) readNotes(path string, fold *journal.Fold, steps []runs.Step) error {
	if len(fold.Notes) == 0 {
		return nil
	}
	f, err := vfs.OpenRegular(s.dir.FS, path)
	if err != nil {
		return err
	}
	defer f.Close()
	for i := range steps {
		span, ok := fold.Notes[steps[i].Key]
		if !ok || span.Len > 8*maxNote {
			continue
		}
		rec, err := journal.RecordAt(f, span)
		if err != nil {
			return journal.WithPath(err, path)
		}
		if text, ok := rec.Value(); ok && len(text) <= maxNote {
			steps[i].Note = bytes.Clone(text)
		}
	}
	return nil
}

func stepInfos(fold *journal.Fold) []runs.Step {
	keys := make([]string, 0, len(fold.Steps))
	for key := range fold.Steps {
		keys = append(keys, key)
	}
	sort.Slice(keys, func(i, j int) bool { return fold.Steps[keys[i]].First < fold.Steps[keys[j]].First })
	infos := make([]runs.Step, 0, len(keys))
	for _, key := range keys {
		s := fold.Steps[key]
		info := runs.Step{Key: key, Status: s.Status.String(), Item: s.Map != "", AtMostOnce: s.Once, Tries: int(s.Tries), Took: s.Took, Seq: s.Seq, Size: s.Len, Error: fold.StepError(key)}
		info.Final = s.Final && s.Status == journal.StepFailed
		if t := fold.Trouble[key]; t != nil {
			info.Poison, info.Fails, info.Next, info.Until, info.Deaths = t.Poison, int(t.Fails), t.Next, t.Until, int(t.Deaths)
		}
		for _, a := range fold.Used(key) {
			if info.Spent == nil {
				info.Spent = map[string]float64{}
			}
			info.Spent[a.Unit] = a.All
		}
		if s.Status != journal.StepRunning && s.At != 0 {
			info.Ended = time.UnixMicro(s.At).UTC()
		}
		infos = append(infos, info)
	}
	return infos
}
