package journal_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/memfs"
	"github.com/pawlgo/pawl/journal"
)

// meant is what a journal means, payloads read, and without numbers of records: what a
// compaction must not change.
type meant struct {
	Status, Error, Result string
	Attempts              int64
	Steps                 map[string]stepMeant
	Maps                  map[string]int64  // total
	Notes, States         map[string]string // exact texts
	Epochs                map[string]int64
	Idempotency           map[string]string // of all keys, asked or not

	// What the plain fold does not look at.
	Header  journal.Header
	Attempt journal.Attempt
	Counts  journal.Counts
	Items   map[string]journal.ItemCounts
}

type stepMeant struct {
	Status      journal.StepStatus
	Final, Once bool // Final of a failed one
	Map         string
	Tries       int64
	Input       string
	End         string // value or error, if it has ended
}

// keys are those that the random journals use.
var keys = func() (all []string) {
	names := []string{"a", "b", "c"}
	for _, x := range names {
		all = append(all, x)
		for _, y := range names {
			all = append(all, x+"/"+y)
			for _, z := range names {
				all = append(all, x+"/"+y+"/"+z)
			}
		}
	}
	return all
}()

func inside(key, outer string) bool { return strings.HasPrefix(key, outer+"/") }

// plain is a fold written from the page with other means: plain maps, and a look at
// every key for every epoch and alias.
type plain struct {
	meant
	uid   string
	idem  map[string]string // of steps that moved
	whole map[string]int64  // epochs that concerned what is inside too
}

func newPlain(uid string) *plain {
	p := &plain{uid: uid}
	p.Status = "in_progress"
	p.clear()
	return p
}

func (p *plain) clear() {
	p.Steps, p.Maps, p.Notes, p.States = map[string]stepMeant{}, map[string]int64{}, map[string]string{}, map[string]string{}
	p.Epochs, p.idem, p.whole = map[string]int64{}, map[string]string{}, map[string]int64{}
}

// apply adds a record; state is what it makes the state of its key.
func (p *plain) apply(r *journal.Record, state string) {
	value, _ := r.Value()
	s, key := p.Steps[r.Key], r.Key
	switch r.Kind {
	case journal.KindStart:
		if s.Status != journal.StepDone {
			p.Steps[key] = stepMeant{Map: r.Str("map"), Once: r.Bool("once"), Tries: r.Int("try"), Input: r.Str("in")}
		}
	case journal.KindStep:
		s.Status, s.Tries, s.End, s.Final = journal.StepDone, r.Int("try"), string(value), false
		p.Steps[key] = s
	case journal.KindFail:
		if s.Status != journal.StepDone {
			s.Status, s.Tries, s.End, s.Final = journal.StepFailed, r.Int("try"), r.Str("error"), r.Bool("final")
			p.Steps[key] = s
		}
	case journal.KindMap:
		p.Maps[key] = r.Int("total")
	case journal.KindNote:
		p.Notes[key] = string(value)
	case journal.KindState:
		p.States[key] = state
	case journal.KindEpoch:
		if p.Epochs[key] = r.Int("n"); r.Bool("alone") { // the step, with its note
			delete(p.Steps, key)
			delete(p.Notes, key)
			delete(p.idem, key)
			return
		}
		for _, k := range append([]string{key}, keys...) {
			if k == key || inside(k, key) {
				p.drop(k)
			}
		}
		p.whole[key] = r.Int("n")
	case journal.KindAlias:
		p.alias(key, r.Str("from"))
	case journal.KindClear:
		p.Status, p.Error, p.Result = "in_progress", "", ""
		p.clear()
	case journal.KindAttempt:
		p.Attempts = r.Int("n")
		if p.Status != "complete" {
			p.Status, p.Error = "in_progress", ""
		}
	case journal.KindComplete:
		p.Status, p.Error, p.Result = "complete", "", string(value)
	case journal.KindFailed:
		if p.Status != "complete" {
			p.Status, p.Error = "failed", r.Str("error")
		}
	}
}

