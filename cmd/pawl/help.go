package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// help prints what a command does: its examples before everything else. With
// --json it goes to standard error, where it disturbs no program.
func (a *app) help(cmd *cobra.Command, _ []string) {
	var w io.Writer = a.out
	if a.json {
		w = a.stderr
	}
	fmt.Fprintln(w, strings.TrimSpace(cmd.Short))
	if cmd.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.Long != "" {
		fmt.Fprintf(w, "\n%s\n", strings.Trim(cmd.Long, "\n"))
	}
	if cmd.Runnable() || cmd.HasSubCommands() {
		fmt.Fprintf(w, "\nUsage:\n  %s\n", useLine(cmd))
	}
	commands(w, cmd)
	if !cmd.Runnable() {
		return // a topic
	}
	if local := cmd.LocalNonPersistentFlags(); local.HasAvailableFlags() && cmd.HasParent() {
		fmt.Fprintf(w, "\nFlags:\n%s", local.FlagUsages())
	}
	fmt.Fprintf(w, "\nFlags of all commands:\n%s", cmd.Root().PersistentFlags().FlagUsages())
	if codes, ok := cmd.Annotations["exit"]; ok {
		if codes != "" {
			codes = " · " + codes
		}
		fmt.Fprintf(w, "\nExit codes, see pawl help exit-codes:\n  0 ok · 2 usage%s\n", codes)
	}
}

func useLine(cmd *cobra.Command) string {
	if cmd.HasSubCommands() {
		return cmd.CommandPath() + " COMMAND [FLAGS]"
	}
	return cmd.CommandPath() + strings.TrimPrefix(cmd.Use, cmd.Name()) + " [FLAGS]"
}

func commands(w io.Writer, cmd *cobra.Command) {
	print := func(title string, belongs func(*cobra.Command) bool) {
		for _, sub := range cmd.Commands() {
			if sub.Hidden || !belongs(sub) {
				continue
			}
			if title != "" {
				fmt.Fprintf(w, "\n%s:\n", title)
				title = ""
			}
			fmt.Fprintf(w, "  %-12s  %s\n", sub.Name(), sub.Short)
		}
	}
	for _, g := range cmd.Groups() {
		print(g.Title, func(sub *cobra.Command) bool { return sub.GroupID == g.ID })
	}
	print("Commands", func(sub *cobra.Command) bool { return sub.GroupID == "" && sub.Runnable() })
	print("Topics, see pawl help TOPIC", func(sub *cobra.Command) bool { return !sub.Runnable() })
}

func (a *app) helpCommand(root *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "help [COMMAND or TOPIC]",
		Short:   "Explain a command or a topic",
		GroupID: "more",
		Example: "  pawl help ls\n  pawl help exit-codes",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var names []cobra.Completion
			for _, sub := range root.Commands() {
				if !sub.Hidden && len(args) == 0 {
					names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(root, strings.Join(args, " "))
			}
			return about.Help()
		},
	}
	root.SetHelpCommand(cmd)
	return cmd
}

// topics are commands that do nothing but have a help text.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "refs", Short: "How to name a run or a file", Long: refsHelp},
		{Use: "exit-codes", Short: "What the exit code says", Long: exitCodesHelp},
		{Use: "environment", Short: "Variables, and which store is used", Long: environmentHelp},
		{Use: "json", Short: "The JSON that --json prints", Long: jsonHelp},
	}
}

const refsHelp = `REF names a run or a file:

  1. An argument that contains a path separator, or ends in .json or .jsonl, is a file
     if there is such a file: a checkpoint (pawl.OpenFile, or the Python original) or
     a journal, in a store or alone.
  2. Anything else is the ID of a run in the store, or the beginning of one if no
     other ID begins so. A whole ID always wins over a longer one.

An ID that is not found is never created; the nearest ones are shown. What decides about a
run (answer, approve, reject, resolve, cancel, reopen, retry, clear, delete) needs its whole
ID.

  pawl show research                   a run of the store
  pawl show res                        the same, if no other ID begins with res
  pawl show checkpoints/run-abc.json   a checkpoint file
  pawl log .pawl/runs/research.jsonl   a journal by its path`

