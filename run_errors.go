package pawl

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode"

	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/lock"
	"github.com/pawlgo/pawl/journal"
)

func (r *Run) openError(path string, err error) error { return openError(r.id, path, err) }

// openError says what an unreadable journal means.
func openError(runID, path string, err error) error {
	e := &RunError{Op: "open", RunID: runID, Path: path, Err: err}
	if whole, ok := errors.AsType[*RunError](err); ok {
		return whole
	}
	if locked, ok := lockedError("open", runID, path, err); ok {
		return locked
	}
	switch {
	case errors.Is(err, ErrCorrupt):
		e.Hint = "nothing was changed and nothing runs"
		if path != "" {
			e.Hint += "; look with: pawl repair --dry-run " + quoteArg(path)
		}
	case errors.Is(err, ErrNewerFormat):
		e.Hint = "nothing was changed; use the newer program"
	}
	return causeAt(e)
}

// causeAt takes over what the cause of e says of the place: the file, which may be another than
// the one that is worked on, the record and the byte.
func causeAt(e *RunError) *RunError {
	path := ""
	if c, ok := errors.AsType[*journal.CorruptError](e.Err); ok {
		path, e.Seq, e.Offset = c.Path, c.Seq, c.Offset
	} else if n, ok := errors.AsType[*journal.NewerFormatError](e.Err); ok {
		path = n.Path
	}
	if path != "" {
		e.Path, e.Err = path, unplaced{e.Err, path}
	}
	return e
}

// unplaced is a cause whose text does not begin with the path: the error around it says it.
type unplaced struct {
	error
	path string
}

func (u unplaced) Error() string { return strings.TrimPrefix(u.error.Error(), u.path+": ") }
func (u unplaced) Unwrap() error { return u.error }

func (r *Run) writeError(op, key string, err error) error {
	return writeError(op, r.id, key, r.log.Path(), err)
}

// writeError says what a failed append means for the data.
func writeError(op, runID, key, path string, err error) error {
	e := &RunError{Op: op, RunID: runID, Key: key, Path: path, Err: err}
	switch {
	case errors.Is(err, journalfile.ErrInDoubt):
		e.Err = joined{ErrInDoubt, err}
		e.Hint = "everything acknowledged before is safe; start again to find out whether this was recorded"
	case errors.Is(err, journalfile.ErrReplaced):
		e.Err = joined{ErrReplaced, err}
		e.Hint = "this was not recorded; everything acknowledged before stood in the file that is gone. Find out who replaced it, and do not write to what is there now"
	case errors.Is(err, journalfile.ErrClosed), errors.Is(err, ErrClosed), errors.Is(err, ErrComplete):
		if errors.Is(err, journalfile.ErrClosed) {
			e.Err = joined{ErrClosed, err}
		}
		e.Hint = "the run had ended, so this was not recorded; end a run only when its steps have"
	case errors.Is(err, fs.ErrExist):
		e.Err = joined{ErrConflict, fmt.Errorf("somebody else made the journal: %w", err)}
		e.Hint = "nothing was written; find out who, and open it again"
	default:
		e.Hint = "everything acknowledged before is safe; this was not recorded. Mend the cause and start again"
	}
	return e
}

// lockedError says who holds a lock.
func lockedError(op, runID, path string, err error) (*RunError, bool) {
	held, ok := errors.AsType[*lock.HeldError](err)
	if !ok {
		return nil, false
	}
	e := &RunError{Op: op, RunID: runID, Path: path, Err: fmt.Errorf("%w: %w", ErrLocked, held), Hint: "wait for it, or end that process; its death frees it at once"}
	if _, pid := lock.Self(); held.Owner.PID == pid {
		e.Err = joined{ErrLocked, fmt.Errorf("already open in this process, %w", held)}
		e.Hint = "close it first"
	}
	return e, true
}

// invalidID shows enough of an ID that cannot be one.
func invalidID(op, id string, err error) error {
	return &RunError{Op: op, RunID: strings.ToValidUTF8(id[:min(len(id), 80)], "\ufffd"), Err: fmt.Errorf("%w: %w", ErrInvalid, err)}
}

// quoteArg returns an argument as a shell takes it, and as a terminal can show it.
func quoteArg(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		// bash, zsh and ksh know this form; strconv's escapes mean the same there.
		return "$'" + strings.ReplaceAll(strings.Trim(strconv.QuoteToASCII(s), `"`), "'", `\'`) + "'"
	}
	if s == "" || strings.ContainsAny(s, " '\"\\$&;|<>()*?[]{}~#!`") {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}
