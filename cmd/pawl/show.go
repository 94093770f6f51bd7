package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/runs"
)

func (a *app) showCommand() *cobra.Command {
	var result bool
	cmd := &cobra.Command{
		Use:     "show REF",
		Short:   "Show how a run stands: progress, failures, what is in doubt, what it asks",
		GroupID: "look",
		Example: `  pawl show research
  pawl show research --result > result.json     the recorded result, byte for byte
  pawl show checkpoints/run-abc123.json         a checkpoint file
  pawl show research --json | jq .steps`,
		Long: `REF is a run ID, the beginning of one, or a path, see pawl help refs. A step in doubt
was under way when its process died: it may have happened. The next start runs it again,
unless it may run at most once (pawl.AtMostOnce): then what to type is shown, as it is for
steps that failed finally or are poison. Results are never shown unless asked for with
--result.

What the run asks somebody (pawl.Await) is shown in full, as far as it fits on a terminal,
with what an answer must look like and what to type; and of the questions that have one,
who gave which answer. A bar stands before each line of a question: it may come from a
model, and say anything.

What was metered (package meter) is summed over all starts: spent, of how much if there is
a budget, and kept, which is what the finished steps used and the next start does not pay
again.`,
		Annotations:       map[string]string{"exit": "3 not found · 5 --result: not complete · 6 damaged"},
		Args:              oneRef,
		ValidArgsFunction: a.completeRef,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := a.resolve(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if result {
				return a.showResult(t)
			}
			return a.show(cmd.Context(), t)
		},
	}
	cmd.Flags().BoolVar(&result, "result", false, "print the recorded result and nothing else")
	return cmd
}

// details is what show says beyond the description of a run.
type details struct {
	steps  []stepView // those that failed or have no end
	asked  asked
	result []byte
}

// unresolved counts the steps that the next start would not run again.
func (d details) unresolved() int {
	n := 0
	for _, s := range d.steps {
		if s.Status == "in_doubt" && s.AtMostOnce {
			n++
		}
	}
	return n
}

// read collects the details. Of a damaged run it takes what stands before the
// damage.
func (t *target) read(ctx context.Context) (details, error) {
	var d details
	var err error
	switch {
	case isCheckpoint(t.info):
		d.result, err = t.result()
		return d, err
	case t.info.Err == nil && t.info.Failed+t.info.Running+t.info.Waiting == 0:
	case hasJournal(t.info.Err):
		steps, fold, err := readSteps(ctx, t.info.Path, t.info.Owner != nil)
		if err != nil && t.info.Err == nil {
			t.info.Err = err // damaged since
		}
		for _, s := range steps {
			if s.Status != "done" {
				d.steps = append(d.steps, s)
			}
		}
		if t.info.Err != nil && fold.LastSeq > 0 {
			t.info.UID, t.info.Kind, t.info.Created = fold.Header.UID, fold.Header.RunKind, fold.Header.Created
			t.info.Attempts, t.info.Records, t.info.Updated = int(fold.Attempts), fold.Records, fold.LastAt()
			c := fold.Counts()
			t.info.Done, t.info.Failed, t.info.Running, t.info.Waiting, t.info.Took = c.Done, c.Failed, c.Running, c.Waiting, c.Took
			t.info.Sleeping, t.info.Final = c.Sleeping, c.Final
			t.info.Spent, t.info.Kept, t.info.Budget, t.info.Deadline = fold.SpentSoFar(), c.Used, fold.Budget, fold.Deadline
		}
	}
	if t.info.Err == nil {
		d.result, err = t.result()
	}
	return d, err
}

// result returns the exact text of the recorded result, nil if there is none.
func (t *target) result() ([]byte, error) {
	if t.info.Err != nil || t.info.Status != runs.Complete {
		return nil, nil
	}
	if isCheckpoint(t.info) {
		return checkpointResult(t.info.Path)
	}
	fold, _, err := journal.Read(t.info.Path)
	if err != nil {
		return nil, err
	}
	f, err := journal.Open(t.info.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rec, err := journal.RecordAt(f, fold.Result)
	if err != nil {
		return nil, journal.WithPath(err, t.info.Path)
	}
	text, ok := rec.Value()
	if !ok {
		text = []byte("null")
	}
	return text, nil
}

func (a *app) showResult(t *target) error {
	if t.info.Err != nil {
		return a.readProblem(t)
	}
	if t.info.Status != runs.Complete {
		return &problem{exit: exitNotFinished, code: "not_finished", msg: fmt.Sprintf("%s has no result: it is %s", cell(t.name), statusOf(t.info)), hint: "see how far it is: pawl show " + t.arg}
	}
	text, err := t.result()
	if err != nil {
		return &problem{msg: cell(t.name), err: err}
	}
	if a.out.tty {
		a.out.line(string(safeJSON(text)))
		return nil
	}
	_, err = a.out.Write(text) // byte for byte: no newline of ours
	return err
}

// showJSON is the object that show prints.
type showJSON struct {
	head
	runJSON
	UID         *string         `json:"uid"`
	Store       *string         `json:"store"`
	Maps        []mapJSON       `json:"maps"`
	Unfinished  []stepView      `json:"unfinished"` // steps that failed, are running, sleep, wait for an answer, or are in doubt
	Questions   []questionView  `json:"questions"`  // that wait for an answer
	Answers     []answerView    `json:"answers"`    // to those that have one
	Input       json.RawMessage `json:"input"`
	ResultBytes *int            `json:"result_bytes"`
	Warnings    []string        `json:"warnings"`
}

func (a *app) show(ctx context.Context, t *target) error {
	d, err := t.read(ctx)
	if err == nil {
		d.asked, err = a.questionsOf(ctx, t)
		if t.info.Err != nil {
			err = nil // it is said below; what stands before the damage is shown
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &problem{msg: cell(t.name), err: err}
	}
	if a.json {
		v := showJSON{
			head: head{"Run", 1}, runJSON: runView(t.info), UID: text(t.info.UID), Store: text(t.store),
			Maps: []mapJSON{}, Unfinished: d.steps, Questions: append([]questionView{}, d.asked.open...), Answers: append([]answerView{}, d.asked.answered...), Input: raw(t.info.Input), Warnings: append([]string{}, t.info.Warnings...),
		}
		if v.Unfinished == nil {
			v.Unfinished = []stepView{}
		}
		for _, m := range t.info.Maps {
			v.Maps = append(v.Maps, mapJSON{m.Key, m.Done, m.Failed, m.Total})
		}
		if d.result != nil {
			n := len(d.result)
			v.ResultBytes = &n
		}
		a.out.json(v)
	} else {
		a.out.fields(a.describe(t, d))
		if n := d.unresolved(); n > 0 && statusOf(t.info) != statusRunning && statusOf(t.info) != statusCancelled {
			a.hint("find out whether %s happened, and say so with pawl resolve; then start its program again", count(n, "step"))
		} else {
			a.next(t, d)
		}
	}
	if t.info.Err != nil {
		return a.readProblem(t)
	}
	return nil
}
