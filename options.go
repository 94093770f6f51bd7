package pawl

import (
	"log/slog"
	"time"

	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/runs"
)

// StoreOption configures [Open].
type StoreOption interface{ applyStore(*storeConfig) }

type storeConfig struct {
	log    *slog.Logger
	redact func(string) string
	create bool
	fs     vfs.FS
	now    func() time.Time
}

// MustExist makes [Open] refuse to create a store, and [Do] and [Store.Begin]
// refuse to start a run that is not there: both then return [ErrNotFound]. It is
// for programs that only ever resume, where a mistyped name must not start the
// whole work again.
func MustExist() interface {
	StoreOption
	RunOption
} {
	return mustExist{}
}

type mustExist struct{}

func (mustExist) applyStore(c *storeConfig) { c.create = false }
func (mustExist) applyRun(c *runConfig)     { c.mustExist = true }

// Logger receives warnings: an interrupted write that was cut off, a file without
// checksum, a file system that cannot sync a directory. [Checkpoint.Warnings] has those
// of a checkpoint too. Without it nothing is logged.
func Logger(l *slog.Logger) interface {
	FileOption
	StoreOption
} {
	return logger{l}
}

type logger struct{ l *slog.Logger }

func (o logger) applyFile(c *fileConfig) {
	if o.l != nil {
		c.log = o.l
	}
}

func (o logger) applyStore(c *storeConfig) {
	if o.l != nil {
		c.log = o.l
	}
}

// AllowUnknown accepts recorded states and results that have members which the Go
// type does not know. Without it they are [ErrMismatch]: in a state because the next
// save would drop them, in a result because a renamed field would read as zero.
func AllowUnknown() interface {
	FileOption
	RunOption
} {
	return allowUnknown{}
}

type allowUnknown struct{}

func (allowUnknown) applyFile(c *fileConfig) { c.allowUnknown = true }
func (allowUnknown) applyRun(c *runConfig)   { c.allowUnknown = true }

// Redact calls fn with every text before it is written, logged or shown: every string
// value in inputs, results, states and notes, and the texts of errors, panics, labels
// and reasons. What fn returns takes its place, for good: a redacted result is what
// [Step] returns, live and later. Values that are written as texts are given to fn too:
// times, []byte in base64, whatever has a MarshalText method. If what fn returns for one
// does not fit there, the value is [ErrInvalid] and not recorded. Fn must be fast, give
// equal texts for equal texts, and be safe for concurrent use.
//
// Inputs are compared as they were redacted: two that differ only in what fn hides are
// equal ([WithInput], [RunInput], the items of a [Map]).
//
// Not given to fn are member names, keys and run IDs: secrets must not stand in them, and
// names of members appear in messages, as JSON paths. Nor does fn see what the command pawl
// writes, which opens the store by itself: pawl resolve records the result and the reason
// that it is given as they are. The text of an error that wraps one of the program's own is
// redacted; the program's error itself, which errors.As finds in it, is not, nor is the
// value of a panic that goes on.
func Redact(fn func(text string) string) interface {
	FileOption
	StoreOption
} {
	return redact{fn}
}

type redact struct{ fn func(string) string }

func (o redact) applyFile(c *fileConfig)   { c.redact = o.fn }
func (o redact) applyStore(c *storeConfig) { c.redact = o.fn }

// RunOption configures [Do] and [Store.Begin].
type RunOption interface{ applyRun(*runConfig) }

type runConfig struct {
	kind      string
	input     any
	hasInput  bool
	mustExist bool
	progress  func(runs.Progress)
	labels    map[string]string
	deadline  time.Duration
	budget    map[string]float64
	yield     *time.Duration

	allowUnknown bool
	ignoreInput  bool
}

type runOption func(*runConfig)

func (o runOption) applyRun(c *runConfig) { o(c) }

// RunKind names the kind of work that a run does, recorded when the run is
// created, for people and for services that resume runs by kind. It is at most 256
// bytes of UTF-8 without NUL ([ErrInvalid]), and given to [Redact]; "" means none.
func RunKind(name string) RunOption {
	return runOption(func(c *runConfig) { c.kind = name })
}

// Label gives a run a name and value by which people and programs find it again; it may
// be given several times, one value for each name: of several for one name the last
// counts. Labels are recorded when the run is created. Neither may be empty, longer than
// 256 bytes, or other than UTF-8 without NUL ([ErrInvalid]).
func Label(name, value string) RunOption {
	return runOption(func(c *runConfig) {
		if c.labels == nil {
			c.labels = map[string]string{}
		}
		c.labels[name] = value
	})
}

// RunInput records the input of a run when it is created (a digest, and the
// canonical JSON up to 4 KiB), and compares it on every later start, also of a
// complete run: another input is [ErrInputChanged], and nothing runs. It keeps a
// reused ID from returning the result of other work. What may grow between
// starts, such as a list of documents, does not belong into it.
//
// Nothing is recorded of it later: a run that was created without an input accepts any,
// and one with an input accepts a start without RunInput. [IgnoreInput] lets another input pass
// on purpose.
func RunInput(v any) RunOption {
	return runOption(func(c *runConfig) { c.input, c.hasInput = v, true })
}

// OnProgress calls fn when a [Map] begins and after each of its items. Calls come
// one at a time, from several goroutines; fn must be quick and must not call the
// run.
func OnProgress(fn func(runs.Progress)) RunOption {
	return runOption(func(c *runConfig) { c.progress = fn })
}

// MapOption configures [Map].
type MapOption interface{ applyMap(*mapConfig) }

