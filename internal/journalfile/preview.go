package journalfile

import (
	"bytes"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/journal"
)

// sink takes the bodies of the records of a new journal.
type sink interface{ add(body []byte) error }

// preview is a sink that writes nothing and knows what the records mean.
type preview struct {
	fold *journal.Fold
	seq  int64
	crc  uint32
	buf  []byte
}

func (p *preview) add(body []byte) error {
	p.buf, p.crc = line.Append(p.buf[:0], p.crc, p.seq+1, p.seq, body)
	p.seq++
	r, err := journal.RecordAt(bytes.NewReader(p.buf), journal.Span{Seq: p.seq, Len: int64(len(p.buf) - 1)})
	if err != nil {
		return err
	}
	p.fold.Apply(r)
	return nil
}
