package journal_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/journal"
)

// TestClaimAcrossWindows: rule 8, a record that says that more was durable is found wherever it
// begins, also where its beginning lies across two of the pieces in which a reader looks for
// it.
func TestClaimAcrossWindows(t *testing.T) {
	const window = 1 << 18
	run := line.NewBody(journal.KindRun, "", time.Time{}).Int("format", 1).Str("id", "r").Str("uid", "u").Int("inc", 1).Bytes()
	good, _ := line.Append(nil, 0, 1, 0, run)
	witness, _ := line.Append(nil, 7, 9, 8, line.NewBody(journal.KindFailed, "", time.Time{}).Bytes())
	for _, at := range []int{window, 2 * window, 3*window - len(line.Prefix)} {
		for d := -2 * len(line.Prefix); d <= len(line.Prefix); d++ {
			lost := strings.Repeat("\x00", at+d)
			read := func(behind []byte) error {
				b := bytes.Join([][]byte{good, []byte(lost), behind}, nil)
				sc := journal.NewScanner(bytes.NewReader(b), int64(len(b)))
				for sc.Scan() {
				}
				return sc.Err()
			}
			if err := read(nil); err != nil {
				t.Fatalf("without it: %v", err)
			}
			if err := read(witness); !errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), "8 was durable") {
				t.Errorf("%d bytes behind: %v", at+d, err)
			}
		}
	}
}
