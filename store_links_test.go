package pawl_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

// Rule 21: a run's files are never followed out of the store when somebody put a link in the
// place of one: nothing runs, and what the link points to keeps every byte.
func TestLinksOutOfAStore(t *testing.T) {
	ours, other := openStore(t), openStore(t)
	for _, s := range []*pawl.Store{ours, other} {
		_, err := run(t, s, func(context.Context) (int, error) { return 0, errors.New("stop") })
		if err == nil {
			t.Fatal("no error")
		}
	}
	outside := inspect(t, other).Path
	journal := inspect(t, ours).Path
	lock := strings.TrimSuffix(journal, ".jsonl") + ".lock"
	for _, name := range []string{journal, lock} {
		before, err := os.ReadFile(outside)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(name, name+".aside"); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, name); err != nil {
			t.Skip("NOT TESTED: no links here: ", err)
		}
		if _, err := run(t, ours, func(context.Context) (int, error) { t.Error("ran"); return 0, nil }); err == nil {
			t.Errorf("%s is a link and was followed", filepath.Base(name))
		}
		if after, err := os.ReadFile(outside); err != nil || string(after) != string(before) {
			t.Errorf("the file that %s points to was changed, %v", filepath.Base(name), err)
		}
		if err := errors.Join(os.Remove(name), os.Rename(name+".aside", name)); err != nil {
			t.Fatal(err)
		}
	}
	if v, err := run(t, ours, func(context.Context) (int, error) { return 7, nil }); v != 7 || err != nil {
		t.Errorf("without links: %d, %v", v, err)
	}
}
