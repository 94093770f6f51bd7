package journal

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/pawlgo/pawl/internal/line"
)

// Export writes the records of a journal to w, in their order and byte for byte, one a line,
// and one record more, of kind export, that says how many there are and what all bytes
// before it sum up to: a journal that can be read like any other, and of which a reader can
// tell that nothing is missing at its end. Fill, and what stands behind the last
// record, is left out.
//
// End is where to stop: [Tail.End] of a scan. Everything before it must be durable, as the
// last record says that it is. Errors are those of src and w, or match [ErrCorrupt].
//
// Behind are the bodies of records that are in force and not in the journal yet, such as what
// its inbox holds: they are written behind the journal's own.
func Export(w io.Writer, src io.ReaderAt, end int64, behind ...[]byte) error {
	sum := sha256.New()
	out := bufio.NewWriterSize(w, window)
	all := io.MultiWriter(out, sum)
	var size, records, seq int64
	var crc uint32
	var tag string
	newline := []byte{'\n'}
	sc := NewScanner(src, end)
	for sc.Scan() {
		r := sc.Record()
		for _, b := range [...][]byte{r.Text, newline} {
			if _, err := all.Write(b); err != nil {
				return err
			}
			size += int64(len(b))
		}
		records, seq, crc, tag = records+1, r.Seq, r.CRC(), string(line.Tag(r.Text))
	}
	if err := sc.Err(); err != nil {
		return err
	}
	if torn := sc.Tail().Torn; torn > 0 {
		return &CorruptError{Offset: sc.Tail().End, Seq: seq + 1, Reason: fmt.Sprintf("the %d bytes before the end of what was to be exported changed while they were read", torn)}
	}
	plain, padded := line.Ends(tag)
	next := func(body []byte) []byte {
		text, sum := line.AppendEnd(nil, crc, seq+1, seq, body, plain)
		if (size+int64(len(text))-1)%sector == 0 { // as in every journal: not where it could be missing without a trace
			text, sum = line.AppendEnd(nil, crc, seq+1, seq, body, padded)
		}
		size, records, seq, crc = size+int64(len(text)), records+1, seq+1, sum
		return text
	}
	for _, body := range behind {
		if _, err := all.Write(next(body)); err != nil {
			return err
		}
	}
	b := line.NewBody(KindExport, "", time.Now()).Int("records", records).Str("sha256", hex.EncodeToString(sum.Sum(nil))).Bytes()
	if _, err := out.Write(next(b)); err != nil {
		return err
	}
	return out.Flush()
}
