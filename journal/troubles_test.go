package journal_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/memfs"
	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/spec"
)

var (
	readersFor  = flag.Duration("readers", time.Second, "how long the two readers are compared on random journals")
	troublesFor = flag.Duration("troubles", 2*time.Second, "how long random journals are compared with compacted ones")
)

// teller writes the same random records into two journals, of which it compacts one.
type teller struct {
	*rand.Rand
	plain, short         *journalfile.File
	plainFold, shortFold *journal.Fold
	plainFS, shortFS     *memfs.FS
	alone                bool // epochs of steps alone, too
	stray                bool // also use under keys without a step
	n                    int
}

func newTeller(seed uint64) (*teller, error) {
	w := &teller{Rand: rand.New(rand.NewPCG(seed, 11)), plainFold: journal.NewFold(), shortFold: journal.NewFold(), plainFS: memfs.New(), shortFS: memfs.New()}
	first := w.body(journal.KindRun, "").Int("format", 1).Str("id", "r").Str("uid", "00112233445566778899aabbccddeeff").Int("inc", 1).Bytes()
	for _, side := range []struct {
		fsys *memfs.FS
		j    **journalfile.File
		fold *journal.Fold
	}{{w.plainFS, &w.plain, w.plainFold}, {w.shortFS, &w.short, w.shortFold}} {
		j, err := journalfile.Create(side.fsys, samplePath, first, func(string) {})
		if err != nil {
			return nil, err
		}
		r, err := j.Record(journal.Span{Seq: 1, Len: j.Size() - 1})
		if err != nil {
			return nil, err
		}
		side.fold.Apply(r)
		*side.j = j
	}
	return w, nil
}

func (w *teller) body(kind, key string) *line.Body {
	w.n++
	return line.NewBody(kind, key, time.Date(2026, 12, 1, 9, w.n/60, w.n%60, 0, time.UTC))
}

// tellerKeys are few, so that records meet, and among those that meaningOf looks at.
var tellerKeys = []string{"a", "a/a", "a/b", "a/a/b", "b", "b/a", "b/b", "c"}

func (w *teller) key() string { return tellerKeys[w.IntN(len(tellerKeys))] }

func (w *teller) time() string {
	return fmt.Sprintf("2026-12-%02dT10:00:00.%06dZ", 1+w.IntN(28), w.IntN(1e6))
}

// series adds what a start or a failure says of its series.
func (w *teller) series(b *line.Body) *line.Body {
	if w.IntN(2) == 0 {
		b.Int("fails", 1+w.Int64N(4)).Str("since", w.time())
	}
	return b
}

// next is a record of any kind. Crashes are of steps that are running, and use is of steps
// that are there, unless stray is set: no writer records others.
func (w *teller) next() *line.Body {
	f, key := w.plainFold, w.key()
	s := f.Steps[key]
	switch n := w.IntN(110); {
	case n >= 100:
		return w.question(key)
	case n < 20:
		b := w.series(w.body(journal.KindStart, key).Int("try", 1))
		if w.IntN(4) == 0 {
			if b.Str("until", w.time()); w.IntN(2) == 0 {
				b.Int("wait", w.Int64N(1e9))
			}
		}
		if w.IntN(8) == 0 {
			b.Raw("once", []byte("true"))
		}
		return b
	case n < 27:
		return w.body(journal.KindStep, key).Int("try", 1).Int("us", int64(w.n)).Value(fmt.Append(nil, w.n))
	case n < 38:
		b := w.series(w.body(journal.KindFail, key).Int("try", 1).Int("us", int64(w.n)).Str("error", fmt.Sprint("error ", w.n)))
		if w.IntN(2) == 0 {
			b.Str("next", w.time()).Int("wait", w.Int64N(1e9))
		}
		if w.IntN(3) == 0 {
			b.Raw("final", []byte("true"))
		}
		if w.IntN(3) == 0 {
			b.Raw("poison", []byte("true"))
		}
		return b
	case n < 48:
		if s == nil || s.Status != journal.StepRunning {
			return w.body(journal.KindStart, key).Int("try", 1)
		}
		return w.body(journal.KindCrash, key).Int("n", w.Int64N(4)).Int("others", w.Int64N(3))
	case n < 54:
		for range 2 { // mostly of one that it concerns
			if s := f.Steps[key]; s == nil || s.Status == journal.StepDone {
				key = w.key()
			}
		}
		return w.body(journal.KindRetry, key).Str("by", "ann").Str("reason", "r")
	case n < 62:
		if s == nil && !w.stray || w.IntN(4) == 0 {
			key = ""
		}
		return w.body(journal.KindMeter, key).Str("unit", []string{"eur", "tokens"}[w.IntN(2)]).Raw("amount", fmt.Appendf(nil, "%g", float64(w.IntN(40))/4))
	case n < 65:
		return w.body(journal.KindNote, key).Value(fmt.Append(nil, w.n))
	case n < 66:
		return w.body("kind-of-the-future", key).Int("n", int64(w.n))
	case n < 72:
		b := w.body(journal.KindEpoch, key).Int("n", f.Epoch(key)+1).Str("reason", "r")
		if w.alone && w.IntN(3) == 0 {
			b.Raw("alone", []byte("true"))
		}
		return b
	case n < 78:
		for {
			from := w.key()
			if strings.Count(key, "/") <= strings.Count(from, "/") && key != from && !inside(from, key) {
				return w.body(journal.KindAlias, key).Str("from", from)
			}
			key = w.key()
		}
	case n < 85:
		b := w.body(journal.KindAttempt, "").Int("n", f.Attempts+1).Str("host", "h").Int("pid", int64(w.n))
		if w.IntN(2) == 0 {
			b.Str("deadline", w.time()).Int("within", w.Int64N(1e9))
		}
		if w.IntN(2) == 0 {
			b.Raw("budget", fmt.Appendf(nil, `{"eur":%d.5}`, w.IntN(9)))
		}
		return b
	case n < 88:
		b := w.body(journal.KindWaiting, "")
		if w.IntN(2) == 0 {
			b.Str("until", w.time())
		}
		return b
	case n < 91:
		return w.body(journal.KindCancelled, "").Str("by", fmt.Sprint("ann ", w.n)).Str("reason", "r").Str("mail", fmt.Sprintf("%016x", w.n))
	case n < 94:
		return w.body(journal.KindReopen, "").Str("by", "bob").Str("reason", "r")
	case n < 96:
		return w.body(journal.KindFailed, "").Str("error", fmt.Sprint("error ", w.n))
	case n < 98:
		return w.body(journal.KindInterrupted, "")
	case w.IntN(2) == 0:
		return w.body(journal.KindIgnored, key).Str("in", fmt.Sprintf("%032x", w.n))
	case w.IntN(3) == 0:
		return w.body(journal.KindComplete, "").Value(fmt.Append(nil, w.n))
	case w.IntN(2) == 0:
		return w.body(journal.KindClear, "")
	}
	return w.body(journal.KindStart, key).Int("try", 1)
}

