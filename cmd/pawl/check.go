package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/pawlgo/pawl/journal"
)

// check reads a journal as a start does, and then what a start leaves for later:
// every value must be there and be JSON, and the newest state must come together with
// its checksum. It keeps no more in memory than the longest record and that state.
func check(ctx context.Context, path string) (*journal.Fold, journal.Tail, error) {
	fold := journal.NewFold()
	// One open file for all: a compaction may replace the journal meanwhile.
	f, err := os.Open(path)
	if err != nil {
		return fold, journal.Tail{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return fold, journal.Tail{}, err
	}
	sc := journal.NewScanner(f, st.Size())
	for sc.Scan() {
		r := sc.Record()
		if why := wrong(r); why != "" {
			return fold, journal.Tail{}, &journal.CorruptError{Path: path, Offset: r.Offset, Seq: r.Seq, Reason: why}
		}
		fold.Apply(r)
		if ctx.Err() != nil {
			return fold, journal.Tail{}, ctx.Err()
		}
	}
	err = sc.Err()
	if err == nil {
		for _, saved := range fold.Saved {
			if _, _, readErr := saved.Read(func(s journal.Span) (*journal.Record, error) { return journal.RecordAt(f, s) }); err == nil {
				err = readErr
			}
		}
	}
	return fold, sc.Tail(), journal.WithPath(err, path)
}

// wrong says what is wrong with a record whose checksum is right: such a one was
// written so. The result of a complete run is in a record of its own, so it is
// covered too.
func wrong(r *journal.Record) string {
	if !json.Valid(r.Text) {
		return "the checksum is right, and the record is not JSON"
	}
	switch r.Kind {
	case journal.KindState:
		if r.Member("patch") != nil {
			return ""
		}
	case journal.KindStep, journal.KindComplete:
	default:
		return ""
	}
	text, ok := r.Value()
	switch {
	case !ok:
		return fmt.Sprintf("a %s without a value", r.Kind)
	case r.Member("vs") != nil && !json.Valid(text): // else it is a part of the line
		return fmt.Sprintf("the value of this %s is not JSON", r.Kind)
	}
	return ""
}
