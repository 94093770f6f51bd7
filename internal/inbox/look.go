package inbox

import (
	"path/filepath"
	"time"
)

const (
	lookEvery = 100 * time.Millisecond
	// lookTwice is for how long after a change of an inbox it is taken as changed again: the times
	// of files go by steps, of up to two seconds, and the second of two changes in one does
	// not show.
	lookTwice = 3 * time.Second
	// lookAnyway is how often an inbox that is there is rung for at least. It is there only
	// while it holds mail; and not everywhere does the time of a directory change at all.
	lookAnyway = time.Second
)

// seen is what was seen of an inbox.
type seen struct {
	modTime time.Time
	changed time.Time // when we saw it change, by our clock
	rung    time.Time
}

// look looks at the inboxes of those who listen, and at nothing else, from time to time.
func (b *Bell) look(v *vigil) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	last := map[string]seen{}
	for {
		next := make(map[string]seen, len(last))
		for _, name := range b.names(v) {
			fi, err := b.fs.Lstat(filepath.Join(b.dir, name))
			if err != nil {
				continue // there is none
			}
			now := time.Now()
			s, ok := last[name]
			if !ok || !s.modTime.Equal(fi.ModTime()) {
				s.modTime, s.changed = fi.ModTime(), now
			}
			if now.Sub(s.changed) < lookTwice || now.Sub(s.rung) >= lookAnyway {
				s.rung = now
				b.ring(v, name)
			}
			next[name] = s
		}
		last = next
		select {
		case <-v.done:
			return
		case <-tick.C:
		}
	}
}

// names lists the inboxes that somebody listens to.
func (b *Bell) names(v *vigil) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cur != v {
		return nil
	}
	names := make([]string, 0, len(b.listeners))
	for name := range b.listeners {
		names = append(names, name)
	}
	return names
}
