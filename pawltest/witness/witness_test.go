package witness

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		log        string
		violations int
		repeated   int
	}{
		"nothing":                       {"", 0, 0},
		"done once":                     {"effect \"a\"\nacked \"a\" 1\n", 0, 0},
		"in doubt, done again":          {"effect \"a\"\neffect \"a\"\nacked \"a\" 1\n", 0, 1},
		"acknowledged again":            {"effect \"a\"\nacked \"a\" 1\nacked \"a\" 1\n", 0, 0},
		"effect after acknowledgement":  {"effect \"a\"\nacked \"a\" 1\neffect \"a\"\n", 1, 1},
		"two results":                   {"effect \"a\"\nacked \"a\" 1\nacked \"a\" 2\n", 1, 0},
		"acknowledged without effect":   {"acked \"a\" 1\n", 1, 0},
		"another key's acknowledgement": {"effect \"a b\"\nacked \"a b\" 1\neffect \"a\"\n", 0, 0},
	} {
		r, err := check(strings.NewReader(c.log))
		if err != nil || len(r.Violations) != c.violations || len(r.Repeated) != c.repeated || (r.Err() != nil) != (c.violations > 0) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	for _, log := range []string{"effect a\n", "done \"a\"\n", "\n"} {
		if _, err := check(strings.NewReader(log)); err == nil {
			t.Errorf("%q is no witness, and no error", log)
		}
	}
}

func TestMissing(t *testing.T) {
	r, err := check(strings.NewReader(fmt.Sprintf("effect \"a\"\nacked \"a\" %s\neffect \"b\"\nacked \"b\" %s\n", digest([]byte("1")), digest([]byte("2")))))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		final map[string][]byte
		want  string
	}{
		{map[string][]byte{"a": []byte("1"), "b": []byte("2"), "c": nil}, "[]"},
		{map[string][]byte{"a": []byte("1")}, "[b]"},
		{map[string][]byte{"a": []byte("9"), "b": []byte("2")}, "[a]"},
	} {
		if got := fmt.Sprint(r.Missing(c.final)); got != c.want {
			t.Errorf("Missing(%v) = %s, want %s", c.final, got, c.want)
		}
	}
}

// Lines of many goroutines and of several openings never mix.
func TestConcurrent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w")
	var wg sync.WaitGroup
	for g := range 4 {
		l, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for k := range 4 {
			wg.Go(func() {
				for i := range 50 {
					key := fmt.Sprintf("%d/%d/%d \"\n", g, k, i)
					if err := l.Effect(key); err != nil {
						t.Error(err)
					}
					if err := l.Acked(key, []byte(key)); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	r, err := Check(path)
	if err != nil || r.Err() != nil || r.Effects != 800 || r.Acks != 800 || r.Keys != 800 {
		t.Errorf("%+v, %v", r, err)
	}
}
