package inbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/regular"
	"github.com/pawlgo/pawl/internal/vfs"
)

// Post puts an entry into the inbox at dir, which is made if it is not there; the directory above
// must be. It returns the entry as the owner will see it. It needs no lock.
//
// When it returns nil the entry is durable: it is in the inbox, or its owner has taken it. If
// there is mail about the same thing, the error is a *[ExistsError], which says whose, and that
// mail is durable; what the owner has taken before is not there any more, so who must not
// contradict it looks into the journal after Post has returned. An error that matches [ErrInDoubt]
// says that the entry is there. After any other, nothing is.
func Post(fsys vfs.FS, dir string, e Entry, warn func(string)) (Entry, error) {
	if e.Mail == "" {
		e.Mail = draw()
	}
	text, err := e.encode()
	if err != nil {
		return e, err
	}
	// What cannot be read must not be posted; and the sender is to see what the owner will.
	if e, err = decode(filepath.Join(dir, e.Name()), text); err != nil {
		return e, err
	}
	// Whoever makes us try again has done something itself, so that this ends; the bound is for
	// file systems that do not keep what they were given.
	for range tries {
		p := post{fs: fsys, dir: dir, path: filepath.Join(dir, e.Name()), text: text, warn: warn}
		var again bool
		if again, err = p.try(); !again {
			// At the end, when the entry is there to be seen; and if there was one, too, whose
			// sender may have died before this.
			vfs.Touch(fsys, dir)
			removeEmpty(fsys, dir) // if the owner took the mail while our temporary file was there
			return e, err
		}
	}
	return e, err
}

const tries = 100

// post is one attempt to post.
type post struct {
	fs        vfs.FS
	dir, path string // of the inbox and of the entry
	text      []byte
	warn      func(string)
}

// try posts. Again says that somebody took something away under it.
func (p *post) try() (again bool, err error) {
	if err := p.makeDir(); err != nil {
		return false, err // not again: the directory above is missing
	}
	temp := filepath.Join(p.dir, tempName(vfs.Now()))
	f, err := p.write(temp)
	if err != nil {
		// No directory: the owner took the last mail and removed it. The other one is a drawn
		// name that is taken, and must not look like mail that was there first.
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist), err
	}
	defer f.Close() //nolint:errcheck // everything in it is durable
	// A link, which gives a name only if nobody has it; and only now, when the content is
	// durable: what is found under the name is whole.
	err = vfs.RenameNew(p.fs, temp, p.path)
	if err == nil {
		return false, p.settle()
	}
	// It may have happened all the same: a network file system may send a link twice, and be
	// told of the second one that there is something.
	same, _, _ := vfs.Identify(p.fs, f, p.path)
	switch {
	case same && errors.Is(err, fs.ErrExist):
		p.fs.Remove(temp) //nolint:errcheck // a second name; swept in time
		return false, p.settle()
	case same:
		return false, fmt.Errorf("%w: giving it its name failed: %w", ErrInDoubt, err)
	}
	p.discard(temp)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, err // our temporary file was taken for a dead one's
	case errors.Is(err, fs.ErrExist):
		return p.lost()
	}
	return false, err
}

// makeDir makes the inbox if it is not there.
func (p *post) makeDir() error {
	err := isDir(p.fs, p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = p.fs.Mkdir(p.dir, 0o700)
		if errors.Is(err, fs.ErrExist) {
			err = isDir(p.fs, p.dir) // another sender was faster
			if errors.Is(err, fs.ErrNotExist) {
				err = nil // and the owner faster still: creating a file will tell
			}
		}
	}
	if err != nil {
		return err
	}
	p.give(p.dir)
	return nil
}

// give makes the run's owner, as whose the directory above stands for, able to read what root
// posts.
func (p *post) give(name string) {
	like, err := p.fs.Stat(parent(p.dir))
	if err == nil {
		err = vfs.GiveTo(p.fs, name, like)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.warn(fmt.Sprintf("%s: the run's owner may not be able to read this: %v", name, err))
	}
}

// write writes the temporary file, durably. If it fails nothing is left.
func (p *post) write(temp string) (vfs.File, error) {
	f, err := p.fs.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL|regular.NoFollow, 0o600)
	if err != nil {
		p.discard("")
		return nil, err
	}
	p.give(temp)
	_, err = f.WriteAt(p.text, 0)
	if err == nil {
		// Content before name: nobody must find half an entry, after a power cut either.
		err = f.Sync()
	}
	if err != nil {
		f.Close() //nolint:errcheck // it is removed
		p.discard(temp)
		return nil, err
	}
	return f, nil
}

// discard removes a temporary file, and the inbox if that is empty now.
func (p *post) discard(temp string) {
	if temp != "" {
		p.fs.Remove(temp) //nolint:errcheck // swept in time
	}
	removeEmpty(p.fs, p.dir)
}

// settle makes the entry durable that has its name.
func (p *post) settle() error {
	err := journalfile.SyncDir(p.fs, p.dir, p.warn)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the owner has it in its journal and removed the inbox
	}
	if err == nil {
		// Always, whoever made the inbox: he may not have come to it. And after the link: before,
		// the inbox could be removed and made again; with mail in it, it stays.
		err = journalfile.SyncDir(p.fs, parent(p.dir), p.warn)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInDoubt, err)
	}
	return nil
}

// lost tells who was first.
func (p *post) lost() (again bool, err error) {
	winner, err := read(p.fs, p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, err // taken meanwhile: there is room
	}
	lost := &ExistsError{Path: p.path, Winner: winner, Err: err}
	// The sender may have died before it was durable. Who is told of it will act on it.
	if err := p.settle(); err != nil {
		lost.Err = errors.Join(lost.Err, err)
	}
	return false, lost
}
