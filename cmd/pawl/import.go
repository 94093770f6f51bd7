package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/runs"
)

type importFlags struct {
	id              string
	journal, create bool
}

func (a *app) importCommand() *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:     "import FILE|-",
		Short:   "Bring a run into the store: an export, or a checkpoint file",
		GroupID: "change",
		Example: `  pawl import research.jsonl
  pawl import research.jsonl --id research-2          a copy beside the first
  pawl import checkpoints/run-abc123.json             a state of pawl.OpenFile, or the Python original
  pawl import --journal backup/runs/research.jsonl    a journal that cp copied
  ssh host pawl export research | pawl import - --store new --create`,
		Long: `FILE is what pawl export wrote, or a checkpoint file; - reads standard input. Everything is
verified first, and nothing is created if a byte is wrong or missing. A run that is there
is never touched.

The run keeps its ID and is the same run in another place, also to the services that know
its idempotency keys: go on with it in one of the two places only. With --id it is another
run with the same past; what was under way is in doubt there until pawl resolve says more.
A checkpoint file has no ID: without --id the run gets the name of the file. Its state is
what pawl.LoadState returns, its result that of the run.

A journal copied by other means lacks the last line of an export, so that nobody can tell
whether its end is missing; --journal takes it all the same, also one of pawl.OpenState.`,
		Annotations: map[string]string{"exit": "3 not found · 4 there is such a run · 6 the file is damaged or cut off"},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(cmd, "what? give one file, or - for standard input")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.id == "" && cmd.Flags().Changed("id") {
				return usage(cmd, "--id: the ID is empty")
			}
			return a.importFile(cmd, args[0], f)
		},
	}
	cmd.Flags().StringVar(&f.id, "id", "", "give the run this `ID`")
	cmd.Flags().BoolVar(&f.journal, "journal", false, "take a journal that is no export, too")
	cmd.Flags().BoolVar(&f.create, "create", false, "make the store if there is none")
	return cmd
}

// importJSON is the object that import prints.
type importJSON struct {
	head
	runJSON
	UID      string   `json:"uid"`
	Warnings []string `json:"warnings"`
}

func (a *app) importFile(cmd *cobra.Command, arg string, f importFlags) error {
	ctx := cmd.Context()
	in := io.Reader(a.stdin)
	switch {
	case arg != "-":
		file, err := os.Open(arg)
		if err != nil {
			return &problem{msg: cell(arg), err: err, hint: "nothing was created"}
		}
		defer file.Close()
		in = file
	case isTerminal(a.stdin):
		return usage(cmd, "standard input is a terminal: give a file, or pipe an export into it")
	}
	id := f.id
	if id == "" && arg != "-" {
		var isJournal bool
		if in, isJournal = sniff(in); !isJournal {
			id = strings.TrimSuffix(filepath.Base(arg), ".json")
		}
	}
	warnings := &collector{}
	s, ref, err := a.openToImport(f.create, slog.New(warnings))
	if err != nil {
		return err
	}
	defer s.Close()
	take := s.Import
	if f.journal {
		take = s.ImportJournal
	}
	got, err := take(ctx, in, id)
	if err != nil {
		return a.notImported(ctx, arg, err)
	}
	info, err := s.Inspect(ctx, got)
	if err != nil {
		return &problem{msg: cell(got) + " was imported and cannot be read all the same", err: err}
	}
	a.imported(a.inStore(ref, info), f, warnings.texts)
	return nil
}

func (a *app) notImported(ctx context.Context, arg string, err error) error {
	if ctx.Err() != nil {
		return &problem{err: ctx.Err(), hint: "nothing was created"}
	}
	p := &problem{msg: cell(arg) + " was not imported", err: err}
	if errors.Is(err, pawl.ErrConflict) {
		p.hint = "the run that is there is as it was; import it beside that one with --id, or put that one aside first: pawl clear"
	}
	return p
}

func (a *app) imported(t *target, f importFlags, warnings []string) {
	if a.json {
		a.out.json(importJSON{head{"Import", 1}, runView(t.info), t.info.UID, append([]string{}, warnings...)})
		return
	}
	for _, w := range warnings {
		a.hint("%s", w)
	}
	row := []string{cell(t.name), a.out.status(statusOf(t.info)), progress(t.info), fmt.Sprint(t.info.Records)}
	if a.out.tty {
		row[3] = count(int(t.info.Records), "record")
		a.out.line(strings.Join(row, "  "))
	} else {
		a.out.row(row...)
	}
	switch {
	case t.info.Status == runs.Complete:
		a.next(t, details{})
	case f.id != "" && t.info.Running > 0:
		a.hint("%s under way and may be in doubt here: pawl show %s", count(t.info.Running, "step"), t.arg)
	case f.id == "":
		a.hint("start its program with this store and it goes on; not in the old place, too")
	default:
		a.hint("start its program with this store and it goes on")
	}
}

// openToImport opens the store that a run comes into. It is made only if that was asked for.
func (a *app) openToImport(create bool, log *slog.Logger) (*pawl.Store, storeRef, error) {
	s, ref, err := a.open()
	if p := explain(err); err != nil && !(create && p.code == "no_store") {
		if p.code == "no_store" {
			p.hint = "nothing was created; to make it, add --create"
		}
		return nil, ref, p
	}
	if err == nil {
		s.Close() //nolint:errcheck // it is there; now with the logger
	}
	s, err = pawl.Open(ref.dir, pawl.Logger(log))
	if err != nil {
		return nil, ref, &problem{msg: fmt.Sprintf("the store at %s cannot be opened", ref), err: err}
	}
	return s, ref, nil
}

// sniff tells whether a journal is to be read, and returns what reads it from its
// beginning.
func sniff(r io.Reader) (io.Reader, bool) {
	begin := make([]byte, len(`{"crc":"`))
	n, _ := io.ReadFull(r, begin) //nolint:errcheck // whoever reads on will see it
	return io.MultiReader(bytes.NewReader(begin[:n]), r), string(begin[:n]) == `{"crc":"`
}

// collector keeps the warnings of the library.
type collector struct{ texts []string }

func (c *collector) Enabled(context.Context, slog.Level) bool { return true }
func (c *collector) WithAttrs([]slog.Attr) slog.Handler       { return c }
func (c *collector) WithGroup(string) slog.Handler            { return c }

func (c *collector) Handle(_ context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		c.texts = append(c.texts, r.Message)
	}
	return nil
}
