package main

import (
	"context"

	"github.com/pawlgo/pawl/journal"
)

// check reads a journal as a start does, and then what a start leaves for later. It
// keeps no more in memory than the longest record and one state.
func check(ctx context.Context, path string) (*journal.Fold, journal.Tail, error) {
	// One open file for all: a compaction may replace the journal meanwhile.
	f, err := journal.Open(path)
	if err != nil {
		return journal.NewFold(), journal.Tail{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return journal.NewFold(), journal.Tail{}, err
	}
	fold, tail, err := journal.Verify(f, st.Size(), func(*journal.Record) error { return ctx.Err() })
	return fold, tail, journal.WithPath(err, path)
}
