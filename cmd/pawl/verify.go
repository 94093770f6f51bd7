package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/journal"
)

func (a *app) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "verify [REF...]",
		Short:   "Check every byte of runs, or of the whole store",
		GroupID: "check",
		Example: `  pawl verify                        the whole store
  pawl verify research               one run
  pawl verify backup/*.jsonl         journals anywhere
  pawl verify --json | jq '.items[] | select(.status=="damaged")'`,
		Long: `Reads everything, changes nothing, takes no lock; safe beside a live owner. A run is
  ok       every record verified
  torn     the same, and bytes of an interrupted write follow. They were never
           acknowledged; the next start cuts them off and keeps a copy. No error.
  damaged  something that was acknowledged cannot be trusted. Path, offset, record and
           reason are given. Its program refuses to start it; nothing was changed.
  newer    written by a newer pawl
  unreadable  the system refuses`,
		Annotations:       map[string]string{"exit": "3 not found · 6 damage was found"},
		ValidArgsFunction: a.completeRefs,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.verify(cmd.Context(), args) },
	}
}

// verdict is the JSON of what was found in one run.
type verdict struct {
	ID      *string      `json:"id"`
	Status  string       `json:"status"`
	Records int64        `json:"records"`
	Bytes   int64        `json:"bytes"`
	Torn    *tornJSON    `json:"torn"`
	Path    string       `json:"path"`
	Problem *problemJSON `json:"problem"`

	Warnings []string `json:"warnings"`
}

type tornJSON struct {
	Bytes  int64  `json:"bytes"`
	Offset int64  `json:"offset"`
	Reason string `json:"reason"`
	Live   bool   `json:"live"` // a live owner is writing them
}

func (a *app) verify(ctx context.Context, args []string) error {
	var list *jsonList // opened late: a store that is not there leaves no output
	open := func() {
		if list == nil {
			list = a.out.openList("Verification")
		}
	}
	var bad []listed
	total := 0
	one := func(t *target) {
		total++
		v := judge(t)
		if t.info.Err != nil {
			bad = append(bad, a.listed(t))
		}
		if a.json {
			open()
			list.add(v)
		} else {
			a.verdict(t.name, v)
		}
		a.out.flush() //nolint:errcheck // kept for the end; a big store takes long
	}
	err := a.eachRun(ctx, args, one)
	if a.json && (err == nil || list != nil) {
		open()
		list.end(struct {
			OK bool `json:"ok"`
		}{err == nil && len(bad) == 0})
	}
	if err != nil {
		return err
	}
	if len(bad) == 0 {
		if total > 0 {
			a.hint("%s verified, no damage", count(total, "run"))
		} else {
			a.hint("the store is empty")
		}
		return nil
	}
	p := explain(a.badRuns(bad, total))
	p.hint = "nothing was changed; what can be read: pawl show " + bad[0].arg
	return p
}

// eachRun calls fn for the runs asked for, or all of the store.
func (a *app) eachRun(ctx context.Context, args []string, fn func(*target)) error {
	for _, arg := range args {
		t, err := a.resolve(ctx, arg)
		if err != nil {
			return err
		}
		fn(t)
	}
	if len(args) > 0 {
		return nil
	}
	s, ref, err := a.open()
	if err != nil {
		return err
	}
	defer s.Close()
	for info, err := range s.Runs(ctx) {
		if err != nil {
			return err
		}
		fn(a.inStore(ref, checkPlace(ctx, s, info)))
	}
	return nil
}

// checkPlace finds a journal that was copied or renamed by hand: it holds a run
// that belongs at another path. Most names say so themselves.
func checkPlace(ctx context.Context, s *pawl.Store, info pawl.RunInfo) pawl.RunInfo {
	if info.Err != nil || filepath.Base(info.Path) == info.ID+".jsonl" {
		return info
	}
	there, err := s.Inspect(ctx, info.ID)
	if err == nil && there.Path == info.Path || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return info
	}
	held := info.ID
	info.ID = ""
	info.Err = &journal.CorruptError{Path: info.Path, Reason: fmt.Sprintf("the file holds the run %q: it was copied or renamed", held)}
	return info
}

// judge says what the reading of a run found. Its records were verified by that.
func judge(t *target) verdict {
	info := &t.info
	v := verdict{ID: text(info.ID), Status: "ok", Records: info.Records, Bytes: info.Size, Path: info.Path, Warnings: append([]string{}, info.Warnings...)}
	if info.Err == nil && info.Torn > 0 {
		tail, err := journal.Each(info.Path, func(*journal.Record) error { return nil })
		switch {
		case err != nil:
			info.Err = err
		case tail.Torn > 0: // else its owner has written on
			v.Status, v.Torn = "torn", &tornJSON{tail.Torn, tail.End, tail.Reason, info.Owner != nil}
		}
	}
	if info.Err != nil {
		v.Status = statusOf(*info)
		_, code := classify(info.Err)
		v.Problem = &problemJSON{code, *placeOf(info.Err)}
	}
	return v
}

// verdict prints a line as soon as it is known: there is no width to wait for.
func (a *app) verdict(name string, v verdict) {
	detail := ""
	switch {
	case v.Problem != nil:
		detail = v.Problem.String()
	case v.Torn != nil && v.Torn.Live:
		detail = fmt.Sprintf("%d bytes from byte %d on are being written now", v.Torn.Bytes, v.Torn.Offset)
	case v.Torn != nil:
		detail = fmt.Sprintf("torn tail of %d bytes from byte %d on, never acknowledged; the next start cuts it off and keeps a copy", v.Torn.Bytes, v.Torn.Offset)
	}
	if detail == "" && len(v.Warnings) > 0 {
		detail = "but: " + inline(strings.Join(v.Warnings, "; "))
	}
	if !a.out.tty {
		a.out.row(cell(name), v.Status, fmt.Sprint(v.Records), fmt.Sprint(v.Bytes), detail)
		return
	}
	if detail == "" {
		detail = fmt.Sprintf("%s, %s", count(int(v.Records), "record"), size(v.Bytes))
	}
	a.out.line(fmt.Sprintf("%-12s  %s  %s", a.out.status(v.Status), cell(name), detail))
}
