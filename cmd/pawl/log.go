package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/runs"
)

type logFlags struct {
	last   int // -1 is all
	follow bool
	values bool
}

func (a *app) logCommand() *cobra.Command {
	f := logFlags{last: -1}
	cmd := &cobra.Command{
		Use:     "log REF",
		Short:   "Print the history of a run, a line a record",
		GroupID: "look",
		Example: `  pawl log research
  pawl log research -n 20
  pawl log -f research                          follow it until it ends
  pawl log research --json | jq -r 'select(.kind=="fail") | .error'`,
		Long: `A line holds the record's number, its time (the writer's clock, in UTC), its kind,
the key of its step and facts about it. Values, which may be large or private, are
shown with --values only. With --json the records are printed as they stand in the
journal, byte for byte, one a line (bytes that are not UTF-8, which pawl verify reports,
as U+FFFD).

With -f, records are printed as they come, until the run is complete or nobody has
it open any more.`,
		Annotations:       map[string]string{"exit": "3 not found · 5 with -f: ended, not complete · 6 damaged: printed up to there"},
		Args:              oneRef,
		ValidArgsFunction: a.completeRef,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("last") && f.last < 0 {
				return usage(cmd, "-n %d: it must not be negative", f.last)
			}
			t, err := a.resolve(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.log(cmd.Context(), t, f)
		},
	}
	cmd.Flags().IntVarP(&f.last, "last", "n", -1, "only the last `N` records")
	cmd.Flags().Lookup("last").DefValue = "" // all
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "print new records as they come")
	cmd.Flags().BoolVar(&f.values, "values", false, "print results and states, too")
	return cmd
}

func (a *app) log(ctx context.Context, t *target, f logFlags) error {
	if isCheckpoint(t.info) {
		return a.logCheckpoint(t, f)
	}
	if !hasJournal(t.info.Err) {
		return a.readProblem(t)
	}
	pos, err := a.logRecords(ctx, t.info.Path, f)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if t.info.Err == nil && err != nil {
		t.info.Err = err // damaged since
	}
	if t.info.Err != nil {
		return a.readProblem(t)
	}
	if f.follow {
		return a.follow(ctx, t, f, pos)
	}
	return nil
}

// position is how far a history was read.
type position struct {
	seq    int64
	end    int64          // offset behind the last record
	status journal.Status // as of the last record
}

func (p *position) see(r *journal.Record) {
	p.seq, p.end = r.Seq, r.Offset+int64(len(r.Text))
	switch r.Kind {
	case journal.KindClear, journal.KindReopen:
		p.status = journal.InProgress
	case journal.KindComplete:
		p.status = journal.Complete
	case journal.KindCancelled:
		p.status = journal.Cancelled
	}
	if p.status == journal.Cancelled {
		return // whatever ends after that
	}
	switch r.Kind {
	case journal.KindAttempt:
		p.status = journal.InProgress
	case journal.KindFailed:
		p.status = journal.Failed
	case journal.KindWaiting:
		p.status = journal.Waiting
	}
}

// logRecords prints the history, or the last records of it, without holding more
// than one record in memory.
func (a *app) logRecords(ctx context.Context, path string, f logFlags) (position, error) {
	pos := position{status: journal.InProgress}
	var last []journal.Span // ring of the last records
	oldest := 0
	_, err := journal.Each(path, func(r *journal.Record) error {
		pos.see(r)
		switch span := (journal.Span{Seq: r.Seq, Offset: r.Offset, Len: int64(len(r.Text))}); {
		case f.last < 0:
			a.logRecord(r, f)
		case len(last) < f.last:
			last = append(last, span)
		case f.last > 0:
			last[oldest] = span
			oldest = (oldest + 1) % f.last
		}
		return ctx.Err()
	})
	if len(last) == 0 {
		return pos, err
	}
	file, openErr := journal.Open(path)
	if openErr != nil {
		return pos, openErr
	}
	defer file.Close()
	for i := range last {
		r, readErr := journal.RecordAt(file, last[(oldest+i)%len(last)])
		if readErr != nil {
			return pos, journal.WithPath(readErr, path)
		}
		a.logRecord(r, f)
	}
	return pos, err
}

const logTime = "2006-01-02T15:04:05.000Z"

func (a *app) logRecord(r *journal.Record, f logFlags) {
	if a.json {
		a.logRaw(r.Text)
		return
	}
	facts, at, value := a.facts(r), r.Time().UTC(), ""
	if v, ok := r.Value(); ok && f.values {
		value = shownValue(v)
	}
	key := ""
	if r.Key != "" {
		key = cell(r.Key)
	}
	if !a.out.tty {
		row := []string{fmt.Sprint(r.Seq), at.Format(logTime), inline(r.Kind), key, facts}
		if f.values {
			row = append(row, value)
		}
		a.out.row(row...)
		return
	}
	if day := at.Format(time.DateOnly); day != a.logDay {
		a.logDay = day
		a.out.line(day + " UTC")
	}
	line := fmt.Sprintf("%5d  %s  %-11s", r.Seq, at.Format("15:04:05.000"), inline(r.Kind))
	for _, s := range []string{key, facts, value} {
		if s != "" {
			line += "  " + s
		}
	}
	line = strings.TrimRight(line, " ")
	if value == "" {
		line = cut(line, a.out.width) // who asks for values wants to see them
	}
	a.out.line(line)
}

func (a *app) logRaw(text []byte) {
	switch {
	case a.out.tty:
		text = safeJSON(text)
	case !utf8.Valid(text): // no JSON: what is not UTF-8 becomes U+FFFD
		text = bytes.ToValidUTF8(text, []byte("\ufffd"))
	}
	a.out.line(string(text))
}

// shownValue makes JSON text safe to stand in a line of a terminal.
func shownValue(v []byte) string {
	var b bytes.Buffer
	if err := json.Compact(&b, v); err != nil {
		return inline(string(v))
	}
	return string(safeJSON(b.Bytes()))
}

// logCheckpoint shows the one record that a checkpoint file holds.
func (a *app) logCheckpoint(t *target, f logFlags) error {
	switch {
	case f.last == 0:
	case a.json:
		text, err := os.ReadFile(t.info.Path)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := json.Compact(&b, text); err != nil {
			return err
		}
		a.logRaw(b.Bytes())
	default:
		kind := journal.KindState
		if t.info.Status == runs.Complete {
			kind = journal.KindComplete
		}
		sep := "\t"
		if a.out.tty {
			sep = "  "
		}
		a.out.line(strings.Join([]string{"1", t.info.Updated.UTC().Format(logTime), kind, "", a.bytes(t.info.Size)}, sep))
	}
	a.hint("a checkpoint file keeps its newest record only")
	if f.follow {
		return &problem{exit: exitUsage, code: "unsupported", msg: "a checkpoint file has no history to follow", err: errors.ErrUnsupported}
	}
	return nil
}
