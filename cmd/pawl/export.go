package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/runs"
)

func (a *app) exportCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     "export REF",
		Short:   "Write a whole copy of a run, for another store or machine",
		GroupID: "change",
		Example: `  pawl export research -o research.jsonl
  pawl export research | ssh host pawl import - --store /var/lib/research
  pawl export checkpoints/state.jsonl -o copy.jsonl     a journal of pawl.OpenState`,
		Long: `A copy is the run as it stood at one moment, with all that was acknowledged before. It may
be taken while a process works on the run, which a copy of the file may not: cp can read
its parts at different moments. The copy is JSON Lines with checksums, the run's journal
byte for byte, and a last line that says that nothing is missing; pawl show, log and
verify read it, and pawl import takes it.

FILE gets its name when it is whole and durable, and takes the place of one that is there.
It holds all results, so only you can read it.`,
		Annotations:       map[string]string{"exit": "3 not found · 6 damaged: nothing was written"},
		Args:              oneRef,
		ValidArgsFunction: a.completeRef,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case out == "" && cmd.Flags().Changed("output"):
				return usage(cmd, "-o: the name of the file is empty")
			case out == "" && a.out.tty:
				return usage(cmd, "an export is for a file or a program: give -o FILE, or a pipe")
			}
			t, err := a.resolve(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.export(cmd.Context(), t, out)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE` instead of standard output")
	return cmd
}

// exportJSON is the object that export prints when it wrote a file.
type exportJSON struct {
	head
	ID    *string `json:"id"`
	Path  string  `json:"path"` // of the export
	Bytes int64   `json:"bytes"`
}

func (a *app) export(ctx context.Context, t *target, out string) error {
	switch {
	case t.info.Err != nil:
		return a.readProblem(t)
	case t.isCheckpoint():
		return &problem{exit: exitUsage, code: "unsupported", msg: cell(t.name) + " is a checkpoint file, which is copied as it is", hint: "it is replaced as a whole, so any copy is a good one, and pawl import takes it"}
	}
	if out == "" {
		return a.exportTo(ctx, t, a.out)
	}
	n, err := writeAtomically(out, func(w io.Writer) error { return a.exportTo(ctx, t, w) })
	if err != nil {
		if _, known := errors.AsType[*problem](err); known {
			return err
		}
		return &problem{msg: cell(out), err: err, hint: "no export was made, and a file that was there is as it was"}
	}
	switch {
	case a.json:
		a.out.json(exportJSON{head{"Export", 1}, text(t.info.ID), out, n})
		return nil
	case a.out.tty:
		a.out.line(fmt.Sprintf("%s  %s in %s", cell(t.name), size(n), cell(out)))
	default:
		a.out.row(cell(t.name), cell(out), fmt.Sprint(n))
	}
	a.hint("bring it into another store with: pawl import %s --store DIR", quoteArg(out))
	return nil
}

func (a *app) exportTo(ctx context.Context, t *target, w io.Writer) error {
	var err error
	if t.store == "" {
		err = exportJournal(ctx, t.info.Path, w)
	} else {
		var s *pawl.Store
		if s, _, err = a.open(); err != nil {
			return err
		}
		defer s.Close()
		err = s.Export(ctx, t.name, w)
	}
	switch {
	case err == nil, ctx.Err() != nil:
		return err
	case hasJournal(err) && errors.Is(err, pawl.ErrCorrupt):
		t.info.Err = err // damaged, or found to be so by a closer look
		return a.readProblem(t)
	}
	return &problem{msg: cell(t.name) + " was not exported", err: err}
}

// exportJournal exports a journal by its path.
func exportJournal(ctx context.Context, path string, w io.Writer) error {
	f, err := journal.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	_, tail, err := journal.Verify(f, st.Size(), func(*journal.Record) error { return ctx.Err() })
	if err != nil {
		return journal.WithPath(err, path)
	}
	// Its owner may not have flushed it; who may only read has nothing to flush.
	if err := f.Sync(); err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return journal.WithPath(journal.Export(w, f, tail.End), path)
}

// writeAtomically lets fill write a file that gets its name when it is whole and durable.
func writeAtomically(path string, fill func(io.Writer) error) (int64, error) {
	if st, err := os.Lstat(path); err == nil && !st.Mode().IsRegular() {
		return 0, &fs.PathError{Op: "write", Path: path, Err: errors.New("there is something else than a regular file")}
	}
	if t := (&target{info: runs.Info{Path: path}}); t.home() != "" {
		return 0, &problem{exit: exitUsage, code: "usage", msg: cell(path) + " is the place of a run's journal in a store", hint: "nothing was changed; a run comes into a store with: pawl import"}
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*") // 0600
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return 0, &fs.PathError{Op: "create", Path: path, Err: pe.Err} // not the temporary name
	}
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name()) // nothing there once it has its name
	err = fill(f)
	var n int64
	if st, statErr := f.Stat(); statErr == nil {
		n = st.Size()
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return 0, err
	}
	if d, err := os.Open(dir); err == nil {
		d.Sync() //nolint:errcheck // some file systems and Windows cannot; it is there
		d.Close()
	}
	return n, nil
}
