package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/journal"
)

const (
	pollEvery = 200 * time.Millisecond
	// A quiet run is asked for its owner, the more seldom the longer that takes.
	askAfter  = time.Second
	askFactor = 20
)

// follow prints new records until the run is complete or nobody has it open.
func (a *app) follow(ctx context.Context, t *target, f logFlags, pos position) error {
	owned := t.info.Owner != nil
	quiet, pause := time.Now(), askAfter
	retries := 0
	for {
		if err := a.out.flush(); err != nil {
			return err
		}
		before := pos.seq
		err := a.readNew(ctx, t.info.Path, f, &pos)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, journal.ErrCorrupt) && retries < 5:
			retries++ // perhaps we looked in the middle of a write
		case err != nil:
			t.info.Err = err
			return a.readProblem(t)
		default:
			retries = 0
		}
		switch {
		case pos.status == journal.Complete:
			return nil
		case !owned && retries == 0:
			return a.notFollowed(t, pos)
		}
		now := time.Now()
		if pos.seq != before {
			quiet = now
		} else if now.Sub(quiet) >= pause {
			if owned, err = isOwned(t); err != nil {
				return err
			}
			quiet = time.Now()
			pause = max(askAfter, askFactor*quiet.Sub(now))
			if !owned {
				continue // what was written before the owner let go
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}

// isOwned tells whether somebody has the run open now.
func isOwned(t *target) (bool, error) {
	if dir := t.home(); dir != "" {
		s, err := pawl.Open(dir, pawl.MustExist())
		if err != nil {
			return false, err
		}
		defer s.Close()
		o, err := s.Owner(t.info.ID)
		return o != nil, err
	}
	info, err := pawl.InspectFile(t.info.Path) // which reads it all
	if errors.Is(err, journal.ErrCorrupt) {
		return true, nil // the next look at the records says more
	}
	return info.Owner != nil, err
}

func (a *app) notFollowed(t *target, pos position) error {
	p := &problem{exit: exitNotFinished, code: "not_finished", msg: fmt.Sprintf("%s is interrupted: nobody has it open", cell(t.name))}
	p.hint = "start its program again and it goes on"
	switch {
	case pos.status == journal.Cancelled, t.info.Status == journal.Cancelled: // that may be in its inbox only
		p.msg = fmt.Sprintf("%s is cancelled", cell(t.name))
		p.hint = "see who did that, and how to go on: pawl show " + t.arg
	case pos.status == journal.Waiting:
		p.msg = fmt.Sprintf("%s waits, and nobody has it open", cell(t.name))
		p.hint = "see what it waits for: pawl show " + t.arg
	case pos.status == journal.Failed:
		p.msg = fmt.Sprintf("%s failed", cell(t.name))
		p.hint = "see why: pawl show " + t.arg
	}
	return p
}

// readNew prints the records behind pos. It reads the new bytes only; when they do
// not continue what was there, it reads everything anew.
func (a *app) readNew(ctx context.Context, path string, f logFlags, pos *position) error {
	file, err := journal.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &problem{msg: "the journal is gone", err: err}
	}
	if err != nil {
		return err
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		return err
	}
	if st.Size() < pos.end {
		return a.readAnew(ctx, path, f, pos)
	}
	src := bufio.NewReaderSize(io.NewSectionReader(file, pos.end, st.Size()-pos.end), 1<<16)
	off := pos.end
	for ctx.Err() == nil {
		text, err := src.ReadBytes('\n')
		if err != nil {
			return nil // the end, or a record that is being written
		}
		if len(text) > 1 {
			r, err := journal.RecordAt(file, journal.Span{Seq: pos.seq + 1, Offset: off, Len: int64(len(text) - 1)})
			if errors.Is(err, journal.ErrCorrupt) {
				return a.readAnew(ctx, path, f, pos)
			}
			if err != nil {
				return err
			}
			pos.see(r)
			a.logRecord(r, f)
		}
		off += int64(len(text))
	}
	return ctx.Err()
}

func (a *app) readAnew(ctx context.Context, path string, f logFlags, pos *position) error {
	last := pos.seq
	seen := int64(0)
	_, err := journal.Each(path, func(r *journal.Record) error {
		seen = r.Seq
		switch {
		case r.Seq <= last:
			pos.end = r.Offset + int64(len(r.Text))
		case r.Member("was") != nil: // written anew by a compaction, and shown before
			pos.see(r)
		default:
			pos.see(r)
			a.logRecord(r, f)
		}
		return ctx.Err()
	})
	if err == nil && seen < last {
		return &problem{exit: exitConflict, code: "replaced", msg: fmt.Sprintf("the journal ended with record %d and now ends with %d: it was replaced", last, seen), err: pawl.ErrReplaced}
	}
	return err
}
