package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/runs"
)

func (a *app) answerCommand() *cobra.Command {
	var by signature
	var file string
	cmd := &cobra.Command{
		Use:     "answer RUN [KEY] JSON",
		Short:   "Answer a question of a run, in whatever process it waits",
		GroupID: "change",
		Example: `  pawl answer research 'which model' '"small"' --reason "it is enough"
  pawl answer research 'which model' --file answer.json
  jq -n '{pages: 3}' | pawl answer research -         the only question that it asks`,
		Long: `JSON is the answer: what the code that asked is given. A text needs quotes of its own. "-"
reads it from standard input, "@FILE" or --file FILE from a file. pawl show RUN prints what
it must look like; what does not is refused. KEY may be left out if the run asks one thing
only. A run, a key or a number that begins with - stands behind --, after all flags.

The run need not be open: a process that waits for the answer is told at once, else the next
start takes it. A question that was not asked yet may be answered too, with its KEY: that is
kept until it is asked, and refused then if it does not fit. There is one answer: who comes
second is told who was first.

Who says so and why stand in the history for good. The answer and the reason are recorded as
they are given: the program's pawl.Redact is not asked. RUN must be the whole ID.`,
		Annotations:       map[string]string{"exit": "2 it does not fit its question · 3 not found · 4 answered, complete, cancelled · 6 damaged"},
		ValidArgsFunction: a.completeStep(statusWaiting),
		Args: func(cmd *cobra.Command, args []string) error {
			withFile := cmd.Flags().Changed("file")
			switch n := len(args); {
			case n == 0:
				return usage(cmd, "which run? give its ID, the key of the question and the answer")
			case withFile && n > 2:
				return usage(cmd, "the answer is in the file: give the run and the key, and no more")
			case withFile:
				return nil
			case n == 1:
				return usage(cmd, "what is the answer? give it as JSON, or - for standard input, or --file")
			case n > 3:
				return usage(cmd, "one run, one key, one answer; here are %d arguments", n)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.answer(cmd, args, file, by) },
	}
	cmd.Flags().StringVar(&file, "file", "", "read the answer from `FILE`, - is standard input")
	by.flags(cmd)
	return cmd
}

// reply is an answer that is about to be given.
type reply struct {
	command string // answer, approve or reject
	done    string // answered, approved, rejected
	key     string // "" means the only question
	by      signature
	instead json.RawMessage                                                // what is to be done instead of what was asked for, nil for nothing
	value   func(t *target, key string, s *shape) (json.RawMessage, error) // for a question's shape, nil if that is not known
}

func (a *app) answer(cmd *cobra.Command, args []string, file string, by signature) error {
	arg, from := args[len(args)-1], "the answer"
	if cmd.Flags().Changed("file") {
		arg = "@" + file
		if file == "-" {
			arg = file
		}
	} else {
		args = args[:len(args)-1]
	}
	hint := `a text needs quotes of its own: '"yes"'`
	if len(args) == 1 && arg != "-" {
		hint += "; and if that is the key, the answer is missing"
	}
	value, err := a.readJSON(cmd, arg, from, hint)
	if err != nil {
		return err
	}
	r := reply{command: "answer", done: "answered", by: by, value: func(*target, string, *shape) (json.RawMessage, error) { return value, nil }}
	if len(args) > 1 {
		if r.key = args[1]; r.key == "" {
			return usage(cmd, "the key is empty; leave it out if the run asks one thing only")
		}
		return a.reply(cmd.Context(), args[0], r, "")
	}
	return a.reply(cmd.Context(), args[0], r, arg)
}

// reply gives an answer. Without a key, typed is what may have been meant as one.
func (a *app) reply(ctx context.Context, arg string, r reply, typed string) error {
	t, s, err := a.toTell(ctx, r.command, arg)
	if err != nil {
		return err
	}
	defer s.Close()
	if t.info.Err != nil {
		return a.readProblem(t)
	}
	switch t.info.Status {
	case runs.Complete:
		return &problem{exit: exitConflict, code: "complete", msg: cell(t.name) + " is complete, and asks nothing any more", hint: "nothing was recorded; its result: pawl show " + t.arg + " --result"}
	case runs.Cancelled:
		return &problem{exit: exitConflict, code: "cancelled", msg: cell(t.name) + " is cancelled, " + a.decided(t.info.Cancel), hint: "nothing was recorded; to go on with it: pawl reopen " + t.arg}
	}
	q, err := t.questions(ctx, s)
	if err != nil {
		return &problem{msg: cell(t.name), err: err, hint: "nothing was recorded"}
	}
	if typed != "" && q.one(typed) != nil {
		return &problem{
			exit: exitUsage, code: "usage", msg: "what is the answer to " + cell(typed) + "? its key is there, and no answer",
			hint: "nothing was recorded; as an answer to itself it needs the key, too: pawl " + r.command + " RUN KEY JSON",
		}
	}
	if r.key == "" {
		if r.key, err = a.theOnly(t, q); err != nil {
			return err
		}
	}
	var form *shape
	if f, known := q.shapes[r.key]; known {
		form = &f
	}
	value, err := r.value(t, r.key, form)
	if err == nil && value == nil {
		return a.noQuestion(t, q, r.key)
	}
	if err != nil {
		return err
	}
	if err := s.Answer(ctx, t.name, r.key, value, r.by.who(), r.by.reason); err != nil {
		return a.notAnswered(err, r, form)
	}
	a.replied(t, q, r, value)
	return nil
}

func (a *app) notAnswered(err error, r reply, form *shape) error {
	p := &problem{msg: cell(r.key) + " was not " + r.done, err: err}
	if re, ok := errors.AsType[*pawl.RunError](err); ok && errors.Is(err, pawl.ErrMismatch) && form != nil {
		p.msg += ": the answer does not fit: " + strings.TrimPrefix(re.Err.Error(), pawl.ErrMismatch.Error()+": ")
		p.told, p.hint = true, "nothing was recorded; it takes: "+form.String()
	}
	if errors.Is(err, pawl.ErrCorrupt) { // the run was read before
		p.hint = "nothing was recorded; an answer is there that cannot be read: look at the file, and when you have removed it, answer anew"
	}
	return p
}

// theOnly returns the key of the only question of a run.
func (a *app) theOnly(t *target, q asked) (string, error) {
	switch len(q.open) {
	case 1:
		return q.open[0].Key, nil
	case 0:
		return "", &problem{
			exit: exitUsage, code: "invalid", msg: cell(t.name) + " asks nothing now",
			hint: "nothing was recorded; what it will ask can be answered with its key: pawl answer RUN KEY JSON",
		}
	}
	return "", &problem{
		exit: exitUsage, code: "ambiguous", msg: cell(t.name) + " asks " + count(len(q.open), "question") + ": give the key of one", candidates: q.keys(),
		hint: "nothing was recorded; it asks: " + names(q.keys(), 8) + "; see: pawl waiting " + t.arg,
	}
}

// noQuestion says which question a mistyped key may have meant.
func (a *app) noQuestion(t *target, q asked, key string) error {
	p := &problem{exit: exitNotFound, code: "not_found", msg: cell(t.name) + " has no open question " + cell(key), candidates: nearest(key, q.keys(), 3)}
	p.hint = "nothing was recorded; it asks nothing now, and what it will ask can be answered with: pawl answer"
	if len(p.candidates) > 0 {
		p.hint = "nothing was recorded; it asks: " + names(p.candidates, 3)
		if more := len(q.open) - len(p.candidates); more > 0 {
			p.hint += ", and more: pawl waiting " + t.arg
		}
	}
	return p
}

// replyJSON is the object that answer, approve and reject print.
type replyJSON struct {
	head
	Run     string          `json:"run"`
	Key     string          `json:"key"`
	Action  string          `json:"action"` // answered, approved or rejected
	By      string          `json:"by"`
	Reason  *string         `json:"reason"`
	Answer  json.RawMessage `json:"answer"`
	Already bool            `json:"already"` // the same person had answered the same before
	Early   bool            `json:"early"`   // it is not asked yet
	Owner   *ownerJSON      `json:"owner"`   // who was told
	Open    int             `json:"open"`    // other questions of the run that nobody has answered
}

func (a *app) replied(t *target, q asked, r reply, value json.RawMessage) {
	o := t.info.Owner
	_, known := q.shapes[r.key]
	one := q.one(r.key)
	v := replyJSON{
		head: head{"Answer", 1}, Run: t.name, Key: r.key, Action: r.done, By: r.by.who(), Reason: text(r.by.reason), Answer: value,
		Already: known && (one == nil || one.Answered != nil), Early: !known, Open: q.unanswered(),
	}
	if o != nil {
		v.Owner = &ownerJSON{o.Host, o.PID, jsonTime(o.Since)}
	}
	if one != nil && one.Answered == nil {
		v.Open--
	}
	switch {
	case a.json:
		a.out.json(v)
		return
	case !a.out.tty:
		a.out.row(cell(v.Key), v.Action, inline(v.By), inline(r.by.reason))
	case v.Early:
		a.out.line(cell(v.Key) + "  is not asked yet; the answer is kept until it is")
	case v.Already:
		a.out.line(cell(v.Key) + "  was " + v.Action + " by you already")
	case r.instead != nil:
		a.out.line(cut(cell(v.Key)+"  "+v.Action+", but: "+shortJSON(r.instead), a.out.width))
	default:
		a.out.line(cut(cell(v.Key)+"  "+v.Action+": "+shortJSON(one.Question), a.out.width))
	}
	a.afterReply(t, q, v)
}

// afterReply says who takes the answer, and what is still open.
func (a *app) afterReply(t *target, q asked, v replyJSON) {
	switch o := t.info.Owner; {
	case v.Early:
		a.hint("%s is not asked yet: the answer is kept until it is, and refused then if it does not fit", cell(v.Key))
		if len(q.open) > 0 {
			a.hint("if you meant what it asks now: %s", names(nearest(v.Key, q.keys(), 3), 3))
		}
		return
	case o != nil:
		a.hint("process %d on %s, which has it open since %s, is told", o.PID, inline(o.Host), stamp(o.Since))
	case v.Open == 0:
		a.hint("start its program again and it goes on")
	}
	if v.Open > 0 {
		a.hint("%s still open: pawl waiting %s", count(v.Open, "question"), t.arg)
	}
}
