package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/runs"
)

func (a *app) compactCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "compact REF...",
		Short:   "Make journals as small as what they mean",
		GroupID: "check",
		Example: `  pawl compact research
  pawl compact research other --json | jq '.items[].bytes_after'`,
		Long: `Superseded tries, attempts, states and results go, from the journal and from the
history that pawl log shows. Every result, the newest state, what was under way and the
end stay: the next start goes on as it would have. At every moment, also of a power cut,
the old journal or the new one is there, whole.

A run that a process has open is refused: its program calls Run.Compact. So is a damaged
one, and a journal of pawl.OpenState that is complete, which this version cannot compact.
A checkpoint file is always as small as its state.`,
		Annotations:       map[string]string{"exit": "3 not found · 4 owned · 6 damaged"},
		Args:              someRefs,
		ValidArgsFunction: a.completeRefs,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.compact(cmd.Context(), args) },
	}
}

type compactJSON struct {
	ID      *string      `json:"id"`
	Path    string       `json:"path"`
	Before  int64        `json:"bytes_before"`
	After   int64        `json:"bytes_after"`
	Problem *problemJSON `json:"problem"`
}

func (a *app) compact(ctx context.Context, args []string) error {
	var targets []*target // all of them, before anything is changed
	for _, arg := range args {
		t, err := a.resolve(ctx, arg)
		if err != nil {
			return err
		}
		targets = append(targets, t)
	}
	var list *jsonList
	if a.json {
		list = a.out.openList("Compaction")
	}
	var failed []*problem
	for _, t := range targets {
		if ctx.Err() != nil {
			failed = append(failed, &problem{err: ctx.Err()})
			break
		}
		v := compactJSON{ID: text(t.info.ID), Path: t.info.Path, Before: t.info.Size, After: t.info.Size}
		err := a.compactOne(ctx, t, &v)
		if err != nil {
			p := explain(&problem{msg: cell(t.name) + " was not compacted", err: err})
			if known, ok := errors.AsType[*problem](err); ok {
				p = explain(known)
			}
			failed = append(failed, p)
			if v.Problem = problemOf(t.info); v.Problem == nil {
				v.Problem = &problemJSON{p.code, place{Path: t.info.Path, Reason: p.Error()}}
			}
			v.After = v.Before
		}
		if a.json {
			list.add(v)
		} else {
			a.compacted(t, v)
		}
	}
	if a.json {
		list.end(struct {
			OK bool `json:"ok"`
		}{len(failed) == 0})
	}
	return together(failed, len(targets), "not compacted")
}

func (a *app) compacted(t *target, v compactJSON) {
	why := ""
	if v.Problem != nil {
		why = v.Problem.String()
	}
	switch {
	case !a.out.tty:
		a.out.row(cell(t.name), fmt.Sprint(v.Before), fmt.Sprint(v.After), why)
	case why != "":
		a.out.line(fmt.Sprintf("%s  %s  not compacted: %s", cell(t.name), size(v.Before), why))
	default:
		a.out.line(fmt.Sprintf("%s  %s → %s", cell(t.name), size(v.Before), size(v.After)))
	}
}

func (a *app) compactOne(ctx context.Context, t *target, v *compactJSON) (err error) {
	switch {
	case t.info.Err != nil:
		return a.readProblem(t)
	case t.isCheckpoint():
		a.hint("%s is a checkpoint file, which is always as small as its state", cell(t.name))
		return nil
	case t.home() == "":
		return compactState(t, v)
	}
	s, err := pawl.Open(t.home(), pawl.MustExist())
	if err != nil {
		return err
	}
	defer s.Close()
	// A journal by path may be one that was copied into the store.
	there, err := s.Inspect(ctx, t.info.ID)
	if err != nil {
		return err
	}
	if filepath.Base(there.Path) != filepath.Base(t.info.Path) {
		return &problem{exit: exitCorrupt, code: "corrupt", msg: fmt.Sprintf("%s holds the run %s, whose journal is %s", cell(t.name), cell(t.info.ID), cell(there.Path)), hint: "nothing was changed; remove it if it is a copy"}
	}
	v.Before, v.After, err = s.Compact(ctx, t.info.ID)
	return err
}

// schemaOf returns the schema version of the newest state in a journal.
func schemaOf(path string) (int, error) {
	fold, _, err := journal.Read(path)
	if err != nil {
		return 0, err
	}
	f, err := journal.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	_, schema, err := fold.State("", func(s journal.Span) (*journal.Record, error) { return journal.RecordAt(f, s) })
	return schema, journal.WithPath(err, path)
}

// compactState compacts a journal of pawl.OpenState.
func compactState(t *target, v *compactJSON) error {
	if t.info.Status == runs.Complete {
		// Checkpoint.Compact records an opening first, and an opening behind the result
		// makes the work unfinished again.
		return &problem{exit: exitFailed, code: "unsupported", msg: cell(t.name) + " is complete, and this version cannot compact a complete journal by its path", hint: "nothing was changed"}
	}
	schema, err := schemaOf(t.info.Path)
	if err != nil {
		return err
	}
	ck, err := pawl.OpenState[json.RawMessage](t.info.Path, atSchema(schema)...)
	if err != nil {
		return err
	}
	if err := errors.Join(ck.Compact(), ck.Close()); err != nil {
		return err
	}
	after, err := pawl.InspectFile(t.info.Path)
	v.After = after.Size
	return err
}
