package line

import "encoding/binary"

// quickHead parses what nearly every line begins with, word by word: opening a run reads
// the heads of all its lines. What it does not like, or finds too short, is none of its
// business: ParseHead looks again, and says what is wrong.
func quickHead(b []byte) (h Head, ok bool) {
	if len(b) < MaxHead || word(b) != crcWord || word(b[16:]) != lenWord {
		return Head{}, false
	}
	var ok1, ok2 bool
	h.CRC, ok1 = hex8(b[8:])
	n, i := decimal(b, 24)
	h.Len = n
	if n < 0 || word(b[i:]) != prevWord || word(b[i+16:]) != seqWord {
		return Head{}, false
	}
	h.Prev, ok2 = hex8(b[i+8:])
	h.Seq, i = decimal(b, i+24)
	if !ok1 || !ok2 || h.Seq < 1 || string(b[i:i+len(`"dur":`)]) != `"dur":` {
		return Head{}, false
	}
	h.Dur, i = decimal(b, i+len(`"dur":`))
	h.Size = i
	return h, h.Dur >= 0 && h.Dur < h.Seq && h.Len > int64(i)
}

// The fixed text of a head comes in words of eight bytes.
var (
	crcWord  = word([]byte(Prefix))
	lenWord  = word([]byte(`","len":`))
	prevWord = word([]byte(`"prev":"`))
	seqWord  = word([]byte(`","seq":`))
)

func word(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// hex8 reads eight hexadecimal digits.
func hex8(b []byte) (v uint32, ok bool) {
	all := byte(0)
	for _, c := range b[:8] {
		d := hexValue[c]
		all |= d
		v = v<<4 | uint32(d&15)
	}
	return v, all <= 15
}

// decimal reads a number of at most 15 digits and the comma behind it. It returns the
// index behind that, or -1 as the number if there is none.
func decimal(b []byte, i int) (n int64, next int) {
	start := i
	for b[i] >= '0' && b[i] <= '9' && i-start < 16 {
		n = n*10 + int64(b[i]-'0')
		i++
	}
	if digits := i - start; digits == 0 || digits > 15 || digits > 1 && b[start] == '0' || b[i] != ',' {
		return -1, i
	}
	return n, i + 1
}
