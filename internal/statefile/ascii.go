package statefile

import "unicode/utf8"

// plain are the bytes that stand for themselves inside a string.
var plain = func() (p [256]bool) {
	for c := byte(' '); c < 0x7f; c++ {
		p[c] = c != '"' && c != '\\'
	}
	return p
}()

// appendASCII appends valid JSON text in the form in which it stands in a file:
// without white space between tokens, and with every character above 0x7E as a
// \u escape, which a pair of escapes makes of those beyond U+FFFF. Text that has
// this form already passes unchanged.
func appendASCII(dst, text []byte) []byte {
	inString := false
	run := 0 // text[run:i] is to be copied as it is
	for i := 0; i < len(text); {
		c := text[i]
		if inString && plain[c] {
			i++
			continue
		}
		switch {
		case inString && c >= 0x7f:
			dst = append(dst, text[run:i]...)
			r, n := utf8.DecodeRune(text[i:])
			dst = appendEscape(dst, r)
			i += n
			run = i
			continue
		case !inString && (c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			dst = append(dst, text[run:i]...)
			run = i + 1
		case inString && c == '\\':
			i++ // what it escapes is ASCII
		case c == '"':
			inString = !inString
		}
		i++
	}
	return append(dst, text[run:]...)
}

func appendEscape(dst []byte, r rune) []byte {
	if r > 0xffff {
		r -= 0x10000
		dst = appendEscape(dst, 0xd800+r>>10)
		r = 0xdc00 + r&0x3ff
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}
