package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"
)

// output is standard output. On a terminal it is for people: aligned, cut to the
// width, with relative times. Elsewhere it is for programs: tab-separated, whole,
// with times in RFC 3339.
type output struct {
	w     *bufio.Writer
	tty   bool
	width int
}

// newOutput looks whether f is a terminal. PAWL_FORCE_TTY=80 makes it one of 80
// columns, for tests and documentation.
func newOutput(f *os.File, getenv func(string) string) *output {
	o := &output{w: bufio.NewWriterSize(f, 1<<16), width: 80}
	if n, err := strconv.Atoi(getenv("PAWL_FORCE_TTY")); err == nil && n > 0 {
		o.tty, o.width = true, n
	} else if term.IsTerminal(int(f.Fd())) {
		o.tty = true
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			o.width = n
		}
	}
	return o
}

func (o *output) Write(b []byte) (int, error) { return o.w.Write(b) }

func (o *output) flush() error { return o.w.Flush() }

func (o *output) line(s string) {
	o.w.WriteString(s) //nolint:errcheck // a bufio.Writer keeps its error for Flush
	o.w.WriteByte('\n')
}

// row writes cells for programs. A tab within a cell was escaped before.
func (o *output) row(cells ...string) { o.line(strings.Join(cells, "\t")) }

// table writes rows. On a terminal it begins with the head, and when the line is
// too long the columns named in shrink are cut, in that order.
func (o *output) table(head []string, rows [][]string, shrink ...int) {
	if !o.tty {
		for _, r := range rows {
			o.row(r...)
		}
		return
	}
	if len(rows) == 0 {
		return
	}
	widths := make([]int, len(head))
	for _, r := range append([][]string{head}, rows...) {
		for i, c := range r {
			widths[i] = max(widths[i], width(c))
		}
	}
	total := 2 * (len(head) - 1)
	for _, w := range widths {
		total += w
	}
	for _, i := range shrink {
		if over := total - o.width; over > 0 {
			to := max(width(head[i]), 12, widths[i]-over)
			if to < widths[i] {
				total -= widths[i] - to
				widths[i] = to
			}
		}
	}
	for _, r := range append([][]string{head}, rows...) {
		o.line(strings.TrimRight(align(r, widths), " "))
	}
}

func align(cells []string, widths []int) string {
	var b strings.Builder
	for i, c := range cells {
		c = cut(c, widths[i])
		b.WriteString(c)
		if i < len(cells)-1 {
			b.WriteString(strings.Repeat(" ", widths[i]-width(c)+2))
		}
	}
	return b.String()
}

// fields are the lines of a description: a label and what it says. A label may
// come several times. On a terminal long lines are wrapped.
type fields [][2]string

func (f *fields) add(label, value string) { *f = append(*f, [2]string{label, value}) }

func (o *output) fields(f fields) {
	last := ""
	for _, line := range f {
		label := line[0]
		if !o.tty {
			o.row(label, line[1])
			continue
		}
		if label == last {
			label = ""
		}
		last = line[0]
		for text := range strings.SplitSeq(line[1], "\n") {
			for _, part := range wrap(text, max(20, o.width-12)) {
				o.line(strings.TrimRight(fmt.Sprintf("%-10s  %s", label, part), " "))
				label = ""
			}
		}
	}
}

// encode returns v as JSON in one line. It panics for types that have no JSON: v is
// one of ours.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return safeJSON(bytes.TrimRight(b.Bytes(), "\n"))
}

func (o *output) json(v any) { o.line(string(encode(v))) }

// jsonList writes a list item by item, one a line:
//
//	{"kind":"RunList","version":1,"items":[
//	…,
//	…
//	],"total":2}
type jsonList struct {
	o     *output
	items int
}

func (o *output) openList(kind string) *jsonList {
	o.w.WriteString(`{"kind":"` + kind + `","version":1,"items":[`) //nolint:errcheck // see line
	return &jsonList{o: o}
}

func (l *jsonList) add(v any) {
	if l.items > 0 {
		l.o.w.WriteByte(',') //nolint:errcheck // see line
	}
	l.items++
	l.o.w.WriteByte('\n')
	l.o.w.Write(encode(v))
}

// end closes the list. Rest is a struct whose members follow the items.
func (l *jsonList) end(rest any) {
	if l.items > 0 {
		l.o.w.WriteByte('\n') //nolint:errcheck // see line
	}
	tail := encode(rest)
	if len(tail) > len("{}") {
		tail[0] = ','
	} else {
		tail = tail[1:]
	}
	l.o.line("]" + string(tail))
}

// head is how every JSON object begins that is printed alone.
type head struct {
	Kind    string `json:"kind"`
	Version int    `json:"version"`
}

// jsonTime is a time in UTC to the microsecond, or null.
type jsonTime time.Time

// MarshalJSON writes RFC 3339 of a fixed width, so that it sorts as text.
func (t jsonTime) MarshalJSON() ([]byte, error) {
	if time.Time(t).IsZero() {
		return []byte("null"), nil
	}
	return []byte(time.Time(t).UTC().Format(`"2006-01-02T15:04:05.000000Z"`)), nil
}

// seconds is a duration for programs.
func seconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e6 }
