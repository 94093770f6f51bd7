package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

// confirm asks before something that cannot be undone. It asks only where a person
// can see the question and answer it: if standard input and standard error are both
// terminals. Elsewhere it ends at once and hangs nobody's script; again is the
// command that needs no answer.
func (a *app) confirm(ctx context.Context, question, again string) error {
	if a.json || !isTerminal(a.stdin) || !isTerminal(a.stderr) {
		return &problem{
			exit: exitUnconfirmed, code: "unconfirmed", msg: "not done without a confirmation",
			hint: "nothing was changed; to do it: " + again,
		}
	}
	a.out.flush() //nolint:errcheck // kept for the end; the question is about what was printed
	fmt.Fprintf(a.stderr, "%s [y/N] ", question)
	answer := make(chan string, 1)
	go func() { // left behind when interrupted: the process ends then
		line, _ := bufio.NewReader(a.stdin).ReadString('\n') //nolint:errcheck // no answer is no
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(a.stderr)
		return ctx.Err()
	case said := <-answer:
		if said == "y" || said == "yes" {
			return nil
		}
	}
	return &problem{exit: exitFailed, code: "declined", msg: "not confirmed", hint: "nothing was changed"}
}

func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
