package pawl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pawlgo/pawl/journal"
)

// Sentinels, for errors.Is. Every error that this package returns for one of
// these reasons is a [*RunError] that wraps the sentinel and says which run,
// step, path, sequence number and offset it concerns. docs/errors.md has a
// paragraph for each: what happened, whether the data is safe, what to do.
var (
	// ErrNotFound: there is no such run or file. It also matches [fs.ErrNotExist].
	ErrNotFound error = notFound{}
	// ErrLocked: another live process owns the run. The message names its host,
	// process ID and since when; the owner's death frees the run at once.
	ErrLocked = errors.New("owned by another process")
	// ErrLeaseLost: this process owned the run and does not any more.
	ErrLeaseLost = errors.New("ownership lost")
	// ErrConflict: somebody else decided or saved first; nothing was overwritten.
	ErrConflict = errors.New("conflict with an earlier write")
	// ErrCorrupt: something is there and cannot be trusted. Its bytes are left alone.
	ErrCorrupt = journal.ErrCorrupt
	// ErrReplaced: the file was deleted, truncated or replaced under its owner.
	ErrReplaced = errors.New("file was deleted or replaced under its owner")
	// ErrNewerFormat: written by a newer version; left untouched.
	ErrNewerFormat = journal.ErrNewerFormat
	// ErrMismatch: the recorded value does not fit the Go type or schema that asks for it.
	ErrMismatch = errors.New("recorded value does not fit")
	// ErrComplete: the run is complete and takes no further write.
	ErrComplete = errors.New("already complete")
	// ErrCancelled: the run was cancelled.
	ErrCancelled = errors.New("cancelled")
	// ErrWaiting: the run waits for an answer or for a time.
	ErrWaiting = errors.New("waiting")
	// ErrDuplicateKey: the key is running or done in this attempt already. When a step that
	// failed is asked again, its new try may ask for the keys inside it again.
	ErrDuplicateKey = errors.New("duplicate key")
	// ErrInputChanged: the recorded input differs from the present one.
	ErrInputChanged = errors.New("input changed since it was recorded")
	// ErrStateNotLoaded: SaveState before LoadState would go back to an older state.
	ErrStateNotLoaded = errors.New("state not loaded in this attempt")
	// ErrInDoubt: it was under way at a death and it is not known whether it happened.
	ErrInDoubt = errors.New("in doubt: started and has no recorded end")
	// ErrPoison: the step ended its process too many times in a row.
	ErrPoison = errors.New("poison: ended its process too often")
	// ErrBudget: the run's budget is used up.
	ErrBudget = errors.New("budget used up")
	// ErrNoRun: the context carries no run.
	ErrNoRun = errors.New("no run in the context")
	// ErrInvalid: a value, key, ID or path is refused before anything is written.
	ErrInvalid = errors.New("invalid")
	// ErrPruned: the record was removed by a retention policy.
	ErrPruned = errors.New("pruned")
	// ErrClosed: the handle is closed.
	ErrClosed = errors.New("closed")
)

// notFound makes ErrNotFound match fs.ErrNotExist too, so that code written for
// files keeps working.
type notFound struct{}

func (notFound) Error() string        { return "not found" }
func (notFound) Is(target error) bool { return target == fs.ErrNotExist }

// RunError says what failed and where. It wraps its cause, which is or wraps
// one of the sentinels or an error of the operating system. Fields that do not
// apply are zero. It never holds payload contents.
type RunError struct {
	Op     string // what was being done: "open", "save", "step", …
	RunID  string // run ID, empty for a Level 1 file
	Key    string // full key of the step
	Path   string // file concerned
	Seq    int64  // record concerned
	Offset int64  // byte offset in Path
	Hint   string // what is safe now and what to do next, one sentence
	Err    error  // cause
}

// Error returns `pawl: op run "id" step "key" path: cause; hint (docs/errors.md#errname)`.
func (e *RunError) Error() string {
	var b strings.Builder
	b.WriteString("pawl: ")
	b.WriteString(e.Op)
	if e.RunID != "" {
		fmt.Fprintf(&b, " run %q", e.RunID)
	}
	if e.Key != "" {
		fmt.Fprintf(&b, " step %q", e.Key)
	}
	if e.Path != "" {
		fmt.Fprintf(&b, " %s", e.Path)
	}
	if e.Seq > 0 {
		fmt.Fprintf(&b, " seq %d", e.Seq)
	}
	if e.Offset > 0 {
		fmt.Fprintf(&b, " offset %d", e.Offset)
	}
	b.WriteString(": ")
	b.WriteString(e.Err.Error())
	if e.Hint != "" {
		b.WriteString("; ")
		b.WriteString(e.Hint)
	}
	if text := b.String(); strings.Contains(text, errorDocs) {
		return text // a cause that is one of ours says it already
	}
	b.WriteString(" (" + errorDocs + anchor(e.Err) + ")")
	return b.String()
}

// errorDocs is where every kind of error has a paragraph.
const errorDocs = "docs/errors.md#"

// anchor names the paragraph for an error.
func anchor(err error) string {
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			return s.anchor
		}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return "interrupted"
	}
	return "errors-of-the-operating-system"
}

// sentinels are in the order in which they are looked for: an error that matches
// several is explained by the first.
var sentinels = []struct {
	err    error
	anchor string
}{
	{ErrCorrupt, "errcorrupt"},
	{ErrNewerFormat, "errnewerformat"},
	{ErrReplaced, "errreplaced"},
	{ErrLeaseLost, "errleaselost"},
	{ErrLocked, "errlocked"},
	{ErrConflict, "errconflict"},
	{ErrInDoubt, "errindoubt"},
	{ErrMismatch, "errmismatch"},
	{ErrInputChanged, "errinputchanged"},
	{ErrDuplicateKey, "errduplicatekey"},
	{ErrStateNotLoaded, "errstatenotloaded"},
	{ErrComplete, "errcomplete"},
	{ErrCancelled, "errcancelled"},
	{ErrWaiting, "errwaiting"},
	{ErrPoison, "errpoison"},
	{ErrBudget, "errbudget"},
	{ErrNoRun, "errnorun"},
	{ErrInvalid, "errinvalid"},
	{ErrPruned, "errpruned"},
	{ErrClosed, "errclosed"},
	{ErrNotFound, "errnotfound"},
}

// Unwrap returns the cause.
func (e *RunError) Unwrap() error { return e.Err }
