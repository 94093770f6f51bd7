package journalfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// A repair that has lost the record which put others out of sight does not bring these
// back: a cleared result, the results of an older epoch.
func TestRepairInfersWhatWasPutOutOfSight(t *testing.T) {
	at := time.Unix(0, 0)
	body := func(kind, key string) *line.Body { return line.NewBody(kind, key, at) }
	value := func(b *line.Body, v string) []byte { return b.CleanValue([]byte(v)).Bytes() }
	for _, tt := range []struct {
		name  string
		lost  string // kind of the record that is damaged
		lines [][]byte
		check func(t *testing.T, f *journal.Fold)
	}{
		{
			"clear", journal.KindClear,
			[][]byte{
				value(body(journal.KindComplete, ""), `"old"`),
				body(journal.KindAttempt, "").Int("n", 2).Bytes(),
				body(journal.KindClear, "").Bytes(),
				value(body(journal.KindState, "").Str("sum", sum("1")), "1"),
				value(body(journal.KindState, "").Str("sum", sum("2")), "2"),
			},
			func(t *testing.T, f *journal.Fold) {
				if f.Status != journal.InProgress || f.Result.Len != 0 || f.Saved[""] == nil {
					t.Errorf("status %s, result %v, states %v", f.Status, f.Result, f.Saved)
				}
			},
		},
		{
			"epoch of a step", journal.KindEpoch,
			[][]byte{
				value(body(journal.KindStep, "outer/in").Int("try", 1), `"old"`),
				value(body(journal.KindStep, "outer").Int("try", 1), `"old"`),
				body(journal.KindEpoch, "outer").Int("n", 1).Bytes(),
				body(journal.KindStart, "outer").Int("try", 1).Bytes(),
			},
			func(t *testing.T, f *journal.Fold) {
				if f.Steps["outer/in"] != nil || f.Steps["outer"].Status != journal.StepRunning || f.Epoch("outer") != 2 { // one more for the record that is missing
					t.Errorf("steps %v", f.Steps)
				}
			},
		},
		{
			"reopen", journal.KindReopen,
			[][]byte{
				body(journal.KindCancelled, "").Str("by", "ann").Str("mail", "m").Bytes(),
				body(journal.KindReopen, "").Str("by", "bob").Bytes(),
				body(journal.KindAttempt, "").Int("n", 2).Bytes(),
				body(journal.KindStart, "a").Int("try", 1).Bytes(),
			},
			func(t *testing.T, f *journal.Fold) {
				if f.Status != journal.InProgress || f.Attempts != 2 {
					t.Errorf("status %s, attempt %d", f.Status, f.Attempts)
				}
			},
		},
		{
			"question", journal.KindAwait,
			[][]byte{
				value(body(journal.KindAwait, "ok").Str("in", "00112233445566778899aabbccddeeff"), `"delete 2 files?"`),
				value(body(journal.KindAnswer, "ok").Str("by", "ann"), `true`),
				body(journal.KindAttempt, "").Int("n", 2).Bytes(),
			},
			func(t *testing.T, f *journal.Fold) {
				if s := f.Steps["ok"]; s == nil || s.Status != journal.StepDone || !s.InputDiffers("00112233445566778899aabbccddeeff") {
					t.Errorf("an answer that fits any question: %+v", s)
				}
			},
		},
		{
			"nothing of the kind", journal.KindNote,
			[][]byte{
				value(body(journal.KindStep, "a").Int("try", 1), `1`),
				value(body(journal.KindNote, "b"), `1`),
				body(journal.KindStart, "b").Int("try", 1).Bytes(),
				value(body(journal.KindComplete, ""), `"new"`),
			},
			func(t *testing.T, f *journal.Fold) {
				if f.Status != journal.Complete || f.Steps["a"] == nil {
					t.Errorf("status %s, steps %v", f.Status, f.Steps)
				}
			},
		},
		{
			"nothing of a result that was said anew", journal.KindNote,
			[][]byte{
				body(journal.KindStart, "a").Int("try", 1).Raw("once", []byte("true")).Str("in", "00112233445566778899aabbccddeeff").Bytes(),
				value(body(journal.KindStep, "a").Int("try", 1).Str("by", "ann"), `1`),
				value(body(journal.KindNote, "b"), `1`),
				value(body(journal.KindStep, "a").Int("try", 1).Str("by", "ann"), `2`),
			},
			func(t *testing.T, f *journal.Fold) {
				if st := f.Steps["a"]; st == nil || st.Status != journal.StepDone || st.InputDiffers("00112233445566778899aabbccddeeff") || f.Epoch("a") != 0 {
					t.Errorf("steps %v", f.Steps)
				}
			},
		},
		{
			"nothing of a step that began anew alone", journal.KindNote,
			[][]byte{
				body(journal.KindStart, "outer").Int("try", 1).Bytes(),
				value(body(journal.KindStep, "outer").Int("try", 1).Str("by", "ann"), `1`),
				body(journal.KindStart, "outer/pay").Int("try", 1).Bytes(),
				value(body(journal.KindStep, "outer/pay").Int("try", 1), `1`),
				value(body(journal.KindNote, "b"), `1`),
				body(journal.KindEpoch, "outer").Int("n", 1).Raw("alone", []byte("true")).Str("by", "ann").Bytes(),
				body(journal.KindStart, "outer").Int("try", 1).Bytes(),
			},
			func(t *testing.T, f *journal.Fold) {
				if st := f.Steps["outer/pay"]; st == nil || st.Status != journal.StepDone || f.Epoch("outer") != 1 {
					t.Errorf("steps %v", f.Steps)
				}
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "r.jsonl")
			header := body(journal.KindRun, "").Int("format", 1).Str("id", "r").Str("uid", "0123456789abcdef0123456789abcdef").Int("inc", 1).Bytes()
			j, err := journalfile.Create(vfs.OS, path, header, func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range tt.lines {
				if _, err := j.Append(b, true); err != nil {
					t.Fatal(err)
				}
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			i := bytes.Index(text, []byte(`"kind":"`+tt.lost))
			text[i+1] ^= 1
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			rep, err := journalfile.Repair(vfs.OS, path, journalfile.Identity{ID: "r"}, false, func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			if inferred := strings.Join(rep.Inferred, "\n"); (inferred != "") != (tt.lost != journal.KindNote) {
				t.Errorf("inferred: %q", inferred)
			}
			fold, _, err := journal.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			tt.check(t, fold)
		})
	}
}

func sum(text string) string {
	const hex = "0123456789abcdef"
	v := line.Checksum([]byte(text))
	b := make([]byte, 8)
	for i := range b {
		b[i] = hex[v>>(28-4*i)&15]
	}
	return string(b)
}
