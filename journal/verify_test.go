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

// TestVerifyUTF8: a record that was written with bytes that are not UTF-8, checksum and all,
// opens, and verify reports it.
func TestVerifyUTF8(t *testing.T) {
	run := line.NewBody(journal.KindRun, "", time.Time{}).Int("format", 1).Str("id", "r").Str("uid", "u").Int("inc", 1).Bytes()
	first, crc := line.Append(nil, 0, 1, 0, run)
	for text, good := range map[string]bool{`"é€🙂"`: true, "\"\xff\"": false, "\"\xc3\"": false, "\"\xed\xa0\x80\"": false} {
		second, _ := line.Append(nil, crc, 2, 1, line.NewBody(journal.KindStep, "k", time.Time{}).CleanValue([]byte(text)).Bytes())
		b := bytes.Join([][]byte{first, second}, nil)
		sc := journal.NewScanner(bytes.NewReader(b), int64(len(b)))
		for sc.Scan() {
		}
		if sc.Err() != nil {
			t.Errorf("%q does not open: %v", text, sc.Err())
		}
		_, _, err := journal.Verify(bytes.NewReader(b), int64(len(b)), nil)
		if good != (err == nil) || !good && (!errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), "(record 2): the checksum is right, and the record is not UTF-8")) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
