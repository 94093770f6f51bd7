package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
)

// BenchmarkState saves a state of 20 MB with one small change, against encoding it once
// with encoding/json: something is appended, changed in the middle, or removed. Extra-bytes
// is what the save takes beyond the shortest patch (RFC 6902) that says the same.
func BenchmarkState(b *testing.B) {
	type state struct {
		Next     int      `json:"next"`
		Findings []string `json:"findings"`
	}
	for _, c := range []struct {
		name   string
		change func(st *state, i int) (patch string)
	}{
		{"append", func(st *state, i int) string {
			st.Findings = append(st.Findings, fmt.Sprint("a small finding ", i))
			return fmt.Sprintf(`{"op":"add","path":"/findings/-","value":"a small finding %d"}`, i)
		}},
		{"edit", func(st *state, i int) string {
			st.Findings[5000] = fmt.Sprint("another finding ", i)
			return fmt.Sprintf(`{"op":"replace","path":"/findings/5000","value":"another finding %d"}`, i)
		}},
		{"remove", func(st *state, i int) string {
			st.Findings = slices.Delete(st.Findings, 5000, 5001)
			return `{"op":"remove","path":"/findings/5000"}`
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			st := state{Findings: make([]string, 10_000)}
			for i := range st.Findings {
				st.Findings[i] = fmt.Sprintf("%05d %s", i, strings.Repeat("finding ", 250))
			}
			path := filepath.Join(b.TempDir(), "state.jsonl")
			ck, err := pawl.OpenState[state](path)
			if err != nil {
				b.Fatal(err)
			}
			defer ck.Close()
			if err := ck.Save(st); err != nil {
				b.Fatal(err)
			}
			before, patches := stateSize(b, path), int64(0)
			t := take(b, 10, func(i int) error {
				// Counted in the time: it is nothing beside the rest.
				st.Next = i + 1
				patches += int64(len(c.change(&st, i))) + int64(len(fmt.Sprintf(`[{"op":"replace","path":"/next","value":%d},]`, i+1)))
				return ck.Save(st)
			}, func(int) error {
				_, err := json.Marshal(st)
				return err
			})
			saves := int64(len(t[0].times))
			t.compare(b, time.Millisecond, "json")
			b.ReportMetric(float64(stateSize(b, path)-before-patches)/float64(saves), "extra-bytes")
		})
	}
}

// stateSize is how long a journal is without the fill at its end.
func stateSize(b *testing.B, path string) int64 {
	b.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	return int64(len(strings.TrimRight(string(text), "\n")))
}
