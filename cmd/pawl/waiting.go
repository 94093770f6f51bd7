package main

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/runs"
)

func (a *app) waitingCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "waiting [REF]",
		Short:   "List the questions that wait for an answer, oldest first",
		GroupID: "look",
		Example: `  pawl waiting
  pawl waiting research
  pawl waiting --json | jq -r '.items[] | select(.answered==null) | [.run, .key, .takes] | @tsv'`,
		Long: `Lists what the runs of the store ask (pawl.Await), or one run. UNTIL is by when an answer
must have come, if there is such a time; what comes later counts too as long as nobody has
started the run since. ANSWERED says who has given an answer that the run has not taken yet:
it does at once if its process waits for it, else when it is started again.

QUESTION is its beginning on a terminal, elsewhere its JSON. pawl show RUN prints it in full,
what an answer must look like, and what to type.

Runs that cannot be read are passed over and named behind the list; the exit code is that
of pawl ls then. So are runs that are cancelled, unless they are asked for by name: nobody
can answer them before pawl reopen.`,
		Annotations:       map[string]string{"exit": "3 not found · 6 a run is damaged"},
		ValidArgsFunction: a.completeRef,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return oneRef(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return a.waitingOne(cmd.Context(), args[0])
			}
			return a.waitingAll(cmd.Context())
		},
	}
}

func (a *app) waitingOne(ctx context.Context, arg string) error {
	t, err := a.resolve(ctx, arg)
	if err != nil {
		return err
	}
	q, err := a.questionsOf(ctx, t)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	a.printQuestions(q.open)
	switch {
	case t.info.Err == nil && err != nil:
		t.info.Err = err // damaged since
	case isCheckpoint(t.info):
		a.hint("a checkpoint file asks nothing")
	case t.info.Status == runs.Cancelled && len(q.open) > 0:
		a.hint("the run is cancelled, and takes no answer before: pawl reopen %s", t.arg)
	case t.info.Err == nil && len(q.open) == 0:
		a.hint("%s asks nothing now", cell(t.name))
	case len(q.open) > 0:
		a.hint("see what to type: pawl show %s", t.arg)
	}
	a.inboxWarnings(t)
	if t.info.Err != nil {
		return a.readProblem(t)
	}
	return nil
}

// questionsOf returns what a run has asked, and who has answered it if it is in a store.
func (a *app) questionsOf(ctx context.Context, t *target) (asked, error) {
	home := t.home()
	if home == "" {
		return t.questions(ctx, nil)
	}
	s, err := pawl.Open(home, pawl.MustExist())
	if err != nil {
		return asked{}, err
	}
	defer s.Close()
	return t.questions(ctx, s)
}

// waitingAll reads the runs one by one, and of those that ask their questions.
func (a *app) waitingAll(ctx context.Context) error {
	s, ref, err := a.open()
	if err != nil {
		return err
	}
	defer s.Close()
	var open []questionView
	var bad []listed
	total, cancelled := 0, 0
	for info, err := range s.Runs(ctx) {
		if err != nil {
			return err
		}
		total++
		t := a.inStore(ref, info)
		switch {
		case info.Err != nil:
			bad = append(bad, a.listed(t))
			continue
		case info.Waiting == 0:
			continue
		case info.Status == runs.Cancelled:
			cancelled++
			continue
		}
		q, err := t.questions(ctx, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			t.info.Err = err // damaged since
			bad = append(bad, a.listed(t))
		}
		open = append(open, q.open...)
		a.inboxWarnings(t)
	}
	slices.SortStableFunc(open, func(x, y questionView) int {
		return cmp.Or(time.Time(x.AskedAt).Compare(time.Time(y.AskedAt)), cmp.Compare(orEmpty(x.Run), orEmpty(y.Run)), cmp.Compare(x.Seq, y.Seq))
	})
	a.printQuestions(open)
	first := slices.IndexFunc(open, func(q questionView) bool { return q.Answered == nil })
	switch {
	case len(open) == 0:
		a.hint("no run asks anything now")
	case first < 0:
		a.hint("each has its answer, which its run takes when it goes on")
	default:
		a.hint("see what to type, of the oldest one: pawl show %s", open[first].arg)
	}
	if cancelled > 0 {
		a.hint("%s with open questions passed over: pawl ls --status cancelled%s", count(cancelled, "cancelled run"), a.again())
	}
	return a.badRuns(bad, total)
}

// inboxWarnings says what is wrong with the answers that lie there.
func (a *app) inboxWarnings(t *target) {
	for _, w := range t.info.Warnings {
		a.hint("%s: %s", cell(t.name), w)
	}
}

func (a *app) printQuestions(open []questionView) {
	if a.json {
		list := a.out.openList("QuestionList")
		for _, q := range open {
			list.add(q)
		}
		list.end(struct{}{})
		return
	}
	head := []string{"RUN", "KEY", "ASKED", "UNTIL", "ANSWERED", "QUESTION"}
	now := a.now()
	var rows [][]string
	for _, q := range open {
		row := []string{cell(orEmpty(q.Run)), cell(q.Key), stamp(time.Time(q.AskedAt)), stamp(time.Time(q.UntilAt)), q.answered(), shownValue(q.Question)}
		if a.out.tty {
			row[2], row[5] = age(time.Time(q.AskedAt), now), shortJSON(q.Question)
			if until := time.Time(q.UntilAt); !until.IsZero() && !until.After(now) {
				row[3] = "over"
			} else if !until.IsZero() {
				row[3] = a.at(until)
			}
		}
		rows = append(rows, row)
	}
	if a.out.tty {
		head, rows = withoutDashes(head, rows, 3)
	}
	a.out.table(head, rows, len(head)-1, 1, 0)
}

// answered says by whom there is an answer, "-" if there is none.
func (q *questionView) answered() string {
	if q.Answered == nil {
		return "-"
	}
	return cmp.Or(inline(orEmpty(q.Answered.By)), "somebody")
}
