package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/journal/repair"
)

// Exit codes, documented in exitCodes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitConflict    = 4
	exitNotFinished = 5
	exitCorrupt     = 6
	exitUnreachable = 7
	exitUnconfirmed = 8
	exitInterrupted = 130
)

// problem is why a command ends with a code other than 0. The zero exit means: as
// err says.
type problem struct {
	exit       int
	code       string // for programs, stable
	msg        string // what failed
	hint       string // what is safe, what to type next
	candidates []string
	err        error
	told       bool // msg says what err says
}

func (p *problem) Error() string {
	switch {
	case p.err == nil || p.told:
		return p.msg
	case p.msg == "":
		return p.err.Error()
	}
	return p.msg + ": " + p.err.Error()
}

func (p *problem) Unwrap() error { return p.err }

// usage is a command line that cannot be understood.
func usage(cmd *cobra.Command, format string, args ...any) *problem {
	return &problem{exit: exitUsage, code: "usage", msg: fmt.Sprintf(format, args...), hint: "see: " + cmd.CommandPath() + " --help"}
}

// classes says what each kind of error is to the shell and to programs. The first
// match counts. It is the one place where errors become exit codes.
var classes = []struct {
	target error
	exit   int
	code   string
}{
	{pawl.ErrCorrupt, exitCorrupt, "corrupt"},
	{pawl.ErrNewerFormat, exitFailed, "newer_format"},
	{pawl.ErrNotFound, exitNotFound, "not_found"},
	{pawl.ErrPruned, exitNotFound, "pruned"},
	{pawl.ErrLocked, exitConflict, "locked"},
	{repair.ErrOwned, exitConflict, "locked"},
	{pawl.ErrLeaseLost, exitConflict, "conflict"},
	{pawl.ErrReplaced, exitConflict, "replaced"},
	{pawl.ErrConflict, exitConflict, "conflict"},
	{pawl.ErrComplete, exitConflict, "complete"},
	{pawl.ErrCancelled, exitConflict, "cancelled"},
	{pawl.ErrMismatch, exitUsage, "mismatch"},
	{pawl.ErrWaiting, exitNotFinished, "waiting"},
	{fs.ErrInvalid, exitUnreachable, "unreachable"}, // not a regular file
	{pawl.ErrInvalid, exitUsage, "invalid"},
	{context.Canceled, exitInterrupted, "interrupted"},
	{fs.ErrNotExist, exitNotFound, "not_found"},
	{fs.ErrPermission, exitUnreachable, "denied"},
}

func classify(err error) (exit int, code string) {
	if p, ok := errors.AsType[*problem](err); ok && p.exit != 0 {
		return p.exit, p.code
	}
	for _, c := range classes {
		if errors.Is(err, c.target) {
			return c.exit, c.code
		}
	}
	if _, ok := errors.AsType[syscall.Errno](err); ok {
		return exitUnreachable, "unreachable"
	}
	return exitFailed, "failed"
}

// explain turns any error into a problem with all that can be said.
func explain(err error) *problem {
	p := &problem{err: err}
	if known, ok := errors.AsType[*problem](err); ok {
		*p = *known
	}
	if p.err != nil && p.exit == 0 {
		p.exit, p.code = classify(p.err)
	}
	// The library's hint stands behind a semicolon; ours is a line of its own.
	if re, ok := errors.AsType[*pawl.RunError](p.err); ok {
		if p.hint == "" {
			p.hint = re.Hint
		}
		if re == p.err && p.msg != "" {
			p.err = re.Err
		} else if re == p.err {
			bare := *re
			bare.Hint = ""
			p.err = &bare
		}
	}
	return p
}

// place is where in a file something is wrong.
type place struct {
	Path   string `json:"path"`
	Offset int64  `json:"offset"`
	Seq    int64  `json:"seq"`
	Reason string `json:"reason"`
}

// String returns `path: byte n, record m: reason` as far as these are known.
func (p *place) String() string {
	var parts []string
	if p.Path != "" && !strings.HasPrefix(p.Reason, p.Path) {
		parts = append(parts, inline(p.Path))
	}
	switch {
	case p.Seq > 0:
		parts = append(parts, fmt.Sprintf("byte %d, record %d", p.Offset, p.Seq))
	case p.Offset > 0:
		parts = append(parts, fmt.Sprintf("byte %d", p.Offset))
	}
	return strings.Join(append(parts, inline(p.Reason)), ": ")
}

// placeOf says where and why, as far as err knows. It is nil for no error.
func placeOf(err error) *place {
	if err == nil {
		return nil
	}
	if c, ok := errors.AsType[*journal.CorruptError](err); ok {
		return &place{c.Path, c.Offset, c.Seq, c.Reason}
	}
	if n, ok := errors.AsType[*journal.NewerFormatError](err); ok {
		return &place{Path: n.Path, Reason: fmt.Sprintf("journal format %d, this program reads up to %d", n.Format, journal.Format)}
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return &place{Path: pe.Path, Reason: pe.Op + ": " + pe.Err.Error()}
	}
	if re, ok := errors.AsType[*pawl.RunError](err); ok {
		return &place{re.Path, re.Offset, re.Seq, reason(re.Err)}
	}
	return &place{Reason: reason(err)}
}

// reason is what err says beyond what its class says.
func reason(err error) string { return strings.TrimPrefix(err.Error(), pawl.ErrCorrupt.Error()+": ") }

// errorJSON is how a problem is told to programs, on standard error.
type errorJSON struct {
	Error struct {
		Code       string   `json:"code"`
		Message    string   `json:"message"`
		Hint       string   `json:"hint"`
		ExitCode   int      `json:"exit_code"`
		Candidates []string `json:"candidates,omitempty"`
		Where      *place   `json:"where,omitempty"`
	} `json:"error"`
}

// report tells the user about err and returns the exit code.
func (a *app) report(err error) int {
	p := explain(err)
	msg := strings.TrimPrefix(p.Error(), "pawl: ")
	if a.json {
		var e errorJSON
		e.Error.Code, e.Error.Message, e.Error.Hint = p.code, msg, p.hint
		e.Error.ExitCode, e.Error.Candidates = p.exit, p.candidates
		if at := placeOf(p.err); at != nil && at.Path != "" {
			e.Error.Where = at
		}
		fmt.Fprintf(a.stderr, "%s\n", encode(e))
		return p.exit
	}
	fmt.Fprintf(a.stderr, "pawl: %s\n", inline(msg))
	if p.hint != "" {
		a.hint("%s", p.hint)
	}
	return p.exit
}

// hint tells people what to do next. Programs have no use for it.
func (a *app) hint(format string, args ...any) {
	if !a.json {
		fmt.Fprintf(a.stderr, "hint: %s\n", inline(fmt.Sprintf(format, args...)))
	}
}
