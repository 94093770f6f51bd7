package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/pawlgo/pawl/runs"
)

// describeQuestions lists what a run asks, and what to type to answer it, and which answers it
// has.
func (a *app) describeQuestions(f *fields, t *target, q asked) {
	const most = 10
	for i, o := range q.open {
		if i == most && a.out.tty {
			f.add("question", fmt.Sprintf("and %d more: pawl waiting %s", len(q.open)-most, t.arg))
			break
		}
		f.add("question", a.questionLine(o))
		a.describeQuestion(f, t, o)
	}
	earlier := len(q.answered) - most
	if earlier > 0 && a.out.tty {
		f.add("answered", fmt.Sprintf("%d earlier: pawl log %s", earlier, t.arg))
		q.answered = q.answered[earlier:]
	}
	for _, v := range q.answered {
		d := &decisionJSON{v.By, v.Reason, v.At}
		f.add("answered", cell(v.Key)+"  "+a.decided(d.decision()))
		f.add("the answer", a.value(v.Answer))
	}
}

func (a *app) questionLine(q questionView) string {
	line := cell(q.Key) + "  asked " + a.time(time.Time(q.AskedAt))
	if until := time.Time(q.UntilAt); !until.IsZero() {
		line += ", until " + a.when(until)
	}
	return line
}

// describeQuestion says one question in full, or as much as fits on a terminal. A bar stands
// before each line of it: it may say anything, and must not be taken for what pawl says.
func (a *app) describeQuestion(f *fields, t *target, q questionView) {
	const most = 30
	if !a.out.tty {
		f.add("it asks", shownValue(q.Question))
	} else {
		lines, whole := readableJSON(q.Question, most, max(20, a.out.width-12)-2)
		for i, l := range lines {
			lines[i] = strings.TrimRight("│ "+l, " ")
		}
		f.add("it asks", strings.Join(lines, "\n"))
		if !whole {
			f.add("cut", fmt.Sprintf("it has %s; all of it: pawl waiting %s --json", size(int64(len(q.Question))), t.arg))
		}
	}
	f.add("it takes", q.Takes)
	if r := q.Refused; r != nil {
		f.add("refused", fmt.Sprintf("the answer %s: %s", a.decided(r.decision()), inline(r.Error)))
	}
	if q.Answered != nil {
		line := a.decided(q.Answered.decision())
		if t.info.Owner == nil {
			line += "; the next start takes it"
		}
		f.add("answered", line)
		return
	}
	if t.home() == "" || t.info.Status == runs.Cancelled || t.info.Err != nil {
		return
	}
	if q.shape.yesNo() {
		f.add("if yes", a.answerWith("approve", t, q.Key, ""))
		f.add("if no", a.answerWith("reject", t, q.Key, ""))
	} else {
		f.add("to answer", a.answerWith("answer", t, q.Key, q.shape.example()))
	}
}

// value is a small value in a line of a description.
func (a *app) value(text []byte) string {
	if !a.out.tty {
		return shownValue(text)
	}
	const most = 200
	return cut(shownValue(text), most)
}

// answerWith is a command to type next. A run or a key may look like a flag.
func (a *app) answerWith(command string, t *target, key, answer string) string {
	words := []string{"pawl " + command, quoteArg(t.info.ID), quoteArg(key)}
	if answer != "" {
		words = append(words, answer)
	}
	if strings.HasPrefix(t.info.ID, "-") || strings.HasPrefix(key, "-") {
		return words[0] + a.where(t) + " -- " + strings.Join(words[1:], " ")
	}
	return strings.Join(words, " ") + a.where(t)
}
