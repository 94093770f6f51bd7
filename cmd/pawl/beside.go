package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/runs"
)

// leftover is a file that pawl put beside a journal or a checkpoint and that nothing
// reads any more.
type leftover struct {
	Kind  string `json:"kind"` // unfinished, torn, damaged, cleared
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// Kinds of leftovers.
const (
	leftUnfinished = "unfinished" // of a write that was cut short; the next one removes it
	leftTorn       = "torn"       // what a start cut off
	leftDamaged    = "damaged"    // the original of a repair
	leftCleared    = "cleared"    // what pawl clear put aside
)

// leftoverRE finds the file to which a leftover belongs, by its name. What is kept as
// torn-n, damaged-n and cleared-n belongs to a journal, what has a tilde to a checkpoint
// file.
var leftoverRE = regexp.MustCompile(`^(.+?)\.(?:(new|torn\.new|import|pawl-new|pawl-copy)|(torn-\d+(?:\.\d+)?)|(damaged(?:-\d+|~\d+)?)|(cleared-\d+))$`)

// neighbours lists directories once, for all the files in them that are asked for.
type neighbours map[string]map[string][]leftover

// of returns the leftovers of the file at path. An unreadable directory has none: the
// file itself was read.
func (n neighbours) of(path string) []leftover {
	dir, name := filepath.Split(path)
	return n.in(dir)[name]
}

// in returns the leftovers in a directory by the name of the file they belong to.
func (n neighbours) in(dir string) map[string][]leftover {
	dir = filepath.Clean(dir)
	if known, ok := n[dir]; ok {
		return known
	}
	found := map[string][]leftover{}
	n[dir] = found
	entries, _ := os.ReadDir(dir) //nolint:errcheck // see of
	for _, e := range entries {
		m := leftoverRE.FindStringSubmatch(e.Name())
		if m == nil || !e.Type().IsRegular() {
			continue
		}
		l := leftover{Kind: leftUnfinished, Path: filepath.Join(dir, e.Name())}
		switch {
		case m[3] != "":
			l.Kind = leftTorn
		case m[4] != "":
			l.Kind = leftDamaged
		case m[5] != "":
			l.Kind = leftCleared
		}
		if st, err := e.Info(); err == nil {
			l.Bytes = st.Size()
		}
		found[m[1]] = append(found[m[1]], l)
	}
	return found
}

// String says what it is and that it may go.
func (l leftover) String() string {
	what := map[string]string{
		leftUnfinished: "an unfinished write, removed by the next one",
		leftTorn:       "an interrupted write that a start cut off",
		leftDamaged:    "the damaged original of a repair",
		leftCleared:    "the journal of a run that was cleared",
	}[l.Kind]
	return fmt.Sprintf("left over: %s (%d bytes, %s)", cell(l.Path), l.Bytes, what)
}

// version is an older state that pawl.KeepVersions kept beside a checkpoint file.
type version struct {
	info       runs.Info // Err is set if it cannot be read
	path       string
	generation int64
}

// versionsOf lists the versions of the checkpoint file at path, newest first: by the
// number in the name, since clocks go backwards.
func versionsOf(path string) ([]version, error) {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return nil, err
	}
	var all []version
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), base+".v")
		digits, _, _ := strings.Cut(rest, "~")
		g, err := strconv.ParseInt(digits, 10, 64)
		if !ok || len(digits) < 12 || err != nil || g < 1 {
			continue
		}
		v := version{path: filepath.Join(dir, e.Name()), generation: g}
		if v.info, err = pawl.InspectFile(v.path); err != nil {
			v.info = unreadable(v.path, err)
		}
		all = append(all, v)
	}
	slices.SortStableFunc(all, func(x, y version) int { return cmp.Compare(x.generation, y.generation) })
	slices.Reverse(all)
	return all, nil
}

// newestGood returns the newest version that can be read, nil if there is none. One
// that a newer pawl wrote is an error: it is not passed over.
func newestGood(all []version) (*version, error) {
	for i := range all {
		switch err := all[i].info.Err; {
		case err == nil:
			return &all[i], nil
		case errors.Is(err, pawl.ErrNewerFormat):
			return nil, err
		}
	}
	return nil, nil
}

// schema returns the version of the shape of the state in it, 0 if it has none.
func (v *version) schema() (int, error) {
	text, err := os.ReadFile(v.path)
	if err != nil {
		return 0, err
	}
	var file struct {
		Schema int `json:"schema"`
	}
	err = json.Unmarshal(text, &file)
	return file.Schema, err
}

// atSchema lets a state of a schema version be opened and saved as it is: it makes
// this program one that knows the version, and leaves nothing to migrate.
func atSchema(n int) []pawl.FileOption {
	if n < 1 {
		return nil
	}
	return []pawl.FileOption{pawl.Migrate(n-1, func(state []byte) ([]byte, error) { return state, nil })}
}
