// Package ledger remembers which long tests passed for one state of the sources,
// so that hours of testing may be interrupted. It is a file of JSON lines: the
// seed first, then a line for each test that passed. (pawl's own promise in small,
// without pawl: what judges the library must not depend on it.)
package ledger

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// A Ledger holds what passed so far.
type Ledger struct {
	Seed   uint64
	passed map[string]time.Duration
	f      *os.File
}

// A line of the file: the first carries a seed, the others a test.
type line struct {
	Seed    uint64  `json:"seed,omitempty"`
	Test    string  `json:"test,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
}

// Open opens the ledger at path. A new one, or with fresh any, starts empty with
// the seed given; one that is there keeps its own seed, for its tests passed with
// that, unless another is asked for: then it starts anew too.
func Open(path string, seed func() uint64, want uint64, fresh bool) (*Ledger, error) {
	l := &Ledger{passed: make(map[string]time.Duration)}
	end, err := l.read(path)
	if err != nil {
		return nil, err
	}
	if fresh || l.Seed == 0 || want != 0 && want != l.Seed {
		end, l.passed = 0, make(map[string]time.Duration)
		l.Seed = want
		if l.Seed == 0 {
			l.Seed = seed()
		}
	}
	if l.f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666); err != nil {
		return nil, err
	}
	err = l.f.Truncate(end) // drops the half line of a run that was killed
	if err == nil {
		_, err = l.f.Seek(end, 0)
	}
	if err == nil && end == 0 {
		err = l.write(line{Seed: l.Seed})
	}
	if err != nil {
		l.f.Close()
		return nil, err
	}
	return l, nil
}

// read takes in the whole lines of the file and returns where they end.
func (l *Ledger) read(path string) (end int64, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	r := bufio.NewReader(bytes.NewReader(data))
	for {
		text, err := r.ReadBytes('\n')
		if err != nil {
			return end, nil // the end, or a line without its end
		}
		var ln line
		if err := json.Unmarshal(text, &ln); err != nil {
			return 0, fmt.Errorf("%s: %w: remove the file to start anew", path, err)
		}
		if ln.Seed != 0 {
			l.Seed = ln.Seed
		} else {
			l.passed[ln.Test] = time.Duration(ln.Seconds * float64(time.Second))
		}
		end += int64(len(text))
	}
}

// Passed tells whether the test has passed, and how long it took.
func (l *Ledger) Passed(test string) (time.Duration, bool) {
	took, ok := l.passed[test]
	return took, ok
}

// Pass records that the test passed.
func (l *Ledger) Pass(test string, took time.Duration) error {
	l.passed[test] = took
	return l.write(line{Test: test, Seconds: took.Seconds()})
}

func (l *Ledger) write(ln line) error {
	text, err := json.Marshal(ln)
	if err != nil {
		return err
	}
	_, err = l.f.Write(append(text, '\n'))
	return err
}

// Close closes the file.
func (l *Ledger) Close() error { return l.f.Close() }
