package vfs

// Identifier is a file system that can compare an open file with a name cheaply. It is
// optional: Stat, Lstat and SameFile say the same.
type Identifier interface {
	// Identify reports whether f is the file that name names (a link counts as
	// itself), and how long f is. An absent name is fs.ErrNotExist.
	Identify(f File, name string) (same bool, size int64, err error)
}

func (o osFS) identifyByStat(f File, name string) (bool, int64, error) {
	return Identify(plain{o}, f, name)
}

// plain hides Identify.
type plain struct{ FS }

// Identify compares an open file with a name on any file system.
func Identify(fsys FS, f File, name string) (same bool, size int64, err error) {
	if i, ok := fsys.(Identifier); ok {
		return i.Identify(f, name)
	}
	mine, err := f.Stat()
	if err != nil {
		return false, 0, err
	}
	named, err := fsys.Lstat(name)
	if err != nil {
		return false, 0, err
	}
	return fsys.SameFile(mine, named), mine.Size(), nil
}
