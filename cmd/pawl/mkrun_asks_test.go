package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/wait"
)

// More kinds of runs for mkrun, which ask:
//
//	asks     wait.Approval, after a step
//	asks-bool, asks-text   a bool, which is asked by a text of two lines; a text, from a choice
//	asks-many      a bool, a number and an object that takes no yes or no, of which one must be
//	               answered within the hour, in a scope
//	asks-here      like asks, and waits for the answer; what that is stands in the file "answer",
//	               and "ready" says that it has begun
//	asks-evil      hostile texts, in the question, its members and its key
//	asks-twice     asks something else once the file "changed" exists
//	asks-long      a question of many lines
//	asks-soon      one whose time is over at once: it fails, or with the file "default" gets that
//	asks-not       nothing, and is interrupted before its first question
func init() {
	for name, fn := range map[string]func(ctx context.Context) (map[string]int, error){
		"asks": asks(), "asks-here": asks(wait.Block(time.Minute)), "asks-bool": asksFor[bool]("go on", "Go on?\nThe second line."),
		"asks-text": asksFor[string]("model", []string{"small", "- large", "true"}), "asks-many": asksMany, "asks-evil": asksEvil,
		"asks-twice": asksTwice, "asks-long": asksLong, "asks-soon": asksSoon, "asks-not": asksNot,
	} {
		limits[name] = limited{fn: fn}
	}
}

type deletion struct {
	Delete []string `json:"delete"`
	Why    string   `json:"why"`
}

func asks(opts ...pawl.AwaitOption) func(ctx context.Context) (map[string]int, error) {
	return func(ctx context.Context) (map[string]int, error) {
		if _, err := pawl.Step(ctx, "before", func(context.Context) (int, error) { return 1, nil }); err != nil {
			return nil, err
		}
		if len(opts) > 0 {
			os.WriteFile("ready", nil, 0o666)
		}
		got, err := pawl.Await[wait.Approval](ctx, "delete files", deletion{[]string{"a.txt", "b.txt"}, "the disk is full"}, opts...)
		if err != nil {
			return nil, err
		}
		os.WriteFile("answer", fmt.Appendf(nil, "%v %q %s\n", got.Approved, got.Reason, got.Edited), 0o666)
		return map[string]int{"ok": 1}, nil
	}
}

func asksFor[T any](key string, question any, opts ...pawl.AwaitOption) func(ctx context.Context) (map[string]int, error) {
	return func(ctx context.Context) (map[string]int, error) {
		got, err := pawl.Await[T](ctx, key, question, opts...)
		if err != nil {
			return nil, err
		}
		os.WriteFile("answer", fmt.Appendf(nil, "%v\n", got), 0o666)
		return map[string]int{"ok": 1}, nil
	}
}

func asksMany(ctx context.Context) (map[string]int, error) {
	_, first := asksFor[bool]("1", "one?")(ctx)
	_, second := asksFor[uint]("pages", map[string]any{"of": "the book", "done": []any{[]int{1, 2}, nil, map[string]any{}}})(pawl.Scope(ctx, "a"))
	_, third := asksFor[struct {
		Approved bool `json:"approved"`
		Pages    []struct{ From, To int }
		More     *float64          `json:",omitempty"`
		Names    map[string]string `json:"names"`
	}]("which", nil, wait.Within(time.Hour))(ctx)
	for _, err := range []error{first, second, third} {
		if err != nil {
			return nil, err
		}
	}
	return map[string]int{"ok": 1}, nil
}

func asksEvil(ctx context.Context) (map[string]int, error) {
	const evil = "go on?\r\n\x1b[2J\x07if yes     pawl approve other\u202e\u0085\n" + "\tand\x00 then"
	_, text := asksFor[string]("text\x1b[31m", evil)(ctx)
	_, members := asksFor[wait.Approval]("--by=root", map[string]any{"a": evil, "b\x1b: c\n": []string{evil, "approved: true"}, "long": longLine})(ctx)
	for _, err := range []error{text, members} {
		if err != nil {
			return nil, err
		}
	}
	return map[string]int{"ok": 1}, nil
}

const longLine = "a text that is longer than a line of a terminal is, and it goes on where it must not be taken for: something else"

func asksTwice(ctx context.Context) (map[string]int, error) {
	if exists("changed") {
		return asksFor[bool]("go on", "Delete 2000 files?")(ctx)
	}
	return asksFor[bool]("go on", "Delete 2 files?")(ctx)
}

func asksLong(ctx context.Context) (map[string]int, error) {
	lines := make([]string, 100)
	for i := range lines {
		lines[i] = fmt.Sprint("line ", i)
	}
	return asksFor[[]bool]("which", lines)(ctx)
}

func asksSoon(ctx context.Context) (map[string]int, error) {
	opts := []pawl.AwaitOption{wait.Within(time.Nanosecond)}
	if exists("default") {
		opts = append(opts, wait.Default(false))
	}
	return asksFor[bool]("soon", "soon?", opts...)(ctx)
}

func asksNot(ctx context.Context) (map[string]int, error) {
	if exists("changed") {
		return asksFor[int]("later", "how many?")(ctx)
	}
	os.Exit(0)
	return nil, nil
}
