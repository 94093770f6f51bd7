package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/runs"
)

// gauge shows how far the documents are: as a bar that is redrawn in place, or
// as plain lines, at most one a second, for logs.
type gauge struct {
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

// newGauge makes a gauge for w in the mode asked for.
func newGauge(w io.Writer, mode string) *gauge {
	g := &gauge{w: w, bar: mode == "bar", plain: mode == "plain", width: 80, now: time.Now}
	f, ok := w.(*os.File)
	terminal := ok && term.IsTerminal(int(f.Fd()))
	if mode == "auto" {
		g.bar, g.plain = terminal, !terminal
	}
	if terminal {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			g.width = w
		}
	}
	return g
}

// update is pawl's progress callback.
func (g *gauge) update(p runs.Progress) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	if g.begin.IsZero() {
		g.begin = now
	}
	pause := time.Second
	if g.bar {
		pause = 50 * time.Millisecond
	}
	if !g.bar && !g.plain || p.Done < p.Total && now.Sub(g.last) < pause {
		return
	}
	line := g.text(p, now)
	if line == g.shown {
		return
	}
	g.last, g.shown = now, line
	if g.bar {
		fmt.Fprintf(g.w, "\r\x1b[K%s", line)
	} else {
		fmt.Fprintln(g.w, line)
	}
}

// text makes one line of at most the terminal's width.
func (g *gauge) text(p runs.Progress, now time.Time) string {
	s := fmt.Sprintf("%d of %d documents", p.Done, p.Total)
	if p.Skipped > 0 {
		s += fmt.Sprintf(", %d of them from the record", p.Skipped)
	}
	if done, elapsed := p.Done-p.Skipped, now.Sub(g.begin); done > 0 && done < p.Total-p.Skipped && elapsed >= time.Second {
		left := time.Duration(float64(elapsed) / float64(done) * float64(p.Total-p.Done))
		s += fmt.Sprintf(", about %v left", left.Round(time.Second))
	}
	if room := min(g.width-len(s)-4, 30); g.bar && room >= 5 && p.Total > 0 {
		full := room * p.Done / p.Total
		s = "[" + strings.Repeat("=", full) + strings.Repeat(" ", room-full) + "] " + s
	}
	if g.bar && len(s) >= g.width {
		s = s[:max(g.width-1, 0)]
	}
	return s
}

// skipped says what a start does not do and pay again: what the steps that are recorded used
// when they ran, and how long they took.
func skipped(r pawl.Resume) string {
	parts := []string{fmt.Sprintf("%d finished documents", r.Steps)}
	if usd, ok := r.Units["usd"]; ok {
		parts = append(parts, fmt.Sprintf("$%.2f", usd))
	}
	for _, unit := range slices.Sorted(maps.Keys(r.Units)) {
		if unit != "usd" {
			parts = append(parts, fmt.Sprintf("%.0f %s", r.Units[unit], strings.ReplaceAll(unit, "_", " ")))
		}
	}
	return "skipped " + strings.Join(append(parts, r.Saved.Round(100*time.Millisecond).String()), ", ")
}

// finish leaves the bar on a line of its own.
func (g *gauge) finish() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.bar && g.shown != "" {
		fmt.Fprintln(g.w)
	}
}
