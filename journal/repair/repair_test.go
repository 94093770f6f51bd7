package repair_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/journal/repair"
)

// job is a run of ten steps that has not ended; ran counts how often each ran.
func job(t *testing.T, s *pawl.Store, ran map[string]int) error {
	t.Helper()
	_, err := pawl.Do(t.Context(), s, "Job/1", func(ctx context.Context) (int, error) {
		for i := range 10 {
			key := fmt.Sprint("step-", i)
			v, err := pawl.Step(ctx, key, func(context.Context) (string, error) { ran[key]++; return "value of " + key, nil })
			if err != nil {
				return 0, err
			}
			if v != "value of "+key {
				t.Errorf("%s returned %q", key, v)
			}
		}
		return 0, errors.New("not yet")
	})
	return err
}

func setup(t *testing.T) (s *pawl.Store, path string) {
	t.Helper()
	s, err := pawl.Open(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	job(t, s, map[string]int{}) //nolint:errcheck // on purpose
	info, err := s.Inspect(t.Context(), "Job/1")
	if err != nil {
		t.Fatal(err)
	}
	return s, info.Path
}

// Damage to one record costs that record, and only its step runs again.
func TestRepairKeepsWhatIsWhole(t *testing.T) {
	damage := map[string]struct {
		do     func(lines [][]byte) [][]byte
		again  string // steps that run again
		header bool
	}{
		"a flipped bit":      {func(l [][]byte) [][]byte { l[9][len(l[9])/2] ^= 1; return l }, "step-3", false}, // run, attempt, start, step, …
		"a flip in a start":  {func(l [][]byte) [][]byte { l[8][30] ^= 1; return l }, "", false},
		"a record zeroed":    {func(l [][]byte) [][]byte { clear(l[9]); return l }, "step-3", false},
		"a line dropped":     {func(l [][]byte) [][]byte { return append(l[:9:9], l[10:]...) }, "step-3", false},
		"a line repeated":    {func(l [][]byte) [][]byte { return append(l[:9:9], append([][]byte{l[8]}, l[9:]...)...) }, "", false},
		"two lines swapped":  {func(l [][]byte) [][]byte { l[9], l[10] = l[10], l[9]; return l }, "", false},
		"garbage in between": {func(l [][]byte) [][]byte { l[9] = append([]byte("%%%\n"), l[9]...); return l }, "", false},
		"the first record":   {func(l [][]byte) [][]byte { l[0][40] ^= 1; return l }, "", true},
	}
	for name, d := range damage {
		t.Run(name, func(t *testing.T) {
			s, path := setup(t)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			damaged := bytes.Join(d.do(bytes.SplitAfter(text, []byte("\n"))), nil)
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			ran := map[string]int{}
			if err := job(t, s, ran); !errors.Is(err, pawl.ErrCorrupt) || len(ran) > 0 {
				t.Fatalf("before the repair: %v, ran %v", err, ran)
			}
			dry, err := repair.Journal(path, repair.Options{DryRun: true})
			if err != nil || !dry.Needed || dry.Aside != "" {
				t.Fatalf("dry run: %+v, %v", dry, err)
			}
			if now, _ := os.ReadFile(path); !bytes.Equal(now, damaged) {
				t.Fatal("the dry run changed the file")
			}
			rep, err := repair.Journal(path, repair.Options{})
			if err != nil || !rep.Needed || rep.HeaderLost != d.header || len(rep.Lost)+len(rep.Missing) == 0 {
				t.Fatalf("repair: %+v, %v", rep, err)
			}
			if kept, _ := os.ReadFile(rep.Aside); !bytes.Equal(kept, damaged) {
				t.Errorf("the original is not kept in %q", rep.Aside)
			}
			if err := job(t, s, ran); err == nil || err.Error() != "not yet" {
				t.Fatalf("after the repair: %v", err)
			}
			var again strings.Builder
			for key := range ran {
				again.WriteString(key)
			}
			if again.String() != d.again {
				t.Errorf("ran again: %q, want %q (%+v)", again.String(), d.again, rep)
			}
			if rep, err := repair.Journal(path, repair.Options{}); err != nil || rep.Needed {
				t.Errorf("a second repair: %+v, %v", rep, err)
			}
		})
	}
}

func TestRepairRefusals(t *testing.T) {
	s, path := setup(t)
	if rep, err := repair.Journal(path, repair.Options{}); err != nil || rep.Needed || rep.Kept == 0 {
		t.Errorf("a good journal: %+v, %v", rep, err)
	}
	r, err := s.Begin(t.Context(), "Job/1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repair.Journal(path, repair.Options{}); !errors.Is(err, repair.ErrOwned) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("an owned run: %v", err)
	}
	t.Chdir(filepath.Dir(path))
	if _, err := repair.Journal(filepath.Base(path), repair.Options{}); !errors.Is(err, repair.ErrOwned) {
		t.Errorf("an owned run by a relative path: %v", err)
	}
	r.Close()
	if err := os.WriteFile(path, make([]byte, 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := repair.Journal(path, repair.Options{}); !errors.Is(err, journal.ErrCorrupt) {
		t.Errorf("nothing readable: %v", err)
	}
	if now, _ := os.ReadFile(path); !bytes.Equal(now, make([]byte, 1000)) {
		t.Error("the unreadable file was changed")
	}
	if _, err := repair.Journal(path+"x", repair.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}

// A lost state makes the patches on it useless, up to the next whole state.
func TestRepairStates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	save := func(from, to int) {
		t.Helper()
		ck, err := pawl.OpenState[[]string](path)
		if err != nil {
			t.Fatal(err)
		}
		defer ck.Close()
		st := ck.State()
		for i := from; i < to; i++ {
			st = append(st, fmt.Sprint(strings.Repeat("x", 100), i))
			if err := ck.Save(st); err != nil {
				t.Fatal(err)
			}
		}
	}
	save(0, 20)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Damage a patch near the end.
	lines := bytes.SplitAfter(text, []byte("\n"))
	i := len(lines) - 4
	if !bytes.Contains(lines[i], []byte(`"patch"`)) {
		t.Fatalf("not a patch: %s", lines[i])
	}
	lines[i][len(lines[i])/2] ^= 1
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	rep, err := repair.Journal(path, repair.Options{})
	if err != nil || rep.States == 0 {
		t.Fatalf("%+v, %v", rep, err)
	}
	ck, err := pawl.OpenState[[]string](path)
	if err != nil {
		t.Fatal(err)
	}
	n := len(ck.State())
	ck.Close()
	if n == 0 || n >= 20 {
		t.Errorf("%d entries after the repair", n)
	}
	save(n, 30)
}

// The state of a renamed step goes on under the new key: damage elsewhere costs nothing of it.
func TestRepairKeepsStatesBehindAliases(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	var text []byte
	crc, seq := uint32(0), int64(0)
	add := func(b *line.Body) {
		seq++
		text, crc = line.Append(text, crc, seq, seq-1, b.Bytes())
	}
	state := func(key, text string) *line.Body {
		return line.NewBody(journal.KindState, key, time.Time{}).Str("sum", fmt.Sprintf("%08x", line.Checksum([]byte(text))))
	}
	add(line.NewBody(journal.KindRun, "", time.Time{}).Int("format", 1).Str("id", "r").Str("uid", "00112233445566778899aabbccddeeff").Int("inc", 1))
	damaged := len(text) + 60
	add(line.NewBody(journal.KindAttempt, "", time.Time{}).Int("n", 1).Str("host", strings.Repeat("h", 99)))
	add(state("old", "[1]").CleanValue([]byte("[1]")))
	add(line.NewBody(journal.KindAlias, "new", time.Time{}).Str("from", "old"))
	add(state("new", "[1,2]").Raw("patch", []byte(`[{"op":"add","path":"/-","value":2}]`)))
	text[damaged] ^= 1
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if rep, err := repair.Journal(path, repair.Options{}); err != nil || rep.States != 0 || !rep.Needed {
		t.Fatalf("%+v, %v", rep, err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fold, _, err := journal.ReadFile(f)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := fold.State("new", func(s journal.Span) (*journal.Record, error) { return journal.RecordAt(f, s) })
	if string(got) != "[1,2]" || err != nil {
		t.Errorf("the state is %s, %v", got, err)
	}
}
