package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/runs"
)

// kindFile is the kind that InspectFile gives to a Level 1 file.
const kindFile = "file"

// isCheckpoint tells a Level 1 file, one JSON object, from a journal.
func isCheckpoint(info runs.Info) bool { return info.Kind == kindFile && info.UID == "" }

// resolveFile describes a checkpoint file, or a journal, by its path.
func resolveFile(path string) (*target, error) {
	if homeOf(path) != "" {
		// A link in the place of a run's journal leads out of the store and is not followed.
		f, err := journal.Open(path)
		if errors.Is(err, fs.ErrInvalid) {
			return &target{info: runs.Info{Path: path, Err: err}, name: path, arg: quoteArg(path)}, nil
		}
		if err == nil {
			f.Close()
		}
	}
	info, err := pawl.InspectFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &problem{msg: cell(path), err: err}
	}
	if err != nil {
		info = unreadable(path, err)
	} else {
		readMail(&info)
	}
	return &target{info: info, name: path, arg: quoteArg(path)}, nil
}

// readMail adds to what stands in the journal of a run in a store what waits in its inbox: a
// cancellation that its owner has not heard of, or that has none.
func readMail(info *runs.Info) {
	home := homeOf(info.Path)
	if _, err := os.Stat(strings.TrimSuffix(info.Path, ".jsonl") + ".inbox"); home == "" || err != nil {
		return
	}
	s, err := pawl.Open(home, pawl.MustExist())
	if err != nil {
		return // the journal was read, and says what it says
	}
	defer s.Close()
	if now, err := s.Inspect(context.Background(), info.ID); err == nil && now.UID == info.UID {
		*info = now
	}
}

// unreadable describes a file of which only the error is known.
func unreadable(path string, err error) runs.Info {
	if st, err := os.Lstat(path); err == nil && st.Mode()&fs.ModeSymlink != 0 {
		path = canonical(path) // what belongs to a file is beside it, not beside a link
	}
	info := runs.Info{Path: path, Err: err}
	if st, err := os.Stat(path); err == nil {
		info.Size = st.Size()
	}
	return info
}

// checkpointResult returns the exact text of the result of a complete checkpoint
// file. Bytes that are not plain ASCII JSON stand in a member of their own.
func checkpointResult(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		Result json.RawMessage `json:"result"`
		Exact  *string         `json:"exact"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, &journal.CorruptError{Path: path, Reason: fmt.Sprintf("it changed since it was looked at: %v", err)}
	}
	switch {
	case file.Exact != nil:
		return []byte(*file.Exact), nil
	case file.Result == nil:
		return []byte("null"), nil
	}
	return file.Result, nil
}