// StepOption configures [Step]; every one of them may be given to [Map] too, for
// its items.
type StepOption interface {
	MapOption
	applyStep(*stepConfig)
}

type stepConfig struct {
	input       any
	hasInput    bool
	rerun       bool
	ignoreInput bool
	once        bool
	alias       string
	tries
}

type mapConfig struct {
	stepConfig
	parallel int
}

type stepOption func(*stepConfig)

func (o stepOption) applyStep(c *stepConfig) { o(c) }
func (o stepOption) applyMap(c *mapConfig)   { o(&c.stepConfig) }

type mapOption func(*mapConfig)

func (o mapOption) applyMap(c *mapConfig) { o(c) }

// defaultParallel suits work that waits for models and tools.
const defaultParallel = 8

// Parallel bounds how many items of a [Map] run at once; n < 1 is 1. The default
// is 8.
func Parallel(n int) MapOption {
	return mapOption(func(c *mapConfig) { c.parallel = max(1, n) })
}

// WithInput records a fingerprint of v when the step starts (a digest, and the
// canonical JSON up to 4 KiB, both as [Redact] leaves them). When a later start asks for the
// step with another input, the recorded result would answer another question: the step
// returns [ErrInputChanged] with the JSON paths that differ, unless [RerunOnChange] is
// given. Give it what the result depends on: the prompt, the model's name, the
// document. For the items of a [Map] it replaces the item's own fingerprint.
//
// So it does for a step that began and has no end, since it may have had its effect, and for
// one that failed and has saved a state or a note, or has a result inside it: nothing of that
// goes out of sight unasked. A failure of which nothing else is left may be tried with another
// input. An [AtMostOnce] step in doubt, the step itself or one inside it, is [ErrInDoubt] then
// whatever else is given.
//
// Only two inputs can differ. WithInput that is added to a step which was recorded
// without, or dropped from one that was recorded with it, changes nothing: the record is
// returned.
func WithInput(v any) StepOption {
	return stepOption(func(c *stepConfig) { c.input, c.hasInput = v, true })
}

// RerunOnChange makes a step, or an item of a [Map], whose input changed run anew
// instead of returning [ErrInputChanged]. The older result, with its state and note, and
// everything recorded inside that step, finished [AtMostOnce] steps too, stays in the history and is
// never returned again: what is done for another input is other work.
//
// Given to [Await] it makes an answered question that is another one now be asked anew.
func RerunOnChange() interface {
	StepOption
	AwaitOption
} {
	return rerunOnChange{}
}

type rerunOnChange struct{}

func (rerunOnChange) applyStep(c *stepConfig)   { c.rerun = true }
func (rerunOnChange) applyMap(c *mapConfig)     { c.rerun = true }
func (rerunOnChange) applyAwait(c *awaitConfig) { c.rerun = true }

// IgnoreInput makes a step, or the items of a [Map], return the recorded result whatever
// its input was; given to [Do] or [Store.Begin] it lets another [RunInput] pass, also for the
// result of a complete run. One that differs is logged, and the history gets a record that says
// so (but for a complete run).
//
// The present input is still recorded when a function is called, so that a later start without
// IgnoreInput compares with that. Items that cannot be stored have no fingerprint then: nothing is
// recorded of them, and nothing compared later.
//
// Given to [Await] it lets the recorded answer stand for whatever is asked now.
func IgnoreInput() interface {
	StepOption
	RunOption
	AwaitOption
} {
	return ignoreInput{}
}

type ignoreInput struct{}

func (ignoreInput) applyStep(c *stepConfig) { c.ignoreInput = true }
func (ignoreInput) applyMap(c *mapConfig)   { c.ignoreInput = true }
func (ignoreInput) applyRun(c *runConfig)   { c.ignoreInput = true }

func (ignoreInput) applyAwait(c *awaitConfig) { c.ignoreInput = true }

// AtMostOnce is for a step whose effect must not happen twice, and that no
// [IdempotencyKey] protects: a payment, a message. That its function is about to be called is
// durable before it is called. If the process then dies, fn panics, or the run is
// interrupted, before the step has ended, nobody can know whether it happened: from then
// on the step is [ErrInDoubt] until somebody looks and says so, with [Store.ResolveDone]
// or [Store.ResolveRerun], or with the command: pawl resolve. An error that says the run
// should stop here ([ErrWaiting], [ErrCancelled], [ErrLeaseLost], any while the run's
// context is done) is an interruption, so the step is in doubt then too. A fork, and an import
// under another ID, have every step in doubt so that was under way.
//
// An error of fn says that it did not happen, and the step may be tried again. If fn
// does not know either, after a timeout say, it returns an error that wraps
// [ErrInDoubt].
func AtMostOnce() StepOption {
	return stepOption(func(c *stepConfig) { c.once = true })
}

// Alias says under which key a step, or a [Map], was recorded before it was renamed, in
// the same scope. If nothing is recorded under the present key, what is recorded under
// the old one goes on under it, with everything inside, for good. If something is, since the
// program ran under the new name once without Alias, nothing is adopted and the [Logger] is
// warned: go back to the old name, or fork the run at a record before ([Store.Fork]). Of several
// the last one counts. An empty old key is [ErrInvalid].
func Alias(old string) StepOption {
	if old == "" {
		old = emptyAlias
	}
	return stepOption(func(c *stepConfig) { c.alias = old })
}

// emptyAlias stands for an old key that is empty, which no key is: "" means no Alias.
const emptyAlias = "\x00"
