package pawl

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/pawlgo/pawl/internal/value"
)

// Checkpoint is one state of type T that a program loads, advances and saves as a
// whole, and in the end one result in its place. [OpenFile] keeps it in one JSON
// file.
//
// It is safe for concurrent use; the values given to it must not change while a
// call looks at them.
type Checkpoint[T any] struct {
	cfg *fileConfig

	mu       sync.Mutex
	b        backing
	closed   bool
	found    bool
	complete bool
	text     []byte // JSON of the state, or of the result when complete
}

// backing is where a checkpoint's texts live. Checkpoint calls one method at a
// time. Errors are whole: a *RunError that says what is safe and what to do.
//
// exact says that a text is raw JSON that must come back byte for byte. A text
// belongs to the backing from then on; it is never changed.
type backing interface {
	// load returns what opening found. It is called once, before the others.
	load() stored
	// save makes text the state; nil means durable. A failed save leaves what
	// was last saved, or is in doubt.
	save(text []byte, exact bool) error
	// complete puts a result in the place of the state, durably.
	complete(text []byte, exact bool) error
	// clear makes it as if nothing had been saved, durably.
	clear() error
	// compact gives back space that earlier states take.
	compact() error
	// close gives up the ownership. It is called once.
	close() error
	// where names the thing in messages.
	where() string
}

// stored is what a backing found.
type stored struct {
	found    bool
	complete bool   // text is a result
	text     []byte // JSON of the state or the result
	schema   int    // version of the state's shape, or noSchema
}

// checkType refuses what can never be stored, before anything is opened.
func checkType[T any](path string) error {
	if err := value.Check(reflect.TypeFor[T]()); err != nil {
		return &RunError{Op: "open", Path: path, Err: fmt.Errorf("%w: state of type %v: %w", ErrInvalid, reflect.TypeFor[T](), err)}
	}
	return nil
}

// newCheckpoint gives what a backing found the type T. On an error the caller
// closes the backing.
func newCheckpoint[T any](b backing, cfg *fileConfig) (*Checkpoint[T], error) {
	s := b.load()
	c := &Checkpoint[T]{cfg: cfg, b: b, found: s.found, complete: s.complete}
	if !s.found {
		return c, nil
	}
	text, err := cfg.upgrade(&RunError{Op: "open", Path: b.where()}, s)
	if err != nil {
		return nil, err
	}
	c.text = text
	if s.complete {
		return c, nil // what the result must fit is said by Result
	}
	var v T
	if err := value.Decode(text, &v, cfg.allowUnknown); err != nil {
		return nil, &RunError{
			Op: "open", Path: b.where(), Err: mismatch(err, value.Missing(text, reflect.TypeFor[T]())),
			Hint: "nothing was changed; pawl.Migrate turns an older state into a newer one",
		}
	}
	return c, nil
}

// State returns the state: what opening found, and after a [Checkpoint.Save] what
// that saved. Without one, on a fresh start or when the work is complete, it is
// the zero value. Each call decodes a copy of its own, which is the caller's.
//
// It is the record that is decoded, not the value that was saved: a type that
// loses something on the way shows it at once.
func (c *Checkpoint[T]) State() T {
	c.mu.Lock()
	defer c.mu.Unlock()
	var v T
	if !c.found || c.complete {
		return v
	}
	if err := value.Decode(c.text, &v, c.cfg.allowUnknown); err != nil {
		// The same text was decoded when opening, or tried when saving.
		panic(fmt.Sprintf("pawl: a state that was accepted does not decode: %v", err))
	}
	return v
}

// Resumed reports whether there is a state or a result: whether this is not a
// fresh start. After [Checkpoint.Clear] it is false, after a save true.
func (c *Checkpoint[T]) Resumed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.found
}

// Warnings returns what opening and saving had to put up with, each once: a file
// without checksum, a file system that cannot sync a directory, and the like.
func (c *Checkpoint[T]) Warnings() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.cfg.warnings)
}

