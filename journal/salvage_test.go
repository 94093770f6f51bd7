package journal_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/journal"
)

// book is a journal of n records as a writer makes it, without its newlines.
func book(uid string, n int, tagged bool) []string {
	end, _ := line.Ends("")
	if tagged {
		end, _ = line.Ends(uid)
	}
	var lines []string
	var prev uint32
	for seq := 1; seq <= n; seq++ {
		at := time.Unix(int64(seq), 0)
		body := line.NewBody(journal.KindStep, fmt.Sprint(uid[:4], " step ", seq), at).Int("try", 1).CleanValue([]byte("1")).Bytes()
		if seq == 1 {
			body = line.NewBody(journal.KindRun, "", at).Int("format", 1).Str("id", uid[:4]).Str("uid", uid).Int("inc", 1).Bytes()
		}
		var text []byte
		text, prev = line.AppendEnd(nil, prev, int64(seq), int64(seq-1), body, end)
		lines = append(lines, string(text[:len(text)-1]))
	}
	return lines
}

const (
	uidA = "aaaa000000000000000000000000000a"
	uidB = "bbbb000000000000000000000000000b"
)

// spoiled is a line of which a byte has changed.
func spoiled(text string) string {
	i := strings.Index(text, `"at"`) + 1
	return text[:i] + "A" + text[i+1:]
}

func salvaged(t *testing.T, text, runID string) (kept []string, lost []journal.Lost) {
	t.Helper()
	err := journal.Salvage(strings.NewReader(text), int64(len(text)), runID, func(r *journal.Record) error {
		kept = append(kept, string(r.Text))
		return nil
	}, func(l journal.Lost) { lost = append(lost, l) })
	if err != nil {
		t.Fatal(err)
	}
	return kept, lost
}

// What a repair keeps of a run that lines of another run got into, or that was damaged in
// several places: its own records and nothing else.
func TestSalvageKeepsTheRunsOwn(t *testing.T) {
	a, b := book(uidA, 9, true), book(uidB, 12, true)
	join := func(parts ...[]string) []string { return slices.Concat(parts...) }
	with := func(lines []string, i int, text string) []string {
		c := slices.Clone(lines)
		c[i] = text
		return c
	}
	without := func(lines []string, drop ...int) []string {
		var left []string
		for i, l := range lines {
			if !slices.Contains(drop, i) {
				left = append(left, l)
			}
		}
		return left
	}
	big := book(uidB, 80, true)
	moved := slices.Concat(a[:3], a[6:8], a[4:]) // a sector of its own lines over another one
	for _, tt := range []struct {
		name  string
		lines []string
		want  []string
		id    string
	}{
		{name: "another run's first lines, and its own ID is known", lines: slices.Concat(a[:1], big), want: a[:1], id: "aaaa"},
		{name: "another run's first lines, and its own first line is lost", lines: slices.Concat(big[:2], a[2:]), want: a[2:]},
		{name: "its own lines once more, in the wrong place", lines: moved, want: slices.Concat(a[:3], a[4:])},
		{name: "a later line in front of the others", lines: slices.Concat(a[:2], a[7:8], a[2:]), want: a},
		{"whole", a, a, ""},
		{"a line of another run at the end", join(a, b[10:11]), a, ""},
		{"another journal behind it", join(a, b), a, "aaaa"},
		{"another journal's second half", join(a[:5], b[5:]), a[:5], "aaaa"},
		{"the last record damaged, and another's tail", join(a[:8], []string{spoiled(a[8])}, b[9:]), a[:8], ""},
		{"another run's first line", join(b[:1], a[1:]), a[1:], ""},
		{"another run's line in place of one", with(a, 4, b[4]), without(a, 4), ""},
		{"a record between two damaged ones", with(with(a, 3, spoiled(a[3])), 5, spoiled(a[5])), without(a, 3, 5), ""},
		{"a dropped line", without(a, 4), without(a, 4), ""},
		{"two lines swapped", with(with(a, 4, a[5]), 5, a[4]), without(a, 5), ""},
		{"a line twice", join(a[:5], a[4:]), a, ""},
		{"an older line once more", join(a[:7], a[2:3], a[7:]), a, ""},
		{"the first line lost", with(a, 0, spoiled(a[0])), a[1:], ""},
		{"all but one lost", []string{spoiled(a[0]), a[6]}, a[6:7], ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			kept, lost := salvaged(t, strings.Join(tt.lines, "\n")+"\n", tt.id)
			if !slices.Equal(kept, tt.want) {
				t.Errorf("kept:\n%s\nwant:\n%s\nlost: %+v", strings.Join(kept, "\n"), strings.Join(tt.want, "\n"), lost)
			}
		})
	}
}

