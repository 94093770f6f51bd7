// Command pawl looks at runs: what is done, what is under way, what failed, and
// whether the files are sound. It reads beside live owners, takes no lock and
// changes nothing; only repair, compact, resolve, reopen, retry, clear, delete and import do,
// of runs that nobody owns, and answer, approve, reject and cancel, of any.
//
//	pawl ls                list the runs of a store
//	pawl show RUN          everything about one run
//	pawl log -f RUN        its history, as it grows
//	pawl waiting           what runs ask, and wait for an answer to
//	pawl answer RUN KEY    answer it, from any process
//	pawl resolve RUN STEP  say of a step in doubt whether it happened
//	pawl cancel RUN        stop it, whoever works on it
//	pawl demo              a job that is killed and goes on
//
// See pawl help, and README.md for its JSON.
package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// app is one call of the command.
type app struct {
	out    *output // standard output: data only
	stdin  *os.File
	stderr io.Writer
	getenv func(string) string
	now    func() time.Time

	storeFlag string
	storeSet  bool // --store was given
	json      bool
	logDay    string // of the last line of a log on a terminal
}

// run executes a command line and returns its exit code.
func run(args []string, stdin, stdout, stderr *os.File) int {
	a := &app{out: newOutput(stdout, os.Getenv), stdin: stdin, stderr: stderr, getenv: os.Getenv, now: time.Now}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	root := a.command()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if flushErr := a.out.flush(); err == nil && flushErr != nil {
		err = &problem{exit: exitFailed, code: "failed", msg: "writing the output", err: flushErr}
	}
	if err != nil && ctx.Err() != nil {
		err = &problem{exit: exitInterrupted, code: "interrupted", msg: "interrupted", hint: cmp.Or(explain(err).hint, "nothing was changed")}
	}
	if err == nil {
		return exitOK
	}
	// A flag behind the one that was wrong was not parsed.
	a.json = a.json || wantsJSON(args)
	return a.report(err)
}

func wantsJSON(args []string) bool {
	for _, arg := range args {
		switch arg {
		case "--json", "--json=true":
			return true
		case "--":
			return false
		}
	}
	return false
}

// command builds the tree of commands.
func (a *app) command() *cobra.Command {
	cobra.EnableCommandSorting = false // the important ones come first
	root := &cobra.Command{
		Use:   "pawl",
		Short: "Look at resumable runs: what is done, what is under way, what is damaged.",
		Example: `  pawl demo                       see a job killed and going on
  pawl ls                         the runs of the store .pawl
  pawl show research              everything about one of them
  pawl show checkpoints/a.json    the same for a checkpoint file`,
		Version:                    release().Pawl,
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Args:                       cobra.ArbitraryArgs,
		RunE:                       a.noCommand,
		PersistentPreRunE:          a.prepare,
	}
	root.SetVersionTemplate("pawl {{.Version}}\n")
	root.SetOut(a.out)
	root.SetErr(a.stderr)
	flags := root.PersistentFlags()
	flags.StringVar(&a.storeFlag, "store", "", "look into the store at `DIR` (default $PAWL_STORE, else .pawl)")
	flags.BoolVar(&a.json, "json", false, "print JSON, see pawl help json")
	root.AddGroup(
		&cobra.Group{ID: "look", Title: "Look at runs"},
		&cobra.Group{ID: "check", Title: "Check and mend"},
		&cobra.Group{ID: "change", Title: "Decide, begin anew, move"},
		&cobra.Group{ID: "more", Title: "More"},
	)
	root.AddCommand(a.lsCommand(), a.showCommand(), a.logCommand(), a.stepsCommand(), a.waitingCommand(), a.verifyCommand(),
		a.repairCommand(), a.compactCommand(), a.answerCommand(), a.approveCommand(), a.rejectCommand(), a.resolveCommand(), a.cancelCommand(), a.reopenCommand(),
		a.retryCommand(), a.clearCommand(), a.deleteCommand(),
		a.forkCommand(), a.exportCommand(), a.importCommand(), a.demoCommand(), a.demoJobCommand(), a.versionCommand(), a.helpCommand(root))
	root.AddCommand(topics()...)
	root.SetHelpFunc(a.help)
	root.SetFlagErrorFunc(a.flagError)
	root.SetHelpCommandGroupID("more")
	root.SetCompletionCommandGroupID("more")
	root.InitDefaultCompletionCmd()
	a.finish(root)
	return root
}

// finish gives every command what cobra's defaults lack: wrong arguments are
// usage errors with exit code 2, and completion has an example.
func (a *app) finish(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if _, known := errors.AsType[*problem](err); err == nil || known {
				return err
			}
			return usage(cmd, "%v", err)
		}
	}
	if cmd.Name() == "completion" {
		cmd.Short = "Print a script that completes commands and run IDs"
		cmd.Long = "The script completes commands, flags and the IDs of runs. See the help of each shell for where it goes."
		cmd.Example = "  source <(pawl completion bash)"
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		for _, shell := range cmd.Commands() {
			shell.Example = "  pawl completion " + shell.Name()
		}
	}
	for _, sub := range cmd.Commands() {
		a.finish(sub)
	}
}

// oneRef, someRefs and noArgs are what commands accept.
func oneRef(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return usage(cmd, "which run? give its ID, or the path of a file")
	case 1:
		return nil
	}
	return usage(cmd, "one run at a time; here are %d", len(args))
}

func someRefs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage(cmd, "which runs? give their IDs, or the paths of files")
	}
	return nil
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(cmd, "%s takes no argument; here is %q", cmd.Name(), args[0])
	}
	return nil
}

// prepare runs before every command.
func (a *app) prepare(cmd *cobra.Command, _ []string) error {
	a.storeSet = cmd.Flags().Changed("store")
	if parent := cmd.Parent(); a.json && parent != nil && parent.Name() == "completion" {
		return usage(cmd, "completion prints a shell script, which has no JSON form")
	}
	return nil
}

// noCommand is the command line without a command, or with an unknown one.
func (a *app) noCommand(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 0:
		return unknownCommand(cmd, args[0])
	case a.json:
		return usage(cmd, "which command?")
	}
	return cmd.Help()
}

func (a *app) flagError(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); cmd == cmd.Root() && len(args) > 0 {
		return unknownCommand(cmd, args[0]) // its flags are unknown for that reason
	}
	return usage(cmd, "%v", err)
}

func unknownCommand(cmd *cobra.Command, name string) error {
	p := usage(cmd, "unknown command %q", name)
	if near := cmd.Root().SuggestionsFor(name); len(near) > 0 {
		p.candidates = near
		p.hint = "did you mean: pawl " + strings.Join(near, ", pawl ")
	}
	return p
}
