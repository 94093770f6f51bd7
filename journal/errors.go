package journal

import (
	"errors"
	"fmt"
)

var (
	// ErrCorrupt says that something is there and cannot be trusted. Its bytes
	// are left alone.
	ErrCorrupt = errors.New("corrupt")
	// ErrNewerFormat says that a file was written by a newer version.
	ErrNewerFormat = errors.New("written by a newer version")
)

// CorruptError says where a file stops making sense. It matches [ErrCorrupt].
type CorruptError struct {
	Path   string // file, empty when reading from memory
	Offset int64  // of the first byte that is not understood
	Seq    int64  // of the record expected there, 0 if unknown
	Reason string
}

// Error names path, offset, seq and reason.
func (e *CorruptError) Error() string {
	s := fmt.Sprintf("corrupt at byte %d", e.Offset)
	if e.Path != "" {
		s = e.Path + ": " + s
	}
	if e.Seq > 0 {
		s += fmt.Sprintf(" (record %d)", e.Seq)
	}
	return s + ": " + e.Reason
}

// Unwrap returns [ErrCorrupt].
func (e *CorruptError) Unwrap() error { return ErrCorrupt }

// NewerFormatError says which format a file has. It matches [ErrNewerFormat].
type NewerFormatError struct {
	Path   string // file, empty when reading from memory
	Format int64  // of the file
}

// Error names path and both versions.
func (e *NewerFormatError) Error() string {
	s := fmt.Sprintf("journal format %d, this program reads up to %d", e.Format, Format)
	if e.Path != "" {
		s = e.Path + ": " + s
	}
	return s
}

// Unwrap returns [ErrNewerFormat].
func (e *NewerFormatError) Unwrap() error { return ErrNewerFormat }
