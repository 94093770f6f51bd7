package vfs

import (
	"path/filepath"
	"sync"
)

// Watcher is a file system that can tell that something was put into a directory inside
// another one. It is optional: without it nobody is told.
type Watcher interface {
	// Touch tells those who watch the directory above dir that something was put into
	// dir. It is a hint: who needs to know looks for himself, too.
	Touch(dir string)
	// Watch calls changed with the name of each entry of dir that is made, renamed to or
	// touched from now on; with "" if it may have missed some. Calls may come at the same
	// time, and a last one after stop, which does not wait. If the watch ends by itself
	// it calls lost, once.
	//
	// An error says that it cannot be had now: look from time to time instead.
	Watch(dir string, changed func(name string), lost func()) (stop func(), err error)
}

// Touch is [Watcher].Touch where there is one.
func Touch(fsys FS, dir string) {
	if w, ok := fsys.(Watcher); ok {
		w.Touch(dir)
	}
}

// Watchers is those in this process who watch directories. Its zero value is nobody.
type Watchers struct {
	mu  sync.Mutex
	dir map[string]map[*func(string)]bool // by clean name
}

// Add makes changed be called when an entry of dir is touched.
func (w *Watchers) Add(dir string, changed func(name string)) (stop func()) {
	dir = filepath.Clean(dir)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dir == nil {
		w.dir = map[string]map[*func(string)]bool{}
	}
	if w.dir[dir] == nil {
		w.dir[dir] = map[*func(string)]bool{}
	}
	w.dir[dir][&changed] = true
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.dir[dir], &changed)
		if len(w.dir[dir]) == 0 {
			delete(w.dir, dir)
		}
	}
}

// Touch calls those who watch the directory above name.
func (w *Watchers) Touch(name string) {
	dir, base := filepath.Split(filepath.Clean(name))
	w.mu.Lock()
	var call []*func(string)
	for f := range w.dir[filepath.Clean(dir)] {
		call = append(call, f)
	}
	w.mu.Unlock() // not held during the calls: they may stop watching
	for _, f := range call {
		(*f)(base)
	}
}
