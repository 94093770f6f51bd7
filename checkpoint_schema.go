package pawl

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pawlgo/pawl/internal/statefile"
	"github.com/pawlgo/pawl/internal/value"
)

// noSchema is the schema of a state that none is recorded of.
const noSchema = statefile.NoSchema

// Migrate registers how a state of schema version from becomes one of version
// from+1. With migrations registered, every save records the program's version,
// which is the highest from + 1, and opening takes an older state through all of
// them up to it:
//
//	pawl.OpenFile[State](path,
//		pawl.Migrate(1, renameCursor), // 1 → 2
//		pawl.Migrate(2, splitNotes))   // 2 → 3, the version of State
//
// fn gets the state's JSON text and returns the new one. It must depend on
// nothing else, since it runs again on every start until a save is durable:
// opening rewrites nothing. The same goes for [LoadState]. A state that is newer than the program is
// [ErrNewerFormat]; one without a version is [ErrMismatch], unless
// [UnversionedAs] says which it is; an error of fn is [ErrMismatch] too and
// wrapped. Nothing is changed in any of these cases. Results are not migrated.
func Migrate(from int, fn func(state []byte) ([]byte, error)) StateOption {
	return stateOption(func(c *fileConfig) {
		switch {
		case from < 0:
			c.wrong("Migrate needs a version of at least 0")
		case fn == nil:
			c.wrong(fmt.Sprintf("Migrate from version %d has no function", from))
		case c.migrations[from] != nil:
			c.wrong(fmt.Sprintf("there are two migrations from version %d", from))
		}
		if c.migrations == nil {
			c.migrations = map[int]func([]byte) ([]byte, error){}
		}
		c.migrations[from] = fn
	})
}

// UnversionedAs says which schema version a state has that none is recorded of,
// such as a file of the Python original or one from before the first [Migrate].
func UnversionedAs(n int) StateOption {
	return stateOption(func(c *fileConfig) {
		c.unversioned = n
		if n < 0 {
			c.wrong("UnversionedAs needs a version of at least 0")
		}
	})
}

// schema is the version of the program's state, or noSchema.
func (c *fileConfig) schema() int {
	highest := noSchema
	for from := range c.migrations {
		highest = max(highest, from+1)
	}
	return highest
}

// check refuses options that make no sense, before anything is opened.
func (c *fileConfig) check() error {
	if len(c.migrations) > 0 {
		from := slices.Sorted(maps.Keys(c.migrations))
		for v := from[0]; v < c.schema(); v++ {
			if c.migrations[v] == nil {
				c.wrong(fmt.Sprintf("there are migrations around version %d and none from it", v))
				break
			}
		}
		if c.unversioned != noSchema && (c.unversioned < from[0] || c.unversioned > c.schema()) {
			c.wrong(fmt.Sprintf("UnversionedAs(%d) is outside of what the migrations reach, %d to %d", c.unversioned, from[0], c.schema()))
		}
	}
	if c.mistake != "" {
		return fmt.Errorf("%w: %s", ErrInvalid, c.mistake)
	}
	return nil
}

// upgrade returns the text of what was found, taken to the program's schema.
// Where is the error to return, but for its cause.
func (c *fileConfig) upgrade(where *RunError, s stored) ([]byte, error) {
	refuse := func(err error, hint string) ([]byte, error) {
		where.Err, where.Hint = err, "nothing was changed; "+hint
		return nil, where
	}
	target := c.schema()
	switch {
	case s.schema > target && target == noSchema:
		return refuse(fmt.Errorf("%w: the state has schema version %d and this program has no migrations", ErrNewerFormat, s.schema), "use the newer program")
	case s.schema > target:
		return refuse(fmt.Errorf("%w: the state has schema version %d and this program's is %d", ErrNewerFormat, s.schema, target), "use the newer program")
	case s.complete || target == noSchema:
		return s.text, nil
	}
	from := s.schema
	if from == noSchema {
		from = c.unversioned
	}
	if from == noSchema {
		return refuse(fmt.Errorf("%w: the state has no schema version and this program's is %d", ErrMismatch, target), "pawl.UnversionedAs(n) says which it is")
	}
	text := s.text
	for v := from; v < target; v++ {
		migrate := c.migrations[v]
		if migrate == nil {
			return refuse(fmt.Errorf("%w: the state has schema version %d and there is no migration from it", ErrMismatch, v), "register it with pawl.Migrate")
		}
		next, err := migrate(slices.Clone(text))
		if err == nil {
			err = value.Valid(next)
		}
		if err != nil {
			return refuse(fmt.Errorf("%w: migration from schema version %d: %w", ErrMismatch, v, tell(c.redact, err)), "mend the migration")
		}
		text = next
	}
	return text, nil
}

// mismatch says how a recorded value does not fit a Go type.
func mismatch(err error, missing []string) error {
	if e, ok := errors.AsType[*value.Error](err); ok && e.Reason == value.UnknownMember && len(missing) > 0 {
		return fmt.Errorf("%w: %w (and the Go type has %q, which the record does not)", ErrMismatch, err, missing)
	}
	return fmt.Errorf("%w: %w", ErrMismatch, err)
}
