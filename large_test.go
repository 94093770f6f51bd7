package pawl_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

// A result of 100 MB, live and replayed, with a small one behind it.
func TestC21HundredMegabytes(t *testing.T) {
	size := 100 << 20
	if raceEnabled {
		size = 10 << 20
	}
	s := openStore(t)
	big := strings.Repeat("0123456789abcde\n", size/16)
	calls := 0
	for start := range 2 {
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			v, err := pawl.Step(ctx, "big", func(context.Context) (string, error) { calls++; return big, nil })
			if err != nil {
				return 0, err
			}
			if v != big {
				t.Errorf("start %d: %d bytes came back, or others", start, len(v))
			}
			if _, err := pawl.Step(ctx, "small", func(context.Context) (int, error) { calls++; return 1, nil }); err != nil {
				return 0, err
			}
			return 0, errors.New("once more")
		})
		if err == nil || err.Error() != "once more" {
			t.Fatal(err)
		}
	}
	if calls != 2 {
		t.Errorf("%d calls", calls)
	}
}
