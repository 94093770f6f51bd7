package pawl_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/wait"
)

// The deadline of a fork counts from its first start, however few records were copied into it:
// a cancellation is not, nor is what a compaction of the first run has dropped.
func TestForkKeepsItsDeadline(t *testing.T) {
	dir := t.TempDir()
	s, err := pawl.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = pawl.Do(t.Context(), s, "r", func(ctx context.Context) (int, error) {
		return pawl.Step(ctx, "a", func(ctx context.Context) (int, error) {
			if err := s.Cancel(context.Background(), "r", "ann", "x"); err != nil {
				t.Error(err)
			}
			<-ctx.Done()
			return 0, ctx.Err()
		})
	})
	if !errors.Is(err, pawl.ErrCancelled) {
		t.Fatal(err)
	}
	if err := s.Fork(t.Context(), "r", 0, "f"); err != nil {
		t.Fatal(err)
	}
	var first time.Time
	for range 3 {
		_, err := pawl.Do(t.Context(), s, "f", func(context.Context) (int, error) { return 0, errors.New("no") }, wait.Deadline(time.Hour))
		t.Log(err)
		f, _, err := journal.Read(filepath.Join(dir, "runs", "f.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if first.IsZero() {
			first = f.Deadline
		}
		if f.Deadline.IsZero() || !f.Deadline.Equal(first) {
			t.Errorf("deadline %v, first %v", f.Deadline, first)
		}
	}
}