// question is a question or what somebody said to one.
func (w *teller) question(key string) *line.Body {
	switch n := w.IntN(10); {
	case n < 5:
		b := w.body(journal.KindAwait, key).Str("in", fmt.Sprintf("%032x", w.n)).Raw("shape", []byte("{}"))
		if w.IntN(2) == 0 {
			b.Str("until", w.time())
		}
		return b.Value(fmt.Append(nil, w.n))
	case n < 9:
		return w.body(journal.KindAnswer, key).Str("by", "ann").Str("reason", "r").Str("mail", fmt.Sprintf("%016x", w.n)).Value(fmt.Append(nil, w.n))
	}
	return w.body(journal.KindRefuse, key).Str("by", "ann").Str("reason", "r").Str("error", "no").Value(fmt.Append(nil, w.n))
}

// add appends a random record to both journals.
func (w *teller) add() error {
	b := w.next().Bytes()
	for _, side := range []struct {
		j    *journalfile.File
		fold *journal.Fold
	}{{w.plain, w.plainFold}, {w.short, w.shortFold}} {
		span, err := side.j.Append(b, false)
		if err != nil {
			return err
		}
		r, err := side.j.Record(span)
		if err != nil {
			return err
		}
		side.fold.Apply(r)
	}
	return nil
}

func (w *teller) compact() (err error) {
	w.shortFold, err = w.short.Compact(func(string) {})
	return err
}

// differ says in what the compacted journal means something else than the other one.
func (w *teller) differ() (string, error) {
	want, err := meaningOf(w.plainFold, w.plain.Record)
	if err != nil {
		return "", err
	}
	got, err := meaningOf(w.shortFold, w.short.Record)
	if err != nil {
		return "", err
	}
	var diff strings.Builder
	diff.WriteString(got.differ(want))
	a, b := reflect.ValueOf(troubleOf(w.shortFold)), reflect.ValueOf(troubleOf(w.plainFold))
	for i := range a.NumField() {
		if x, y := a.Field(i).Interface(), b.Field(i).Interface(); !reflect.DeepEqual(x, y) {
			diff.WriteString(fmt.Sprintf("%s: %v, want %v\n", a.Type().Field(i).Name, x, y))
		}
	}
	return diff.String(), nil
}