func (p *plain) drop(key string) {
	delete(p.Steps, key)
	delete(p.Maps, key)
	delete(p.Notes, key)
	delete(p.States, key)
	delete(p.idem, key)
}

func (p *plain) alias(key, from string) {
	renamed := func(k string) (string, bool) { return key + strings.TrimPrefix(k, from), k == from || inside(k, from) }
	for _, old := range keys {
		now, is := renamed(old)
		if !is {
			continue
		}
		idem := p.idempotency(old)
		s, ok := p.Steps[old]
		if _, there := p.Steps[now]; ok && !there {
			if m, is := renamed(s.Map); is {
				s.Map = m
			}
			p.Steps[now], p.idem[now] = s, idem
		}
		adopt(p.Maps, old, now)
		adopt(p.Notes, old, now)
		adopt(p.States, old, now)
		p.drop(old)
	}
	p.Epochs[from]++
	p.whole[from] = p.Epochs[from]
}

func adopt[V any](m map[string]V, old, now string) {
	v, ok := m[old]
	if _, there := m[now]; ok && !there {
		m[now] = v
	}
}

func (p *plain) idempotency(key string) string {
	if moved := p.idem[key]; moved != "" {
		return moved
	}
	var covered strings.Builder
	covered.WriteString(key)
	for i := range len(key) + 1 {
		if i == len(key) || key[i] == '/' {
			n := p.whole[key[:i]]
			if i == len(key) {
				n = p.Epochs[key]
			}
			if n > 0 {
				covered.WriteString(fmt.Sprintf("\x00%d@%d", n, i))
			}
		}
	}
	mac := hmac.New(sha256.New, []byte(p.uid))
	mac.Write([]byte(covered.String()))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// meaning is what the plain fold says; what it does not look at is as in m.
func (p *plain) meaning(like meant) meant {
	m := p.meant
	m.Header, m.Attempt, m.Counts, m.Items = like.Header, like.Attempt, like.Counts, like.Items
	m.Idempotency = map[string]string{}
	for _, key := range keys {
		m.Idempotency[key] = p.idempotency(key)
	}
	return m
}

// meaningOf is what a fold says, with the payloads of its journal.
func meaningOf(f *journal.Fold, record func(journal.Span) (*journal.Record, error)) (meant, error) {
	m := meant{
		Status: string(f.Status), Error: f.Error, Attempts: f.Attempts,
		Steps: map[string]stepMeant{}, Maps: map[string]int64{}, Notes: map[string]string{}, States: map[string]string{},
		Epochs: map[string]int64{}, Idempotency: map[string]string{},
		Header: f.Header, Attempt: f.Attempt, Counts: f.Counts(), Items: f.Items(),
	}
	m.Header.Incarnation = 0
	var failed error
	text := func(s journal.Span) string {
		r, err := record(s)
		if err != nil {
			failed = err
			return ""
		}
		v, _ := r.Value()
		return string(v)
	}
	if f.Result.Len > 0 {
		m.Result = text(f.Result)
	}
	for key, s := range f.Steps {
		got := stepMeant{Status: s.Status, Once: s.Once, Map: s.Map, Tries: s.Tries, Input: hex.EncodeToString(s.Input[:])}
		if !s.InputDiffers("") {
			got.Input = ""
		}
		switch s.Status {
		case journal.StepDone:
			got.End = text(journal.Span{Seq: s.Seq, Offset: s.Offset, Len: s.Len})
		case journal.StepFailed:
			got.End, got.Final = f.StepError(key), s.Final
		}
		m.Steps[key] = got
	}
	for key, v := range f.Maps {
		m.Maps[key] = v.Total
	}
	for key, span := range f.Notes {
		m.Notes[key] = text(span)
	}
	for key := range f.Saved {
		v, _, err := f.State(key, record)
		if err != nil {
			failed = err
		}
		m.States[key] = string(v)
	}
	for _, key := range keys {
		m.Idempotency[key] = f.IdempotencyKey(key)
		if n := f.Epoch(key); n > 0 {
			m.Epochs[key] = n
		}
		var found []string
		for k := range f.Inside(key) {
			if f.Has(k) {
				found = append(found, k)
			}
		}
		slices.Sort(found)
		want := slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return !inside(k, key) || !f.Has(k) })
		slices.Sort(want)
		if !slices.Equal(found, want) {
			failed = fmt.Errorf("inside %s are %q, found %q", key, want, found)
		}
	}
	return m, failed
}

