// Package suite runs the tests of modules against time budgets and reports what
// happened. It reads the JSON stream of go test, so that it can show a failed
// test's output and no other, count tests, and name each test that was skipped.
package suite

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// An event is one line of go test -json; see go doc test2json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// A Report sums up one go test run.
type Report struct {
	Passed, Failed, Skipped int
	Skips                   map[string][]string // reason → tests, as package.Test
	Slow                    []Timing            // top-level tests, slowest first
	Failures                []string            // the tests that failed, as package.Test
	CPU                     time.Duration       // processor time of all processes
}

// A Timing says how long one test took.
type Timing struct {
	Test string
	Took time.Duration
}

// Read reads the JSON stream of go test until its end, writes to w what a
// person wants to see of it, and returns the sums. With verbose everything
// shows; else what passing and skipped tests print is left out.
func Read(r io.Reader, w io.Writer, verbose bool) (Report, error) {
	rep := Report{Skips: make(map[string][]string)}
	held := make(map[string][]string) // test → its output so far
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var e event
		if json.Unmarshal(sc.Bytes(), &e) != nil || e.Action == "" {
			fmt.Fprintf(w, "%s\n", sc.Bytes()) // not an event: the go command's own words
			continue
		}
		if e.Test == "" {
			rep.pack(e, held, w, verbose)
			continue
		}
		rep.test(e, held, w, verbose)
	}
	slices.SortStableFunc(rep.Slow, func(a, b Timing) int { return int(b.Took - a.Took) })
	return rep, sc.Err()
}

// Add adds what another run reported.
func (rep *Report) Add(r Report) {
	rep.Passed += r.Passed
	rep.Failed += r.Failed
	rep.Skipped += r.Skipped
	for why, tests := range r.Skips {
		rep.Skips[why] = append(rep.Skips[why], tests...)
	}
	rep.Slow = append(rep.Slow, r.Slow...)
	rep.Failures = append(rep.Failures, r.Failures...)
	rep.CPU += r.CPU
}

// pack handles an event of a package or a build.
func (rep *Report) pack(e event, held map[string][]string, w io.Writer, verbose bool) {
	switch {
	case e.Action == "fail":
		// A package that died (a panic, os.Exit, the timeout) may leave tests
		// without a verdict: what they printed says why.
		for _, name := range slices.Sorted(maps.Keys(held)) {
			if !verbose && strings.HasPrefix(name, e.Package+".") {
				flush(name, held, w)
			}
		}
		if !slices.ContainsFunc(rep.Failures, func(name string) bool { return strings.HasPrefix(name, e.Package+".") }) {
			rep.Failed++
			rep.Failures = append(rep.Failures, e.Package)
		}
	case e.Action == "output" || e.Action == "build-output":
		if verbose || !chatter(e.Output) {
			io.WriteString(w, e.Output)
		}
	}
}

// chatter tells whether a line of a package says nothing that its last line does
// not say too.
func chatter(line string) bool {
	return line == "PASS\n" || line == "testing: warning: no tests to run\n" || strings.HasSuffix(line, "[no test files]\n")
}

// progress begins the lines of a test that are for somebody who waits for it.
const progress = "progress: "

// test handles an event of a test.
func (rep *Report) test(e event, held map[string][]string, w io.Writer, verbose bool) {
	name := e.Package + "." + e.Test
	switch e.Action {
	case "output":
		isProgress := strings.HasPrefix(e.Output, progress)
		if verbose || isProgress {
			io.WriteString(w, e.Output)
		}
		if !isProgress && !strings.HasPrefix(e.Output, "=== ") {
			held[name] = append(held[name], e.Output)
		}
		return
	case "pass":
		rep.Passed++
	case "fail":
		rep.Failed++
		rep.Failures = append(rep.Failures, name)
		if !verbose {
			flush(name, held, w)
		}
	case "skip":
		rep.Skipped++
		why := reason(held[name])
		rep.Skips[why] = append(rep.Skips[why], name)
	default: // run, pause, cont, bench
		return
	}
	delete(held, name)
	if took := time.Duration(e.Elapsed * float64(time.Second)); took >= time.Second && !strings.Contains(e.Test, "/") {
		rep.Slow = append(rep.Slow, Timing{name, took})
	}
}

func flush(name string, held map[string][]string, w io.Writer) {
	for _, line := range held[name] {
		io.WriteString(w, line)
	}
	delete(held, name)
}

// reason finds what a test said when it skipped itself: the last line that it
// printed, without the position.
func reason(lines []string) string {
	for _, line := range slices.Backward(lines) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "--- SKIP") {
			continue
		}
		if _, text, ok := strings.Cut(line, ".go:"); ok {
			if _, text, ok = strings.Cut(text, ": "); ok {
				return text
			}
		}
		return line
	}
	return "no reason given"
}
