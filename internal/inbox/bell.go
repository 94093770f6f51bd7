package inbox

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/pawlgo/pawl/internal/vfs"
)

// Bell tells the runs of a store that are open in this process that there is mail: by inotify
// where there is such a thing, within 25 ms of Listen and then at once; by a call from the sender
// where the files are in memory; and else by looking every 100 ms. On file systems that have no
// way to tell ([vfs.Watcher]) it never rings: a run looks into its inbox when it is opened.
//
// A ring means "look", not more: it may come too often, and late. Its goroutine and its
// descriptor are there only while somebody listens. It is safe for concurrent use.
type Bell struct {
	fs  vfs.FS
	dir string // above the inboxes

	mu        sync.Mutex
	listeners map[string]map[*listener]bool // by name of the inbox
	cur       *vigil                        // while there are any
}

// listener is one who listens.
type listener struct {
	mu      sync.Mutex // held while it rings
	ring    func()
	stopped bool
}

// vigil is how a Bell finds out, from its first listener to its last.
type vigil struct {
	timer *time.Timer   // of its beginning, nil if it began at once
	stop  func()        // ends the watch, nil if there is none
	done  chan struct{} // ends looking
}

// NewBell returns the bell of the inboxes in a directory.
func NewBell(fsys vfs.FS, dir string) *Bell {
	return &Bell{fs: fsys, dir: dir, listeners: map[string]map[*listener]bool{}}
}

// settleIn is how long there must be listeners before a watch begins. Most runs are over by
// then, and the kernel takes some milliseconds to end a watch and has only 128 for each user.
const settleIn = 25 * time.Millisecond

// Listen makes ring be called, from another goroutine, when something may have been put into an
// inbox: the directory of that name, as [Post] takes it. What was put there before is not told:
// look into the inbox once Listen has returned.
//
// Ring is never called twice at a time, and neither runs nor is called after stop has returned.
// It must be quick, as waking a goroutine is, and must not call stop, nor post.
func (b *Bell) Listen(inbox string, ring func()) (stop func()) {
	w, ok := b.fs.(vfs.Watcher)
	if !ok {
		return func() {}
	}
	name := filepath.Base(inbox)
	l := &listener{ring: ring}
	b.mu.Lock()
	if b.listeners[name] == nil {
		b.listeners[name] = map[*listener]bool{}
	}
	b.listeners[name][l] = true
	if b.cur == nil {
		v := &vigil{done: make(chan struct{})}
		b.cur = v
		if vfs.InMemory(b.fs) {
			b.begin(v, w) // costs nothing, and fake time may stand still
		} else {
			v.timer = time.AfterFunc(settleIn, func() {
				b.mu.Lock()
				current := b.cur == v
				if current {
					b.begin(v, w)
				}
				b.mu.Unlock()
				if current {
					b.ring(v, "") // of what came meanwhile
				}
			})
		}
	}
	b.mu.Unlock()
	return func() { b.leave(name, l) }
}

// leave is the stop of a listener.
func (b *Bell) leave(name string, l *listener) {
	b.mu.Lock()
	delete(b.listeners[name], l)
	if len(b.listeners[name]) == 0 {
		delete(b.listeners, name)
	}
	if v := b.cur; len(b.listeners) == 0 && v != nil {
		b.cur = nil
		if v.timer != nil {
			v.timer.Stop()
		}
		if v.stop != nil {
			v.stop()
		}
		close(v.done)
	}
	b.mu.Unlock()
	// Not before b.mu is free: a ring that is under way may take it.
	l.mu.Lock()
	l.stopped = true
	l.mu.Unlock()
}

// begin begins to watch, or to look where no watch is to be had. The caller holds mu.
func (b *Bell) begin(v *vigil, w vfs.Watcher) {
	stop, err := w.Watch(b.dir, func(name string) { b.ring(v, name) }, func() {
		b.mu.Lock()
		if b.cur == v {
			go b.look(v) // which rings those that have an inbox
		}
		b.mu.Unlock()
	})
	if err != nil {
		go b.look(v)
		return
	}
	v.stop = stop
}

// ring rings those who listen to an inbox; everybody if it has no name.
func (b *Bell) ring(v *vigil, name string) {
	var now []*listener
	b.mu.Lock()
	switch {
	case b.cur != v: // over; there may be another one
	case name == "":
		for _, ls := range b.listeners {
			for l := range ls {
				now = append(now, l)
			}
		}
	default:
		for l := range b.listeners[name] {
			now = append(now, l)
		}
	}
	b.mu.Unlock()
	for _, l := range now {
		l.mu.Lock()
		if !l.stopped {
			l.ring()
		}
		l.mu.Unlock()
	}
}
