package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/runs"
)

// target is the run or file that an argument means.
type target struct {
	info  runs.Info // Err is set if it cannot be read
	name  string    // run ID, or path as given
	store string    // directory of its store, "" for a file
	arg   string    // what names it in a command to type next
}

// isCheckpoint tells a Level 1 file, one JSON object, from a journal: also a damaged
// one, by what is said of it.
func (t *target) isCheckpoint() bool {
	_, isJournal := errors.AsType[*journal.CorruptError](t.info.Err)
	return isCheckpoint(t.info) || t.store == "" && errors.Is(t.info.Err, pawl.ErrCorrupt) && !isJournal
}

// home returns the directory of the store whose journal this is, by ID or by path,
// and "" for other files.
func (t *target) home() string {
	if t.store != "" {
		return t.store
	}
	return homeOf(t.info.Path)
}

// homeOf decides that by where the file stands, not by where it leads if it is a link.
func homeOf(path string) string {
	runs := canonical(filepath.Dir(path))
	dir := filepath.Dir(runs)
	if filepath.Base(runs) != "runs" || filepath.Ext(path) != ".jsonl" {
		return ""
	}
	if st, err := os.Stat(filepath.Join(dir, "store.json")); err != nil || !st.Mode().IsRegular() {
		return ""
	}
	return dir
}

// canonical returns a path from which the file's place can be told, whatever the
// current directory and whatever links led to it.
func canonical(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path
}

// inStore is a run of a store.
func (a *app) inStore(ref storeRef, info runs.Info) *target {
	if info.ID == "" { // its file cannot be read, and has too short a name for the ID
		return &target{info, info.Path, ref.dir, quoteArg(info.Path)}
	}
	return &target{info, info.ID, ref.dir, quoteArg(info.ID) + a.again()}
}

// isFile tells whether an argument means a file rather than a run of the store:
// it has a path separator or ends in .json or .jsonl, and there is such a file.
func isFile(arg string) (bool, error) {
	if !likeFile(arg) {
		return false, nil
	}
	st, err := os.Stat(arg)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid):
		return false, nil
	case err != nil:
		// ENOTDIR and a name that is too long mean that there is no such file.
		if _, code := classify(err); code == "denied" {
			return false, err
		}
		return false, nil
	}
	return !st.IsDir(), nil
}

func likeFile(arg string) bool {
	ext := filepath.Ext(arg)
	return strings.ContainsRune(arg, '/') || strings.ContainsRune(arg, filepath.Separator) || ext == ".json" || ext == ".jsonl"
}

// resolve finds what an argument means. A run that cannot be read is a target with
// info.Err; an error says that there is none, or more than one.
func (a *app) resolve(ctx context.Context, arg string) (*target, error) {
	if arg == "" {
		return nil, &problem{exit: exitUsage, code: "usage", msg: "the run ID is empty", hint: "list the runs with: pawl ls" + a.again()}
	}
	file, err := isFile(arg)
	if err != nil {
		return nil, &problem{msg: cell(arg), err: err}
	}
	if file {
		return resolveFile(arg)
	}
	s, ref, err := a.open()
	if err != nil {
		if p := explain(err); p.code == "no_store" && likeFile(arg) {
			p.msg = fmt.Sprintf("there is no file %s; and to be a run ID, %s", cell(arg), p.msg)
			return nil, p
		}
		return nil, err
	}
	defer s.Close()
	info, err := s.Inspect(ctx, arg)
	switch {
	case err == nil, info.Err != nil:
		return a.inStore(ref, info), nil
	case ctx.Err() == nil && errors.Is(err, pawl.ErrNotFound):
		return a.search(ctx, s, ref, arg)
	}
	return nil, err
}

// oneOf is resolve for one of some arguments: one that means nothing is a target that
// cannot be read, if there are others, which it must not hide.
func (a *app) oneOf(ctx context.Context, args []string, arg string) (*target, error) {
	t, err := a.resolve(ctx, arg)
	if err == nil || len(args) == 1 || ctx.Err() != nil {
		return t, err
	}
	return &target{info: runs.Info{Path: arg, Err: explain(err)}, name: arg, arg: quoteArg(arg)}, nil
}

// search looks for the run whose ID begins with arg, and else for IDs that are near
// it.
func (a *app) search(ctx context.Context, s *pawl.Store, ref storeRef, arg string) (*target, error) {
	found, err := runIDs(ctx, s, arg)
	if err != nil {
		return nil, err
	}
	switch len(found) {
	case 0:
		all, err := runIDs(ctx, s, "")
		if err != nil {
			return nil, err
		}
		return nil, a.notFound(ref, arg, all)
	case 1:
		info, err := s.Inspect(ctx, found[0])
		if err != nil && info.Err == nil {
			return nil, err
		}
		return a.inStore(ref, info), nil
	}
	return nil, &problem{
		exit: exitUsage, code: "ambiguous", msg: fmt.Sprintf("%q is the beginning of %d run IDs", arg, len(found)),
		hint: "type more of one of: " + names(found, 8), candidates: found,
	}
}

// runIDs lists the runs whose ID begins with prefix; with an error, those found
// before it.
func runIDs(ctx context.Context, s *pawl.Store, prefix string) ([]string, error) {
	var all []string
	for id, err := range s.IDs(ctx, prefix) {
		if err != nil {
			return all, err
		}
		all = append(all, id)
	}
	return all, nil
}

func (a *app) notFound(ref storeRef, arg string, ids []string) error {
	p := &problem{exit: exitNotFound, code: "not_found", msg: fmt.Sprintf("there is no run %q in the store at %s", arg, ref)}
	if likeFile(arg) {
		p.msg = fmt.Sprintf("there is no file %s and no such run in the store at %s", cell(arg), ref)
	}
	if st, err := os.Stat(filepath.Join(arg, "store.json")); err == nil && st.Mode().IsRegular() {
		p.hint = "it is a store; list its runs with: pawl ls --store " + quoteArg(arg)
		return p
	}
	p.candidates = nearest(arg, ids, 3)
	switch len(ids) {
	case 0:
		p.hint = "nothing was created; the store is empty"
	case 1:
		p.hint = "nothing was created; the only run is " + names(p.candidates, 1)
	default:
		p.hint = fmt.Sprintf("nothing was created; nearest: %s; list all %d with: pawl ls%s", names(p.candidates, 3), len(ids), a.again())
	}
	return p
}

// names lists the first n of some IDs.
func names(ids []string, n int) string {
	var b strings.Builder
	for i, id := range ids {
		if i == n {
			fmt.Fprintf(&b, ", and %d more", len(ids)-n)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(cell(id))
	}
	return b.String()
}

// nearest returns the n IDs that take the fewest edits to become arg.
func nearest(arg string, ids []string, n int) []string {
	type near struct {
		id    string
		edits int
	}
	all := make([]near, 0, len(ids))
	for _, id := range ids {
		all = append(all, near{id, distance([]rune(arg), []rune(id))})
	}
	slices.SortStableFunc(all, func(x, y near) int { return x.edits - y.edits })
	var out []string
	for _, x := range all[:min(n, len(all))] {
		out = append(out, x.id)
	}
	return out
}

// distance is the number of insertions, deletions and replacements between a and b.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, ra := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, rb := range b {
			cost := diagonal
			if ra != rb {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