// differ says in what two meanings differ, "" if in nothing.
func (m meant) differ(want meant) string {
	var b strings.Builder
	a, c := reflect.ValueOf(m), reflect.ValueOf(want)
	for i := range a.NumField() {
		if x, y := a.Field(i).Interface(), c.Field(i).Interface(); !reflect.DeepEqual(x, y) {
			fmt.Fprintf(&b, "%s: %v, want %v\n", a.Type().Field(i).Name, x, y)
		}
	}
	return b.String()
}

// writer writes a random journal and keeps what it means, in two ways.
type writer struct {
	*rand.Rand
	j     *journalfile.File
	fold  *journal.Fold
	plain *plain
	text  string // of the newest state that was added
	n     int
}

func newWriter(seed uint64) (*writer, error) {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, 3)), fold: journal.NewFold(), plain: newPlain("00112233445566778899aabbccddeeff")}
	j, err := journalfile.Create(memfs.New(), samplePath, w.body(journal.KindRun, "").Int("format", 1).Str("id", "r").Str("uid", w.plain.uid).Int("inc", 1).
		Raw("labels", []byte(`{"a\"":"\u2028"}`)).Bytes(), func(string) {})
	if err != nil {
		return nil, err
	}
	w.j = j
	r, err := j.Record(journal.Span{Seq: 1, Len: j.Size() - 1})
	if err != nil {
		return nil, err
	}
	w.fold.Apply(r)
	return w, nil
}

func (w *writer) body(kind, key string) *line.Body {
	w.n++
	return line.NewBody(kind, key, time.Date(2026, 12, 1, 9, w.n/60, w.n%60, 0, time.UTC))
}

func (w *writer) key() string { return keys[w.IntN(len(keys))] }

// value is one that no other record has.
func (w *writer) value() []byte { return fmt.Appendf(nil, `{"n":%d}`, w.n) }

// next is a record of any kind, now and then one that goes against the others.
func (w *writer) next() *line.Body {
	key := w.key()
	tries := int64(0)
	s := w.fold.Steps[key]
	if s != nil {
		tries = s.Tries
	}
	switch n := w.IntN(100); {
	case n < 22:
		b := w.body(journal.KindStart, key).Int("try", tries+1)
		if i := strings.LastIndexByte(key, '/'); i > 0 && w.fold.Maps[key[:i]] != nil {
			b.Str("map", key[:i])
		}
		if w.IntN(3) == 0 {
			b.Raw("once", []byte("true"))
		}
		if w.IntN(3) == 0 {
			b.Str("in", fmt.Sprintf("%032x", w.n))
		}
		return b
	case n < 38:
		b := w.body(journal.KindStep, key).Int("try", tries).Int("us", int64(w.n))
		if w.IntN(4) == 0 {
			b.Str("by", "ann").Str("reason", "it\u2028happened")
		}
		return b.Value(w.value())
	case n < 46:
		b := w.body(journal.KindFail, key).Int("try", tries).Int("us", int64(w.n)).Str("error", fmt.Sprint("error ", w.n))
		if w.IntN(3) == 0 {
			b.Raw("final", []byte("true"))
		}
		return b
	case n < 51:
		return w.body(journal.KindMap, key).Int("total", w.Int64N(9)).Int("done", w.Int64N(3))
	case n < 60:
		if w.IntN(2) == 0 {
			return w.body(journal.KindNote, key).Value(fmt.Append(nil, " ", w.n))
		}
		return w.body(journal.KindNote, key).Value(w.value())
	case n < 75 && w.fold.Status != journal.Complete:
		if w.IntN(4) == 0 {
			key = ""
		}
		return w.state(key)
	case n < 82:
		b := w.body(journal.KindEpoch, key).Int("n", w.fold.Epoch(key)+1).Str("reason", "r").Str("by", "b")
		if w.IntN(3) == 0 {
			b.Raw("alone", []byte("true"))
		}
		return b
	case n < 94:
		// No longer key than before, so that keys are among the known ones.
		for {
			from := w.key()
			if strings.Count(key, "/") <= strings.Count(from, "/") && key != from && !inside(from, key) {
				return w.body(journal.KindAlias, key).Str("from", from)
			}
			key = w.key()
		}
	case n < 96:
		return w.body(journal.KindAttempt, "").Int("n", w.fold.Attempts+1).Str("host", "h").Int("pid", int64(w.n))
	case n < 97:
		return w.body(journal.KindFailed, "").Str("error", fmt.Sprint("error ", w.n))
	case n < 98:
		if w.IntN(2) == 0 {
			return w.body(journal.KindIgnored, key).Str("in", fmt.Sprintf("%032x", w.n)) // means nothing
		}
		return w.body("kind-of-the-future", key).Int("n", int64(w.n))
	case w.IntN(6) == 0:
		return w.body(journal.KindComplete, "").Value(w.value())
	case w.IntN(6) == 0:
		return w.body(journal.KindClear, "")
	}
	return w.body(journal.KindInterrupted, "") // behind a failed one, too, which stays one
}