const exitCodesHelp = `  0    ok
  1    failed, or a file was written by a newer pawl, or the answer to a question was no
  2    usage: a wrong flag or argument, an ambiguous run ID, a directory that is no store; or
       there is nothing to do: a run is not cancelled (reopen), nothing has failed (retry), it
       asks nothing (answer). An answer does not fit its question, or a run asks several
  3    not found: no such run, file or store; nothing was created
  4    conflict: a run is owned by another process, or is complete or cancelled, or was there
       before; a step has a result; somebody has answered a question otherwise; or a file was
       replaced meanwhile. Nothing was changed
  5    not finished: show --result of a run that is not complete; log -f of a run that
       ended otherwise
  6    corrupt: a file is damaged; its bytes were left alone. What could be read was
       printed
  7    the store or a file is unreachable or access is denied
  8    not confirmed: repair would give something up, or delete would, could not ask, and
       --yes was not given
  130  interrupted (Ctrl-C, SIGTERM)

Any other code than 0 is a failure. ls and verify print all that can be read; then the
code is 6 if something is damaged, else the highest that one of them has. Repair and
compact do what they can of several; then the code is 6 if damage is left, else the
highest. A dry run that finds what to repair is 0.

With --json the reason is on standard error:
  {"error":{"code":"not_found","message":"…","hint":"…","exit_code":3}}`

const environmentHelp = `The store is the first of:

  --store DIR     the flag; DIR or file:DIR or file:///dir
  PAWL_STORE      the same in the environment
  .pawl           in the current directory

pawl never creates a store, but for import --create. Other variables:

  PAWL_FORCE_TTY  a number: write standard output as to a terminal of so many columns

There is no colour. On a terminal, lines are cut to its width and times are relative;
elsewhere the cells of a table are separated by tabs, whole, without a head line, and
times are RFC 3339 in UTC. What is not printable in an ID, key or error is shown
escaped, and the cell of an ID or key then stands in quotes.`

const jsonHelp = `Lists are {"kind":"RunList","version":1,"items":[…]}, one item a line; single things
are objects with kind and version. Members may be added, and are never renamed or
removed within a version. A member that does not apply is null.

  ls       RunList       items: id status run_kind labels parent owner attempts steps progress
                         spent kept budget deadline_at wake_at cancelled …
  show     Run           the same and uid store maps unfinished questions answers input
                         result_bytes
  steps    StepList      items: key status map at_most_once tries started_at error final poison
                         fails next_at until_at deaths spent note …
           TryList       with a step; items: try status began_at ended_at took_seconds error
                         final next_at; run step
  waiting  QuestionList  items: run key asked_at until_at question shape takes yes_no answered
                         refused seq
  answer   Answer        run key action by reason answer already early owner open; also
                         of approve and reject
  verify   Verification  items: id status records bytes torn path problem leftovers; ok
  repair   Repair        items: id status path problem refused records lost missing after
                         version original …; dry_run ok
  compact  Compaction    items: id path bytes_before bytes_after problem; ok
  resolve  Resolution    run step action by reason
  cancel   Cancellation  run by reason at already owner
  reopen   Reopening     run by reason cancelled
  retry    Retry         run steps by reason
  clear    Clearing      id path original
  delete   Deletion      id path
  fork     Fork          id parent seq path
  export   Export        with -o: id path bytes. Else the export itself, one record a line
  import   Import        the members of ls, and uid warnings
  version  Version       pawl library go os arch formats
  demo     Demo          seed dir steps rerun lost …
  log      the records of the journal, byte for byte, one a line
  show --result  the recorded result, byte for byte

Times are RFC 3339 in UTC with microseconds (…_at), durations are numbers of seconds
(…_seconds), sizes are bytes, and what was spent is an object of numbers by unit. Problems
are {"code","path","offset","seq","reason"}. Errors are on standard error, see pawl help
exit-codes; standard output is then empty or whole JSON of what could be read.`
