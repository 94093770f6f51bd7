package journal_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/journal"
)

// chain builds a journal of bodies, each record durable when the next one is written.
type chain struct {
	text []byte
	crc  uint32
	seq  int64
}

func (c *chain) add(b *line.Body) *chain {
	c.text, c.crc = line.Append(c.text, c.crc, c.seq+1, c.seq, b.Bytes())
	c.seq++
	return c
}

func exportBody(records int64, of []byte) *line.Body {
	sum := sha256.Sum256(of)
	return line.NewBody(journal.KindExport, "", time.Time{}).Int("records", records).Str("sha256", hex.EncodeToString(sum[:]))
}

func small() *chain {
	c := &chain{}
	c.add(line.NewBody(journal.KindRun, "", time.Time{}).Int("format", 1).Str("id", "r").Str("uid", "u").Int("inc", 1))
	return c.add(line.NewBody(journal.KindStep, "s", time.Time{}).Int("try", 1).Int("us", 1).Value([]byte("1")))
}

func verify(text []byte) (*journal.Fold, journal.Tail, error) {
	return journal.Verify(bytes.NewReader(text), int64(len(text)), nil)
}

// A record at the end of an export whose checksum is right, and that says something else.
func TestVerifyTheEndOfAnExport(t *testing.T) {
	c := small()
	text := bytes.Clone(c.text)
	for name, b := range map[string]*line.Body{
		"fewer records": exportBody(1, text),
		"more records":  exportBody(3, text),
		"other bytes":   exportBody(2, text[1:]),
		"no sum":        line.NewBody(journal.KindExport, "", time.Time{}).Int("records", 2),
		"nothing":       line.NewBody(journal.KindExport, "", time.Time{}),
	} {
		_, _, err := verify((&chain{bytes.Clone(text), c.crc, c.seq}).add(b).text)
		var where *journal.CorruptError
		if !errors.As(err, &where) || where.Seq != 3 || where.Offset != int64(len(text)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	good := (&chain{bytes.Clone(text), c.crc, c.seq}).add(exportBody(2, text))
	fold, _, err := verify(good.text)
	if err != nil || fold.Unknown != 0 || fold.Records != 3 {
		t.Errorf("%+v, %v", fold, err)
	}
	// What a program writes behind it makes it a journal like any other.
	more := good.add(line.NewBody(journal.KindInterrupted, "", time.Time{}))
	if _, _, err := verify(more.text); err != nil {
		t.Error(err)
	}
}

func TestExport(t *testing.T) {
	for extra := range 600 { // every length, for the place of the last newline
		c := small().add(line.NewBody("unknown", "", time.Time{}).Str("x", strings.Repeat("x", extra)))
		filled := append(bytes.Clone(c.text), strings.Repeat("\n", 700)...)
		var out bytes.Buffer
		if err := journal.Export(&out, bytes.NewReader(filled), int64(len(c.text))); err != nil {
			t.Fatal(err)
		}
		last := out.Len() - 1
		if !bytes.HasPrefix(out.Bytes(), c.text) || out.Bytes()[last] != '\n' || last%512 == 0 {
			t.Fatalf("%q", out.Bytes())
		}
		fold, tail, err := verify(out.Bytes())
		if err != nil || fold.Records != 4 || tail.Torn != 0 || tail.NoNewline {
			t.Fatalf("%+v, %+v, %v", fold, tail, err)
		}
	}
	c := small()
	full := errors.New("full")
	if err := journal.Export(brokenPipe{full}, bytes.NewReader(c.text), int64(len(c.text))); !errors.Is(err, full) {
		t.Error(err)
	}
	var out bytes.Buffer
	if err := journal.Export(&out, bytes.NewReader(c.text), int64(len(c.text))-20); !errors.Is(err, journal.ErrCorrupt) {
		t.Error(err)
	}
	bad := bytes.Clone(c.text)
	bad[30] ^= 1
	if err := journal.Export(&out, bytes.NewReader(bad), int64(len(bad))); !errors.Is(err, journal.ErrCorrupt) {
		t.Error(err)
	}
}

type brokenPipe struct{ err error }

func (f brokenPipe) Write([]byte) (int, error) { return 0, f.err }

func TestVerifyStopsWhereItIsTold(t *testing.T) {
	stop := fmt.Errorf("stop")
	c := small()
	fold, _, err := journal.Verify(bytes.NewReader(c.text), int64(len(c.text)), func(r *journal.Record) error {
		if r.Seq == 2 {
			return stop
		}
		return nil
	})
	if err != stop || fold.LastSeq != 2 {
		t.Errorf("%v, %+v", err, fold)
	}
}
