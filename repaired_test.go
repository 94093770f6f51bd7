package pawl_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/journal/repair"
)

// priced is a run whose outer step has an input and begins anew with another one.
func priced(t *testing.T, s *pawl.Store, input int, keys map[string]int) (string, error) {
	t.Helper()
	return run(t, s, func(ctx context.Context) (string, error) {
		v, err := pawl.Step(ctx, "price", func(ctx context.Context) (string, error) {
			got, err := pawl.Step(ctx, "fetch", func(ctx context.Context) (string, error) {
				keys[pawl.IdempotencyKey(ctx)] = input
				return fmt.Sprint("fetched for ", input), nil
			})
			keys[pawl.IdempotencyKey(ctx)] = input
			return fmt.Sprint("price for ", input, " from ", got), err
		}, pawl.WithInput(input), pawl.RerunOnChange())
		return v, errors.Join(err, errors.New("once more"))
	})
}

// epochLine is where the epoch of the second input stands.
const epochLine = 9

// Whatever lines a journal lost before it was repaired, no step returns a result for
// another input than its own, and no idempotency key is given to two inputs.
func TestRepairedRunNeverMixesInputs(t *testing.T) {
	written := func(t *testing.T) (*pawl.Store, string, [][]byte) {
		s := openStore(t)
		for _, input := range []int{1, 2} {
			priced(t, s, input, map[string]int{}) //nolint:errcheck // it fails on purpose
		}
		path := inspect(t, s).Path
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return s, path, bytes.SplitAfter(bytes.TrimRight(text, "\n"), []byte("\n"))
	}
	_, _, lines := written(t)
	if !bytes.Contains(lines[epochLine-1], []byte(`"kind":"epoch"`)) {
		t.Fatalf("line %d is %s", epochLine, lines[epochLine-1])
	}
	repaired := 0
	for from := 2; from < len(lines)-1; from++ { // the first line's ID is in the file's name
		for n := 1; n <= 3 && from+n < len(lines); n++ {
			for _, input := range []int{1, 2, 3} {
				s, path, lines := written(t)
				cut := bytes.Join(append(append([][]byte{}, lines[:from]...), lines[from+n:]...), nil)
				if err := os.WriteFile(path, append(cut, '\n'), 0o600); err != nil {
					t.Fatal(err)
				}
				rep, err := repair.Journal(path, repair.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if rep.Needed {
					repaired++
				}
				keys := map[string]int{}
				v, _ := priced(t, s, input, keys)
				if want := fmt.Sprintf("price for %d from fetched for %d", input, input); v != "" && v != want {
					t.Errorf("lines %d to %d lost, input %d: %q (%q)", from+1, from+n, input, v, rep.Inferred)
				}
				if from+1 > epochLine || from+n < epochLine {
					// With its epoch known, a step of which no trace is left gets the key that
					// it may have had: asked for again, the same thing must be told from another.
					continue
				}
				// The keys that inputs 1 and 2 were given before the damage.
				for k, in := range knownKeys(t, lines) {
					if got, again := keys[k]; again && got != in {
						t.Errorf("lines %d to %d lost: the idempotency key of input %d is given to input %d (%q)", from+1, from+n, in, got, rep.Inferred)
					}
				}
			}
		}
	}
	if repaired < 30 {
		t.Errorf("%d repairs", repaired)
	}
}

// knownKeys are the idempotency keys of the undamaged run, by the input that got them.
func knownKeys(t *testing.T, lines [][]byte) map[string]int {
	t.Helper()
	s := openStore(t)
	if err := begin(t, s).Close(); err != nil {
		t.Fatal(err)
	}
	keys := map[string]int{}
	if _, err := s.Clear(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	// The same run once more, under its own UID, up to the starts of each input.
	for _, upTo := range []int{4, 9} {
		part := bytes.Join(lines[:upTo], nil)
		id, err := s.ImportJournal(t.Context(), bytes.NewReader(part), "")
		if err != nil {
			t.Fatal(err)
		}
		input := 1
		if upTo > 6 {
			input = 2
		}
		priced(t, s, input, keys) //nolint:errcheck // it fails on purpose
		if err := s.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	return keys
}

// A sector of another run's journal at the beginning of one: the repair keeps the run's own.
func TestRepairBehindAForeignSector(t *testing.T) {
	s := openStore(t)
	var calls []string
	grow(t, s, "aa", &calls, "1", "2", "3", "4", "5", "6", "7", "8")
	grow(t, s, "bb", &calls, "1", "2", "3", "4", "5", "6", "7", "8")
	a, b := mustInspect(t, s, "aa").Path, mustInspect(t, s, "bb").Path
	textA, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	textB, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a, append(bytes.Clone(textB[:512]), textA[512:]...), 0o600); err != nil {
		t.Fatal(err)
	}
	dry, err := repair.Journal(a, repair.Options{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	rep, err := repair.Journal(a, repair.Options{})
	if err != nil {
		t.Fatal(err)
	}
	info := mustInspect(t, s, "aa")
	if info.Done < 7 || info.UID == mustInspect(t, s, "bb").UID || !rep.HeaderLost {
		t.Errorf("%d steps, %+v", info.Done, rep)
	}
	if x, y := dry.After.Counts(), rep.After.Counts(); !reflect.DeepEqual(x, y) || dry.After.Status != rep.After.Status {
		t.Errorf("the dry run says %+v, and it became %+v", x, y)
	}
}
