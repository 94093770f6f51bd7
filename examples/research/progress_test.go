package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/runs"
)

// track sends a hundred items through a gauge, one each 100 ms of a clock of
// its own, of which the first twenty come from the record at once.
func track(mode string, width int) string {
	var out bytes.Buffer
	g := newGauge(&out, mode)
	g.width = width
	now := time.Unix(0, 0)
	g.now = func() time.Time { return now }
	for done := 20; done <= 100; done++ {
		g.update(runs.Progress{Done: done, Skipped: 20, Total: 100})
		now = now.Add(100 * time.Millisecond)
	}
	g.finish()
	return out.String()
}

func TestSkipped(t *testing.T) {
	r := pawl.Resume{Steps: 41, Saved: 20540 * time.Millisecond, Units: map[string]float64{"usd": 1.2345, "input_tokens": 49200, "words": 61725}}
	if got := skipped(r); got != "skipped 41 finished documents, $1.23, 49200 input tokens, 61725 words, 20.5s" {
		t.Error(got)
	}
}

func TestPlain(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(track("plain", 80), "\n"), "\n")
	// The first, one for each of the 7 further seconds, and the last, which is due anyway.
	if len(lines) != 9 || lines[0] != "20 of 100 documents, 20 of them from the record" ||
		lines[1] != "30 of 100 documents, 20 of them from the record, about 7s left" || lines[8] != "100 of 100 documents, 20 of them from the record" {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	if strings.Contains(strings.Join(lines, ""), "\r") {
		t.Error("a log has carriage returns")
	}
	if auto := track("auto", 80); auto != track("plain", 80) {
		t.Errorf("auto is not plain away from a terminal: %q", auto)
	}
	if none := track("none", 80); none != "" {
		t.Errorf("none: %q", none)
	}
}

func TestBar(t *testing.T) {
	for _, width := range []int{80, 40, 10, 2} {
		out := track("bar", width)
		if !strings.HasSuffix(out, "\n") || strings.Count(out, "\n") != 1 {
			t.Errorf("width %d: the bar is not on one line", width)
		}
		for frame := range strings.SplitSeq(strings.TrimSuffix(out, "\n"), "\r\x1b[K") {
			if len(frame) >= width+1 {
				t.Errorf("width %d: %q is too wide", width, frame)
			}
		}
	}
	if out := track("bar", 120); !strings.Contains(out, "[=========                     ] 30 of 100 documents") ||
		!strings.Contains(out, "[==============================] 100 of 100") {
		t.Errorf("bar: %q", out)
	}
}