// TestCompactKeepsTroubles: whatever the records, a compacted journal says the same of
// troubles, deaths, use, terms and cancellation, now and after all that comes later.
func TestCompactKeepsTroubles(t *testing.T) {
	t.Parallel()
	begun, records := time.Now(), 0
	seed := uint64(0)
	for ; time.Since(begun) < *troublesFor; seed++ {
		w, err := newTeller(seed)
		if err != nil {
			t.Fatal(err)
		}
		w.alone, w.stray = true, seed%4 == 0
		for range 4 {
			for range 1 + w.IntN(25) {
				if err := w.add(); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				records++
				if w.IntN(4) > 0 {
					continue
				}
				if diff, err := w.differ(); diff != "" || err != nil {
					t.Fatalf("seed %d, record %d: %v\n%s\n%s", seed, w.n, err, diff, w.text())
				}
			}
			if err := w.compact(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if diff, err := w.differ(); diff != "" || err != nil {
				t.Fatalf("seed %d, compacted behind record %d: %v\n%s\n%s", seed, w.n, err, diff, w.text())
			}
		}
	}
	t.Logf("%d journals, %d records", seed, records)
}

// content is the file of a journal.
func content(fsys *memfs.FS) ([]byte, error) {
	f, err := fsys.OpenFile(samplePath, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// text is the journal that was never compacted, without what all lines have.
func (w *teller) text() string {
	b, err := content(w.plainFS)
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	for l := range strings.Lines(string(b)) {
		if _, rest, ok := strings.Cut(l, `"seq":`); ok {
			out.WriteString(rest)
		}
	}
	return out.String()
}

// told is what reader.py prints, as far as the vectors can say it.
type told struct {
	Verdict   string                        `json:"verdict"`
	Records   int64                         `json:"records"`
	End       int64                         `json:"end"`
	Status    string                        `json:"status"`
	Attempts  int64                         `json:"attempts"`
	Steps     map[string]string             `json:"steps"`
	Notes     map[string]string             `json:"notes"`
	Once      []string                      `json:"once"`
	Idem      map[string]string             `json:"idempotency"`
	Final     []string                      `json:"final"`
	Troubles  map[string]spec.Trouble       `json:"troubles"`
	Used      map[string]float64            `json:"used"`
	UsedBy    map[string]map[string]float64 `json:"used_by"`
	UsedSince map[string]map[string]float64 `json:"used_since"`
	Deadline  *string                       `json:"deadline"`
	Within    int64                         `json:"within"`
	Budget    map[string]float64            `json:"budget"`
	Wake      *string                       `json:"wake"`
	Cancel    map[string]string             `json:"cancel"`
	Died      []string                      `json:"died"`
}

// vector is a vector that demands what the other reader found.
func (t *told) vector(journal []byte) spec.Vector {
	orNothing := func(s *string) string {
		if s == nil {
			return spec.Nothing
		}
		return *s
	}
	v := spec.Vector{
		Journal: journal, Expect: spec.Verdict(t.Verdict), Records: t.Records, End: t.End, Torn: -1, Offset: -1, Seq: -1, Status: t.Status, Attempts: t.Attempts,
		Steps: t.Steps, Notes: t.Notes, Once: t.Once, Idempotency: t.Idem, Final: t.Final, Troubles: t.Troubles, Used: t.Used, UsedBy: t.UsedBy, UsedSince: t.UsedSince,
		Deadline: orNothing(t.Deadline), Within: t.Within, Budget: t.Budget, Wake: orNothing(t.Wake), Cancel: t.Cancel, Death: spec.Death{Presence: spec.Exact, Steps: t.Died},
	}
	if v.Budget == nil {
		v.Budget = map[string]float64{}
	}
	if v.Cancel == nil {
		v.Cancel = map[string]string{}
	}
	return v
}

// TestReadersAgree compares this package with spec/reader.py, which was written from the
// page, on random journals, compacted ones among them.
func TestReadersAgree(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("SKIPPED: there is no python3, so the two readers of the format were not compared")
	}
	begun, records, journals := time.Now(), 0, 0
	for seed := uint64(0); seed == 0 || time.Since(begun) < *readersFor; {
		args := []string{filepath.Join("..", "spec", "reader.py")}
		var all [][]byte
		dir := t.TempDir()
		for range 100 {
			w, err := newTeller(seed)
			if err != nil {
				t.Fatal(err)
			}
			seed++
			w.alone, w.stray = true, seed%4 == 0
			for n := w.IntN(60); n >= 0; n-- {
				if err := w.add(); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if w.IntN(30) == 0 {
					if err := w.compact(); err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
				}
			}
			for i, fsys := range []*memfs.FS{w.plainFS, w.shortFS} {
				b, err := content(fsys)
				if err != nil {
					t.Fatal(err)
				}
				name := filepath.Join(dir, fmt.Sprintf("%d-%d.jsonl", seed, i))
				if err := os.WriteFile(name, b, 0o600); err != nil {
					t.Fatal(err)
				}
				args, all = append(args, name), append(all, b)
			}
		}
		var stdout, stderr bytes.Buffer
		cmd := exec.CommandContext(t.Context(), python, args...)
		cmd.Env = append(os.Environ(), "PYTHONUTF8=1", "PYTHONDONTWRITEBYTECODE=1")
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, &stderr)
		}
		dec := json.NewDecoder(&stdout)
		for i, b := range all {
			var want told
			if err := dec.Decode(&want); err != nil {
				t.Fatalf("%v\n%s", err, &stderr)
			}
			if wrong := readVector(b).compare(want.vector(b)); len(wrong) > 0 {
				t.Fatalf("%s: the reader in Go against that in Python: %s\n%s", args[1+i], strings.Join(wrong, "\n"), b)
			}
			records, journals = records+int(want.Records), journals+1
		}
	}
	t.Logf("%d journals, %d records", journals, records)
}
