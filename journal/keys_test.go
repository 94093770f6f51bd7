package journal_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/journal"
)

// foldOf applies records whose bodies are given.
func foldOf(bodies ...*line.Body) *journal.Fold {
	var text []byte
	crc := uint32(0)
	first := line.NewBody(journal.KindRun, "", time.Time{}).Int("format", 1).Str("id", "r").Str("uid", "u").Int("inc", 1)
	for i, b := range append([]*line.Body{first}, bodies...) {
		text, crc = line.Append(text, crc, int64(i+1), int64(i), b.Bytes())
	}
	f := journal.NewFold()
	sc := journal.NewScanner(bytes.NewReader(text), int64(len(text)))
	for sc.Scan() {
		f.Apply(sc.Record())
	}
	return f
}

func rec(kind, key string) *line.Body { return line.NewBody(kind, key, time.Time{}) }

// TestInsideOnce: however often a key was begun anew, and whatever is recorded under it,
// it is looked at once. (Twice at every depth would be without end.)
func TestInsideOnce(t *testing.T) {
	t.Parallel()
	const depth, rounds = 60, 30
	var keys []string
	for i := range depth {
		keys = append(keys, strings.Repeat("a/", i)+"a")
	}
	var all []*line.Body
	for i := range rounds {
		for _, key := range keys {
			all = append(all, rec(journal.KindStart, key), rec(journal.KindNote, key).CleanValue([]byte("1")), rec(journal.KindState, key).CleanValue([]byte("1")), rec(journal.KindMap, key))
		}
		if i < rounds-1 {
			all = append(all, rec(journal.KindEpoch, keys[i%3]))
		}
	}
	if got := slices.Collect(foldOf(all...).Inside("a")); !slices.Equal(got, keys[1:]) {
		t.Errorf("inside of a chain of %d keys: %d", depth, len(got))
	}
}

// TestAliasAndBack: renaming many keys to and fro costs what there is, not more each time.
func TestAliasAndBack(t *testing.T) {
	t.Parallel()
	var all []*line.Body
	for i := range 100 {
		all = append(all, rec(journal.KindStart, fmt.Sprintf("a/%d/x", i)))
	}
	for range 200 {
		all = append(all, rec(journal.KindAlias, "b").Str("from", "a"), rec(journal.KindAlias, "a").Str("from", "b"))
	}
	f := foldOf(all...)
	if n := len(slices.Collect(f.Inside("a"))); n != 200 || len(f.Steps) != 100 {
		t.Errorf("%d keys, %d steps", n, len(f.Steps))
	}
}

// TestAliasAroundItself: what no writer writes means nothing, and ends.
func TestAliasAroundItself(t *testing.T) {
	t.Parallel()
	steps := []*line.Body{rec(journal.KindStart, "a"), rec(journal.KindStart, "a/x"), rec(journal.KindStart, "a/b"), rec(journal.KindStart, "a/b/b")}
	for _, alias := range [][2]string{{"a", "a"}, {"a/b", "a"}, {"a", "a/b"}, {"a/x/y/z", "a"}} {
		f := foldOf(append(slices.Clone(steps), rec(journal.KindAlias, alias[0]).Str("from", alias[1]))...)
		for _, key := range []string{"a", "a/x", "a/b", "a/b/b"} {
			if f.Steps[key] == nil || len(f.Steps) != len(steps) {
				t.Errorf("alias of %s to %s: %d steps", alias[1], alias[0], len(f.Steps))
			}
		}
	}
}

// TestOrderOfMembers: behind the key they stand in any order, and false says nothing.
func TestOrderOfMembers(t *testing.T) {
	t.Parallel()
	f := foldOf(
		rec(journal.KindFail, "a").Str("error", "x").Raw("final", []byte("true")),
		rec(journal.KindFail, "b").Raw("final", []byte("true")), rec(journal.KindFail, "b").Raw("final", []byte("false")),
		rec(journal.KindStart, "c").Raw("once", []byte("false")),
	)
	if !f.Steps["a"].Final || f.Steps["b"].Final || f.Steps["c"].Once {
		t.Errorf("a %+v, b %+v, c %+v", f.Steps["a"], f.Steps["b"], f.Steps["c"])
	}
}

// TestEpochAlone: an epoch of a step alone drops the step with its note; what is inside stays, and
// so does the state, and no idempotency key inside changes.
func TestEpochAlone(t *testing.T) {
	t.Parallel()
	alone := func(n int64) *line.Body { return rec(journal.KindEpoch, "a").Int("n", n).Raw("alone", []byte("true")) }
	before := []*line.Body{
		rec(journal.KindEpoch, "a").Int("n", 1), rec(journal.KindStart, "a").Int("try", 3), rec(journal.KindNote, "a").CleanValue([]byte("1")),
		rec(journal.KindState, "a").Str("sum", "00000000").CleanValue([]byte("1")), rec(journal.KindMap, "a/m").Int("total", 1),
		rec(journal.KindStart, "a/m/x"), rec(journal.KindStep, "a/m/x").CleanValue([]byte("1")), rec(journal.KindNote, "a/m/x").CleanValue([]byte("1")),
	}
	was, f := foldOf(before...), foldOf(append(slices.Clone(before), alone(2))...)
	if _, noted := f.Notes["a"]; f.Steps["a"] != nil || noted || f.Saved["a"] == nil {
		t.Errorf("the step %+v, its note %v, its state %+v", f.Steps["a"], noted, f.Saved["a"])
	}
	if _, noted := f.Notes["a/m/x"]; f.Steps["a/m/x"] == nil || f.Steps["a/m/x"].Status != journal.StepDone || !noted || f.Maps["a/m"] == nil {
		t.Error("something inside is gone")
	}
	for _, key := range []string{"a/m/x", "a/other"} {
		if f.IdempotencyKey(key) != was.IdempotencyKey(key) {
			t.Errorf("the idempotency key of %s changed", key)
		}
	}
	if f.IdempotencyKey("a") == was.IdempotencyKey("a") || f.Epoch("a") != 2 || f.NextEpoch("a") != 3 {
		t.Errorf("epoch %d of the step", f.Epoch("a"))
	}
	// One of everything counts on from it, for what is inside too.
	all := foldOf(append(slices.Clone(before), alone(2), rec(journal.KindEpoch, "a").Int("n", 3))...)
	other := foldOf(append(slices.Clone(before), rec(journal.KindEpoch, "a").Int("n", 2))...)
	if k := all.IdempotencyKey("a/other"); k == was.IdempotencyKey("a/other") || k == other.IdempotencyKey("a/other") {
		t.Error("an idempotency key inside came back")
	}
}