func (w *writer) state(key string) *line.Body {
	patch := fmt.Sprintf(`[{"op":"add","path":"/-","value":%d}]`, w.n)
	text, _, _ := w.fold.State(key, w.j.Record)
	if text == nil || w.IntN(4) == 0 {
		patch, text = "", fmt.Appendf(nil, `[%d]`, w.n)
	} else {
		text = fmt.Appendf(text[:len(text)-1:len(text)-1], `,%d]`, w.n)
	}
	w.text = string(text)
	b := w.body(journal.KindState, key).Str("sum", fmt.Sprintf("%08x", line.Checksum(text)))
	if patch != "" {
		return b.Raw("patch", []byte(patch))
	}
	return b.CleanValue(text)
}

// add appends a random record.
func (w *writer) add() error {
	span, err := w.j.Append(w.next().Bytes(), false)
	if err != nil {
		return err
	}
	r, err := w.j.Record(span)
	if err != nil {
		return err
	}
	w.fold.Apply(r)
	w.plain.apply(r, w.text)
	return nil
}

// compact replaces the journal and says what it then means otherwise than before.
func (w *writer) compact() error {
	before, err := meaningOf(w.fold, w.j.Record)
	if err != nil {
		return err
	}
	if diff := before.differ(w.plain.meaning(before)); diff != "" {
		return fmt.Errorf("against the plain fold:\n%s", diff)
	}
	if w.fold.Status == journal.Complete { // nobody asks for them any more
		clear(before.States)
		clear(w.plain.States)
	}
	if w.fold, err = w.j.Compact(func(string) {}); err != nil {
		return err
	}
	after, err := meaningOf(w.fold, w.j.Record)
	if err != nil {
		return err
	}
	if diff := after.differ(before); diff != "" {
		return fmt.Errorf("compacted:\n%s", diff)
	}
	return nil
}

// TestCompactMeansTheSame: whatever the records, a compacted journal means what it meant,
// and so does what comes after it; and the fold means what the page says.
func TestCompactMeansTheSame(t *testing.T) {
	t.Parallel()
	begun, records := time.Now(), 0
	seed := uint64(0)
	for ; seed < 2000 && time.Since(begun) < 2*time.Second; seed++ {
		w, err := newWriter(seed)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			for range 1 + w.IntN(50) {
				if err := w.add(); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				records++
			}
			if err := w.compact(); err != nil {
				t.Fatalf("seed %d, compaction %d: %v", seed, i+1, err)
			}
		}
	}
	t.Logf("%d journals, %d records", seed, records)
}
