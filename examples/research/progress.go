package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/pawlgo/pawl/runs"
)

// meter shows how far the documents are: as a bar that is redrawn in place, or
// as plain lines, at most one a second, for logs.
type meter struct {
	w     io.Writer
	bar   bool
	plain bool
	width int
	now   func() time.Time

	mu    sync.Mutex
	begin time.Time
	last  time.Time // of the last drawing
	shown string    // the last line
}

func validProgress(s string) bool {
	return s == "auto" || s == "bar" || s == "plain" || s == "none"
}

// newMeter makes a meter for w in the mode asked for.
func newMeter(w io.Writer, mode string) *meter {
	m := &meter{w: w, bar: mode == "bar", plain: mode == "plain", width: 80, now: time.Now}
	f, ok := w.(*os.File)
	terminal := ok && term.IsTerminal(int(f.Fd()))
	if mode == "auto" {
		m.bar, m.plain = terminal, !terminal
	}
	if terminal {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			m.width = w
		}
	}
	return m
}

// update is pawl's progress callback.
func (m *meter) update(p runs.Progress) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if m.begin.IsZero() {
		m.begin = now
	}
	pause := time.Second
	if m.bar {
		pause = 50 * time.Millisecond
	}
	if !m.bar && !m.plain || p.Done < p.Total && now.Sub(m.last) < pause {
		return
	}
	line := m.text(p, now)
	if line == m.shown {
		return
	}
	m.last, m.shown = now, line
	if m.bar {
		fmt.Fprintf(m.w, "\r\x1b[K%s", line)
	} else {
		fmt.Fprintln(m.w, line)
	}
}

// text makes one line of at most the terminal's width.
func (m *meter) text(p runs.Progress, now time.Time) string {
	s := fmt.Sprintf("%d of %d documents", p.Done, p.Total)
	if p.Skipped > 0 {
		s += fmt.Sprintf(", %d of them from the record", p.Skipped)
	}
	if done, elapsed := p.Done-p.Skipped, now.Sub(m.begin); done > 0 && done < p.Total-p.Skipped && elapsed >= time.Second {
		left := time.Duration(float64(elapsed) / float64(done) * float64(p.Total-p.Done))
		s += fmt.Sprintf(", about %v left", left.Round(time.Second))
	}
	if room := min(m.width-len(s)-4, 30); m.bar && room >= 5 && p.Total > 0 {
		full := room * p.Done / p.Total
		s = "[" + strings.Repeat("=", full) + strings.Repeat(" ", room-full) + "] " + s
	}
	if m.bar && len(s) >= m.width {
		s = s[:max(m.width-1, 0)]
	}
	return s
}

// finish leaves the bar on a line of its own.
func (m *meter) finish() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bar && m.shown != "" {
		fmt.Fprintln(m.w)
	}
}
