package crashfs

import "errors"

// Kind is a kind of operation.
type Kind uint8

// The operations of [vfs.FS] and [vfs.File].
const (
	Open Kind = iota // an existing file
	Create
	Read
	Write
	Sync
	Truncate
	DropCache
	FileStat
	Chmod // and chown
	Close
	Rename
	Link
	Remove
	Mkdir
	ReadDir
	Stat // and lstat, by name
	SyncDir
	kinds
)

var kindNames = [kinds]string{
	"open", "create", "read", "write", "sync", "truncate", "dropcache", "fstat", "chmod", "close",
	"rename", "link", "remove", "mkdir", "readdir", "stat", "syncdir",
}

// Kinds lists all kinds of operations.
func Kinds() []Kind {
	all := make([]Kind, kinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

func (k Kind) String() string { return kindNames[k] }

// Changes reports whether operations of this kind change what a power cut may leave.
func (k Kind) Changes() bool {
	switch k {
	case Create, Write, Sync, Truncate, Rename, Link, Remove, Mkdir, SyncDir:
		return true
	}
	return false
}

// Op is one operation: the Nth of all, counted from 1, and the Nth of its kind.
type Op struct {
	N, OfKind int
	Kind      Kind
	Path      string
	Size      int // bytes to be written
}

// Fault makes an operation fail.
type Fault struct {
	Err error // what it returns, as the Err of a *fs.PathError; nil for no fault
	// Short is how many bytes a failing write writes.
	Short int
	// Reached is how many dirty sectors reach the device before a sync fails, of
	// the first ones, or of the last ones if it is negative; the others are dropped.
	Reached int
	// Done says that the operation takes effect although it reports an error.
	Done bool
}

// ErrStopped is the error of every operation after the power is cut.
var ErrStopped = errors.New("the power is cut")

// Nth returns a fault function that fails the nth operation of a kind, and the
// times-1 ones of that kind behind it; times < 0 means all of them.
func Nth(kind Kind, n, times int, fault Fault) func(Op) Fault {
	return func(op Op) Fault {
		if op.Kind == kind && op.OfKind >= n && (times < 0 || op.OfKind < n+times) {
			return fault
		}
		return Fault{}
	}
}