// A backup of the run that went its own way has the run's tag and other records.
func TestSalvageOfTwoBranches(t *testing.T) {
	a := book(uidA, 9, true)
	branch := book("aaaa0000000000000000000000000000", 9, true) // same tag, other records
	kept, _ := salvaged(t, strings.Join(slices.Concat(a[:5], branch[5:]), "\n")+"\n", "")
	if !slices.Equal(kept, a[:5]) {
		t.Errorf("kept %q", kept)
	}
}

// Journals of writers that do not mark their lines.
func TestSalvageWithoutTags(t *testing.T) {
	a, b := book(uidA, 9, false), book(uidB, 12, false)
	for _, tt := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"whole", a, a},
		{"a damaged line", slices.Concat(a[:3], []string{spoiled(a[3])}, a[4:]), slices.Concat(a[:3], a[4:])},
		{"another journal behind it", slices.Concat(a, b[:6]), a},
		{"another journal's second half", slices.Concat(a[:5], b[5:]), a[:5]},
	} {
		kept, lost := salvaged(t, strings.Join(tt.lines, "\n")+"\n", "")
		if !slices.Equal(kept, tt.want) {
			t.Errorf("%s: kept:\n%s\nlost: %+v", tt.name, strings.Join(kept, "\n"), lost)
		}
	}
}

// A tool may return the lines of some journal, even of this one: whatever happens to the
// record that holds them, they are not records.
func TestSalvageFindsNoRecordsInValues(t *testing.T) {
	a := book(uidA, 6, true)
	inner := strings.Join(append(book(uidB, 8, true), book(uidA, 9, true)...), ",")
	end, _ := line.Ends(uidA)
	h, _, _ := line.ParseHead([]byte(a[5]))
	text, _ := line.AppendEnd(nil, h.CRC, 7, 6, line.NewBody(journal.KindStep, "cat", time.Time{}).CleanValue([]byte("["+inner+"]")).Bytes(), end)
	outer := strings.TrimSuffix(string(text), "\n")
	for i := 0; i < len(outer); i += 1 + i/40 {
		for _, c := range []byte{'x', outer[i] ^ 1} {
			broken := outer[:i] + string(c) + outer[i+1:]
			kept, _ := salvaged(t, strings.Join(a, "\n")+"\n"+broken+"\n", "")
			if broken != outer && !slices.Equal(kept, a) {
				t.Fatalf("byte %d changed to %q: kept\n%s", i, c, strings.Join(kept, "\n"))
			}
		}
	}
}

// Heads that claim to be long cost no more than the lines that are there.
func TestSalvageManyFalseHeads(t *testing.T) {
	a := book(uidA, 3, true)
	head := `{"crc":"00000000","len":4000000,"prev":"00000000","seq":9,"dur":8,`
	var value bytes.Buffer
	for range 60_000 {
		value.WriteString(head + `"x":`)
	}
	value.WriteString("1" + strings.Repeat("}", 60_000))
	text := strings.Join(a[:2], "\n") + "\n" + spoiled(a[2]) + value.String() + strings.Repeat(" ", 5_000_000) + "\n"
	begin := time.Now()
	if kept, _ := salvaged(t, text, ""); len(kept) != 2 {
		t.Errorf("kept %d records", len(kept))
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}
