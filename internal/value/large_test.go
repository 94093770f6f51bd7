package value

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// TestLarge: large values are written as small ones are, also when the one before was
// much larger, or smaller, or could not be written.
func TestLarge(t *testing.T) {
	type state struct {
		Texts []string
		Score float64
	}
	made := func(n int) state {
		return state{Texts: strings.SplitAfter(strings.Repeat("some \"text\" and é\u2028 ", n), "é"), Score: 1.5}
	}
	var kept [][2][]byte
	for _, n := range []int{1, 5_000, 5_000, 6_000, 40_000, 3_000, 1, 100, 5_000, 2_500} {
		got, err := Encode(made(n))
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(made(n)); err != nil {
			t.Fatal(err)
		}
		if string(got)+"\n" != want.String() {
			t.Fatalf("%d: %d bytes, want %d", n, len(got), want.Len())
		}
		if cap(got) > 2*len(got)+large {
			t.Errorf("%d: %d bytes hold on to %d", n, len(got), cap(got))
		}
		kept = append(kept, [2][]byte{got, bytes.Clone(got)})
		bad := made(5_000)
		bad.Score = math.NaN()
		if _, err := Encode(bad); err == nil || !strings.Contains(err.Error(), "$.Score: NaN") {
			t.Fatalf("%d: %v", n, err)
		}
	}
	for i, k := range kept {
		if !bytes.Equal(k[0], k[1]) {
			t.Errorf("text %d changed when later ones were written", i)
		}
	}
}
