// Package line reads and writes one line of a journal: a JSON object whose first
// members stand in fixed places, so that a line can be checked alone, found at
// any byte, and ordered against its neighbours. See spec/journal-v1.md.
//
//	{"crc":"5d1f…","len":142,"prev":"00c2…","seq":7,"dur":6,"kind":"step",…}
//
// crc is the CRC-32C (Castagnoli, RFC 3720 appendix B.4) of everything behind its
// own member, len the length of the line without its newline, prev the crc of
// the line before, seq the record's number, and dur the highest seq known to be
// durable when the line was written.
package line

import (
	"bytes"
	"hash/crc32"
	"strconv"
)

// Prefix is how every line begins; a search for lines looks for it.
const Prefix = `{"crc":"`

// covered is where the bytes that crc covers begin: behind `{"crc":"xxxxxxxx",`.
const covered = len(Prefix) + 8 + len(`",`)

// MaxHead bounds the bytes from the start of a line to the end of its dur
// member, for readers that look at a candidate before reading all of it.
const MaxHead = covered + 128

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C of b.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// Head is the fixed beginning of a line.
type Head struct {
	CRC, Prev uint32
	Len       int64 // of the line without its newline
	Seq, Dur  int64
	Size      int // bytes up to and including the comma behind dur
}

// ParseHead reads the head of the line that b begins with. More says that b is a
// proper beginning and too short to tell.
func ParseHead(b []byte) (h Head, ok, more bool) {
	if h, ok := quickHead(b); ok {
		return h, true, false
	}
	return slowHead(b)
}

func slowHead(b []byte) (h Head, ok, more bool) {
	p := parser{b: b}
	h.CRC = p.hex(Prefix, `",`)
	h.Len = p.int(`"len":`, 0, maxInt)
	h.Prev = p.hex(`"prev":"`, `",`)
	h.Seq = p.int(`"seq":`, 1, maxInt)
	h.Dur = p.int(`"dur":`, 0, h.Seq-1)
	h.Size = p.pos
	if p.bad || p.short {
		return Head{}, false, p.short && !p.bad
	}
	return h, h.Len > int64(h.Size), false
}

// Verify reports whether text, a whole line without its newline, matches h. A newline
// within it would be the end of it.
func Verify(text []byte, h Head) bool {
	return int64(len(text)) == h.Len && text[len(text)-1] == '}' && bytes.IndexByte(text, '\n') < 0 && Checksum(text[covered:]) == h.CRC
}

// Append appends a line and its newline to dst. Body is the rest of the object,
// from `"kind"` to the closing brace, as [Body] builds it. It returns the line's
// crc, which is the next line's prev.
func Append(dst []byte, prev uint32, seq, dur int64, body []byte) ([]byte, uint32) {
	return AppendEnd(dst, prev, seq, dur, body, body[len(body)-1:])
}

// AppendEnd is Append with another end of the line in the place of the body's closing
// brace, see [Ends].
func AppendEnd(dst []byte, prev uint32, seq, dur int64, body, end []byte) ([]byte, uint32) {
	body = body[:len(body)-1]
	start := len(dst)
	dst = append(dst, Prefix+`00000000","len":`...)
	// The length counts its own digits.
	rest := len(`,"prev":"00000000","seq":,"dur":,`) + digits(seq) + digits(dur) + len(body) + len(end)
	n := len(dst) - start + rest
	total := n + digits(int64(n))
	if digits(int64(total)) != digits(int64(n)) {
		total = n + digits(int64(total))
	}
	dst = strconv.AppendInt(dst, int64(total), 10)
	dst = append(dst, `,"prev":"`...)
	dst = appendHex(dst, prev)
	dst = append(dst, `","seq":`...)
	dst = strconv.AppendInt(dst, seq, 10)
	dst = append(dst, `,"dur":`...)
	dst = strconv.AppendInt(dst, dur, 10)
	dst = append(dst, ',')
	dst = append(append(dst, body...), end...)
	crc := Checksum(dst[start+covered:])
	appendHex(dst[start+len(Prefix):start+len(Prefix)], crc)
	return append(dst, '\n'), crc
}

func digits(n int64) int {
	d := 1
	for n >= 10 {
		n /= 10
		d++
	}
	return d
}

func appendHex(dst []byte, v uint32) []byte {
	const hex = "0123456789abcdef"
	for shift := 28; shift >= 0; shift -= 4 {
		dst = append(dst, hex[v>>shift&15])
	}
	return dst
}

// parser walks fixed text. The first mismatch makes it bad; running out of bytes
// while everything matched makes it short.
type parser struct {
	b          []byte
	pos        int
	bad, short bool
}

func (p *parser) lit(s string) {
	if p.bad || p.short {
		return
	}
	rest := p.b[p.pos:]
	if len(rest) < len(s) {
		p.short = true
		p.bad = !bytes.HasPrefix([]byte(s), rest)
		return
	}
	if string(rest[:len(s)]) != s {
		p.bad = true
		return
	}
	p.pos += len(s)
}

func (p *parser) hex(before, after string) (v uint32) {
	p.lit(before)
	if p.bad || p.short {
		return 0
	}
	digits := p.b[p.pos:min(p.pos+8, len(p.b))]
	all := byte(0)
	for _, c := range digits {
		d := hexValue[c]
		all |= d
		v = v<<4 | uint32(d&15)
	}
	p.bad = all > 15
	p.short = len(digits) < 8
	p.pos += len(digits)
	p.lit(after)
	return v
}

// hexValue is the value of a small hexadecimal digit, 255 for what is none.
var hexValue = func() (t [256]byte) {
	for i := range t {
		t[i] = 255
	}
	for i, c := range "0123456789abcdef" {
		t[c] = byte(i)
	}
	return t
}()

const (
	maxDigits = 15
	maxInt    = 1e15 - 1
)

// int reads a decimal number of at most 15 digits without leading zeros, and the comma
// behind it: it is exact in every JSON reader (2^53). The bounds hold for the digits of one
// that is cut short, too: more digits only make it greater, and a zero has no more.
func (p *parser) int(before string, least, most int64) (v int64) {
	p.lit(before)
	if p.bad || p.short {
		return 0
	}
	start := p.pos
	for p.pos < len(p.b) && p.b[p.pos] >= '0' && p.b[p.pos] <= '9' && p.pos-start <= maxDigits {
		v = v*10 + int64(p.b[p.pos]-'0')
		p.pos++
	}
	n := p.pos - start
	p.short = p.pos == len(p.b)
	p.bad = n == 0 && !p.short || n > maxDigits || n > 1 && p.b[start] == '0' || n > 0 && (v < least || v > most)
	p.lit(",")
	return v
}