// Save replaces the recorded state. When it returns nil the state is durable: it
// survives the death of the process and a power cut. Saving an unchanged state
// writes nothing.
//
// When it returns an error the work since the last save is not recorded, and the
// last saved state is: either way intact, or, if the error matches [ErrInDoubt],
// replaced by this one as a whole; opening again finds out which. A value that
// cannot be stored is [ErrInvalid] with its JSON path, a file that somebody
// replaced or deleted [ErrReplaced] or [ErrConflict], a complete checkpoint
// [ErrComplete], a closed one [ErrClosed]; a full disk and the like is the
// operating system's error. Except in doubt, saving again is safe.
func (c *Checkpoint[T]) Save(state T) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.open("save"); err != nil {
		return err
	}
	if c.complete {
		return c.fail("save", ErrComplete, "the recorded result is unchanged; Clear starts over")
	}
	text, err := c.cfg.encode(state)
	if err != nil {
		return c.invalid("save", err)
	}
	if err := c.b.save(text, value.IsRaw(reflect.TypeOf(state))); err != nil {
		return err
	}
	c.text, c.found = text, true
	return nil
}

// Complete records the result of the work in the place of its state. When it
// returns nil the result is durable, and every later opening finds the work
// complete. Completing again with an equal result returns nil, with another one
// [ErrComplete]. The other errors are those of [Checkpoint.Save].
func (c *Checkpoint[T]) Complete(result any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.open("complete"); err != nil {
		return err
	}
	text, err := c.cfg.encode(result)
	if err != nil {
		return c.invalid("complete", err)
	}
	if c.complete {
		if sameJSON(c.text, text) {
			return nil
		}
		return c.fail("complete", ErrComplete, "the recorded result is another one and unchanged; Clear starts over")
	}
	if err := c.b.complete(text, value.IsRaw(reflect.TypeOf(result))); err != nil {
		return err
	}
	c.text, c.found, c.complete = text, true, true
	return nil
}

// Result decodes the recorded result into *p and returns true if the work is
// complete; a nil p only asks. If it is not complete, *p is unchanged. If the
// result does not fit, the error matches [ErrMismatch], done is true and *p is
// unchanged.
func (c *Checkpoint[T]) Result(p any) (done bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.open("read the result of"); err != nil {
		return false, err
	}
	if !c.complete || p == nil {
		return c.complete, nil
	}
	if err := value.Decode(c.text, p, c.cfg.allowUnknown); err != nil {
		var missing []string
		if t := reflect.TypeOf(p); t.Kind() == reflect.Pointer {
			missing = value.Missing(c.text, t.Elem())
		}
		return true, c.fail("read the result of", mismatch(err, missing), "the recorded result is unchanged")
	}
	return true, nil
}

// Clear removes the state or result, so that the work starts over. When it
// returns nil that is durable. With [KeepVersions] what was there is kept as a
// version; other versions stay. Clear never removes what somebody else put in the
// place of the file, which is [ErrReplaced] or [ErrConflict]; if somebody deleted
// the file, Clear is content, and saving works again.
func (c *Checkpoint[T]) Clear() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.open("clear"); err != nil {
		return err
	}
	if err := c.b.clear(); err != nil {
		return err
	}
	c.text, c.found, c.complete = nil, false, false
	return nil
}

// Close gives up the ownership, so that others can open the checkpoint. It saves
// nothing. Closing again does nothing; calls that need the file are [ErrClosed]
// from then on, and State, Resumed and Warnings answer as before.
func (c *Checkpoint[T]) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	return c.b.close()
}

// open refuses calls on a closed checkpoint. The caller holds mu.
func (c *Checkpoint[T]) open(op string) error {
	if c.closed {
		return c.fail(op, ErrClosed, "open it again")
	}
	return nil
}

func (c *Checkpoint[T]) fail(op string, err error, hint string) error {
	return &RunError{Op: op, Path: c.b.where(), Err: err, Hint: hint}
}

func (c *Checkpoint[T]) invalid(op string, err error) error {
	return c.fail(op, fmt.Errorf("%w: %w", ErrInvalid, err), "nothing was written and what was last saved is intact; mend the value and call again")
}

// sameJSON compares two JSON texts by meaning: neither white space nor the order of
// members counts, every digit does.
func sameJSON(a, b []byte) bool {
	fa, errA := value.FingerprintOf(json.RawMessage(a), nil)
	fb, errB := value.FingerprintOf(json.RawMessage(b), nil)
	return errA == nil && errB == nil && fa.Digest == fb.Digest
}
