package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/value"
	"github.com/pawlgo/pawl/pawltest"
)

// BenchmarkMemory is a step of 512 bytes in a store in memory, against encoding and
// decoding its value, with encoding/json and as pawl does it.
func BenchmarkMemory(b *testing.B) {
	const n = 20_000
	r, err := pawltest.NewStore(b).Begin(b.Context(), "bench")
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	ctx := r.Context(b.Context())
	v := newFinding(1, 512)
	fn := func(context.Context) (finding, error) { return v, nil }
	step := func(key string) error {
		_, err := pawl.Step(ctx, key, fn)
		return err
	}
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("first-%05d", i)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, key := range keys {
		if err := step(key); err != nil {
			b.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)

	t := take(b, n,
		func(i int) error { return step(fmt.Sprintf("doc-%05d", i)) },
		func(int) error {
			text, err := json.Marshal(v)
			var out finding
			return errors.Join(err, json.Unmarshal(text, &out))
		},
		func(int) error {
			text, err := value.Encode(v)
			var out finding
			return errors.Join(err, value.Decode(text, &out, false))
		},
	)
	t.compare(b, time.Microsecond, "json")
	b.ReportMetric(t.median(2), "own-µs")
	b.ReportMetric(t.median(0)/t.median(2), "own-ratio")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/n, "allocs")
}
