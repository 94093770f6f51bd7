// Package witness keeps the outside record that judges a crash test.
//
// A durable library must not be judged by its own counters: if it forgets a step
// it forgets that it forgot. A witness is a file outside the store to which the
// program under test appends one line when a step's function has its effect and
// one line when the step's result was acknowledged. Whatever is killed and
// whenever, two things must hold at the end, and [Check] proves them from the
// file alone:
//
//   - no effect of a key follows an acknowledgement of that key;
//   - every acknowledged result is part of the final one ([Report.Missing]).
//
// A line is written by a single write(2) to a file opened with O_APPEND, so
// lines of several goroutines and processes never mix, and a line that was
// written survives the death of the process (not a power cut: a witness judges
// killed processes).
package witness

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strconv"
	"strings"
)

// Log appends events to a witness file. It is safe for concurrent use.
type Log struct{ f *os.File }

// Open opens the witness file at path for appending and creates it if absent.
func Open(path string) (*Log, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return &Log{f}, nil
}

// Effect says that the function of step key has had its effect. Call it inside
// the step's function.
func (l *Log) Effect(key string) error { return l.line("effect " + strconv.Quote(key)) }

// Acked says that the result of step key was acknowledged: call it after
// Step (or Map) returned without an error. Of the result only a digest is kept.
func (l *Log) Acked(key string, result []byte) error {
	return l.line("acked " + strconv.Quote(key) + " " + digest(result))
}

// Close closes the file.
func (l *Log) Close() error { return l.f.Close() }

func (l *Log) line(s string) error {
	_, err := l.f.Write([]byte(s + "\n"))
	return err
}

func digest(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:16])
}

// Report is what a witness file says.
type Report struct {
	Effects int // effect lines
	Acks    int // acked lines
	Keys    int // distinct keys with an effect

	// Repeated lists keys whose effect happened again without an
	// acknowledgement in between: work in doubt at a death, allowed.
	Repeated []string
	// Violations lists every effect that followed an acknowledgement of its
	// key, and every key acknowledged with two different results.
	Violations []string

	acked map[string]string // key → digest of the last acknowledged result
}

// Check reads the witness file at path. The error is about reading the file;
// broken promises are in [Report.Violations], see [Report.Err].
func Check(path string) (*Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return check(f)
}

func check(src io.Reader) (*Report, error) {
	r := &Report{acked: map[string]string{}}
	effects := map[string]int{}
	sc := bufio.NewScanner(src)
	sc.Buffer(nil, 1<<20)
	for n := 1; sc.Scan(); n++ {
		kind, rest, _ := strings.Cut(sc.Text(), " ")
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return nil, fmt.Errorf("witness line %d: %q is not an event", n, sc.Text())
		}
		key, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, fmt.Errorf("witness line %d: %w", n, err)
		}
		switch kind {
		case "effect":
			r.Effects++
			effects[key]++
			if _, done := r.acked[key]; done {
				r.Violations = append(r.Violations, fmt.Sprintf("line %d: effect of %q after its acknowledgement", n, key))
			}
		case "acked":
			r.Acks++
			sum := strings.TrimSpace(strings.TrimPrefix(rest, quoted))
			if old, done := r.acked[key]; done && old != sum {
				r.Violations = append(r.Violations, fmt.Sprintf("line %d: %q acknowledged with another result than before", n, key))
			}
			if effects[key] == 0 {
				r.Violations = append(r.Violations, fmt.Sprintf("line %d: %q acknowledged without an effect", n, key))
			}
			r.acked[key] = sum
		default:
			return nil, fmt.Errorf("witness line %d: unknown event %q", n, kind)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, err
	}
	r.Keys = len(effects)
	for key, n := range effects {
		if n > 1 {
			r.Repeated = append(r.Repeated, key)
		}
	}
	sort.Strings(r.Repeated)
	return r, nil
}

// AckedKeys returns the keys with an acknowledgement, sorted.
func (r *Report) AckedKeys() []string {
	keys := make([]string, 0, len(r.acked))
	for k := range r.acked {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// Missing returns the acknowledged keys whose result is not in final: absent,
// or with other bytes. It is empty when nothing acknowledged was lost.
func (r *Report) Missing(final map[string][]byte) []string {
	var missing []string
	for _, key := range r.AckedKeys() {
		b, ok := final[key]
		if !ok || digest(b) != r.acked[key] {
			missing = append(missing, key)
		}
	}
	return missing
}

// Err returns nil if no promise was broken, else an error that lists each
// violation.
func (r *Report) Err() error {
	if len(r.Violations) == 0 {
		return nil
	}
	return errors.New("witness: " + strings.Join(r.Violations, "; "))
}
