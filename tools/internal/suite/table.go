package suite

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Sum prints what came of all suites: the tests that were skipped and why, the
// slowest ones, and the table. It returns an error if any suite failed or all of
// them together took longer than total, which bounds nothing if it is 0.
func Sum(w io.Writer, results []Result, total time.Duration) error {
	sum := Result{Suite: "all", Budget: total, Report: Report{Skips: make(map[string][]string)}}
	failed := 0
	for _, r := range results {
		sum.Build += r.Build
		sum.Run += r.Run
		sum.Report.Add(r.Report)
		if r.Err != nil {
			failed++
		}
	}
	printSkips(w, sum.Report.Skips)
	printSlow(w, sum.Report.Slow)
	printFailures(w, sum.Report.Failures)

	switch {
	case failed > 0:
		sum.Err = fmt.Errorf("%d of %d suites failed", failed, len(results))
	case total > 0 && sum.Run > total:
		sum.Err = errOver
	}
	printTable(w, append(slices.Clone(results), sum))
	fmt.Fprintf(w, "tests: %d passed, %d failed, %d skipped\n", sum.Report.Passed, sum.Report.Failed, sum.Report.Skipped)
	return sum.Err
}

// printSkips names each reason with the tests that gave it, so that a missing
// tool is never taken for a passing suite.
func printSkips(w io.Writer, skips map[string][]string) {
	if len(skips) == 0 {
		return
	}
	fmt.Fprintf(w, "\nSkipped:\n")
	for _, why := range slices.Sorted(maps.Keys(skips)) {
		tests := skips[why]
		more := ""
		if len(tests) > 3 {
			more = fmt.Sprintf(" and %d more", len(tests)-3)
			tests = tests[:3]
		}
		fmt.Fprintf(w, "  %s: %s%s\n", why, strings.Join(tests, ", "), more)
	}
}

func printSlow(w io.Writer, slow []Timing) {
	slices.SortStableFunc(slow, func(a, b Timing) int { return int(b.Took - a.Took) })
	if len(slow) > 5 {
		slow = slow[:5]
	}
	if len(slow) > 0 {
		fmt.Fprintf(w, "\nSlowest tests:\n")
	}
	for _, t := range slow {
		fmt.Fprintf(w, "  %s %s\n", seconds(t.Took), t.Test)
	}
}

func printFailures(w io.Writer, failures []string) {
	if len(failures) > 0 {
		fmt.Fprintf(w, "\nFailed:\n  %s\n", strings.Join(failures, "\n  "))
	}
}

// printTable prints a line for each suite. Where the processor time is far below
// the time on the clock, the suite waited: for the disk, for a sleep of its own,
// or because somebody else used the machine.
func printTable(w io.Writer, rows []Result) {
	fmt.Fprintln(w)
	const form = "%-16s %6s %8s %8s %8s %8s %8s  %s\n"
	fmt.Fprintf(w, form, "suite", "tests", "skipped", "build", "run", "cpu", "budget", "result")
	for _, r := range rows {
		verdict, budget := "ok", "none"
		if r.Err != nil {
			verdict = "FAILED: " + r.Err.Error()
		}
		if r.Budget > 0 {
			budget = seconds(r.Budget)
		}
		fmt.Fprintf(w, form, r.Suite, strconv.Itoa(r.Report.Passed+r.Report.Failed), strconv.Itoa(r.Report.Skipped),
			seconds(r.Build), seconds(r.Run), seconds(r.Report.CPU), budget, verdict)
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
