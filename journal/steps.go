package journal

import (
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Step returns the step at key and makes one, with its first record seq, if there is
// none.
func (f *Fold) Step(key string, seq int64) *Step {
	if s := f.Steps[key]; s != nil {
		return s
	}
	if len(f.slab) == 0 {
		// A million steps must not be a million allocations, nor a few 256 steps.
		f.slab = make([]Step, min(max(len(f.Steps), 8), 256))
	}
	s := &f.slab[0]
	f.slab = f.slab[1:]
	*s = Step{First: seq}
	f.Steps[key] = s
	f.link(key)
	return s
}

// link notes under which keys and scopes a key stands, so that everything inside a
// key can be found without looking at all keys. A slash in a key always is a
// border: names are escaped.
func (f *Fold) link(key string) {
	for {
		i := strings.LastIndexByte(key, '/')
		if i < 0 {
			return
		}
		parent := key[:i]
		siblings, known := f.kids[parent]
		f.kids[parent] = append(siblings, key)
		if known {
			return
		}
		key = parent
	}
}

// Inside yields the keys of all steps and Maps inside key, and of the scopes there, at any
// depth, each once.
func (f *Fold) Inside(key string) iter.Seq[string] {
	return func(yield func(string) bool) { f.inside(key, yield) }
}

func (f *Fold) inside(key string, yield func(string) bool) bool {
	kids := f.kids[key]
	if len(kids) > 1 {
		// A key is linked again each time that it begins anew. Walked twice at each of
		// several levels, that would multiply with every epoch and alias.
		slices.Sort(kids)
		kids = slices.Compact(kids)
		f.kids[key] = kids
	}
	for _, kid := range kids {
		if !yield(kid) || !f.inside(kid, yield) {
			return false
		}
	}
	return true
}

// epoch is the generation of a key.
type epoch struct {
	n, seq int64 // the newest, and its record
	// The newest that concerned what is inside too, and its record: the idempotency keys
	// of steps inside come from it.
	whole, wholeSeq int64
}

// Epoch returns the generation of a key: how often it was deliberately begun anew.
func (f *Fold) Epoch(key string) int64 { return f.epochs[key].n }

// NextEpoch returns the number for a new epoch of a key. Records that a repair has lost may
// have been epochs: their numbers are not used again, since idempotency keys come from them.
func (f *Fold) NextEpoch(key string) int64 { return f.Epoch(key) + 1 + f.Gone }

// BeginEpoch drops what is recorded under key: the key itself and everything inside it.
// The records stay in the history.
func (f *Fold) BeginEpoch(key string, n, seq int64) {
	for k := range f.Inside(key) {
		f.drop(k)
	}
	f.drop(key)
	f.epochs[key] = epoch{n, seq, n, seq}
}

// BeginAlone drops the step key, with its tries and its note, and nothing else: what is
// recorded inside it stays, with its idempotency keys, and so does the state of its scope.
func (f *Fold) BeginAlone(key string, n, seq int64) {
	f.dropStep(key)
	e := f.epochs[key]
	e.n, e.seq = n, seq
	f.epochs[key] = e
}

func (f *Fold) dropStep(key string) {
	delete(f.Steps, key)
	delete(f.errs, key)
	delete(f.Notes, key)
	delete(f.idem, key)
	delete(f.pins, key)
	delete(f.Trouble, key)
	delete(f.used, key)
	delete(f.ignored, key)
}

func (f *Fold) drop(key string) {
	f.dropStep(key)
	delete(f.Maps, key)
	delete(f.Saved, key)
	// Not the list of what is inside: it may be walked right now, and names there
	// are looked up again before they count.
}

// StepError returns the beginning of the text of the error that a failed step ended
// with.
func (f *Fold) StepError(key string) string { return f.errs[key] }

// bounded cuts an error's text: a fold holds no payloads.
func bounded(text string) string {
	const limit = 200
	if len(text) <= limit {
		return text
	}
	text = text[:limit]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text + "…"
}

// microseconds reads a time as writers of this package write it,
// "2006-01-02T15:04:05.000000Z", in microseconds since 1970; 0 if it is something else.
func microseconds(quoted []byte) int64 {
	if len(quoted) != len(`"2006-01-02T15:04:05.000000Z"`) {
		return parsedMicroseconds(quoted)
	}
	num := func(from, to int) int {
		n := 0
		for _, c := range quoted[from+1 : to+1] {
			if c < '0' || c > '9' {
				return -1 << 30
			}
			n = n*10 + int(c-'0')
		}
		return n
	}
	y, mo, d, h, mi, s, us := num(0, 4), num(5, 7), num(8, 10), num(11, 13), num(14, 16), num(17, 19), num(20, 26)
	if y < 0 || mo < 0 || d < 0 || h < 0 || mi < 0 || s < 0 || us < 0 {
		return parsedMicroseconds(quoted)
	}
	return time.Date(y, time.Month(mo), d, h, mi, s, us*1000, time.UTC).UnixMicro()
}

func parsedMicroseconds(quoted []byte) int64 {
	t, err := time.Parse(time.RFC3339Nano, unquote(quoted))
	if err != nil {
		return 0
	}
	return t.UnixMicro()
}
