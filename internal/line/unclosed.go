package line

import "bytes"

// Unclosed reports whether text is the beginning of a JSON object and not all of it. What
// strings hold above U+001F is not looked at, and nothing is too deep: every reader of a
// journal must come to the same answer.
func Unclosed(text []byte) bool {
	var open []byte // brackets that are not closed
	want := wantObject
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			i++
		case want == wantColon && c == ':':
			i, want = i+1, wantValue
		case want == wantComma && c == ',':
			i++
			if want = wantValue; open[len(open)-1] == '{' {
				want = wantName
			}
		case want == wantComma && c == open[len(open)-1]+2, want == wantNameOrEnd && c == '}', want == wantValueOrEnd && c == ']':
			i, want = i+1, wantComma // '{'+2 is '}', and '['+2 is ']'
			if open = open[:len(open)-1]; len(open) == 0 {
				return false
			}
		case (want == wantName || want == wantNameOrEnd) && c == '"':
			i, want = skipBeginning(text, i), wantColon
		case want == wantValue || want == wantValueOrEnd || want == wantObject && c == '{':
			switch c {
			case '{':
				i, want, open = i+1, wantNameOrEnd, append(open, c)
			case '[':
				i, want, open = i+1, wantValueOrEnd, append(open, c)
			default:
				i, want = skipBeginning(text, i), wantComma
			}
		default:
			return false
		}
		if i < 0 {
			return false
		}
	}
	return true
}

// What comes next in a JSON object, besides white space.
const (
	wantObject = iota
	wantNameOrEnd
	wantName
	wantColon
	wantValue
	wantValueOrEnd
	wantComma // or the end of what is open
)

// skipBeginning returns the index behind the string, number or word at i, as far as text
// has it, and -1 if it is none.
func skipBeginning(text []byte, i int) int {
	switch text[i] {
	case '"':
		return skipBegunString(text, i+1)
	case 't', 'f', 'n':
		for _, word := range []string{"true", "false", "null"} {
			if rest := text[i:]; bytes.HasPrefix(rest, []byte(word)) || bytes.HasPrefix([]byte(word), rest) {
				return min(i+len(word), len(text))
			}
		}
		return -1
	}
	if text[i] == '-' {
		i++
	}
	if i < len(text) && text[i] == '0' {
		i++
	} else {
		i = skipDigits(text, i)
	}
	if i >= 0 && i < len(text) && text[i] == '.' {
		i = skipDigits(text, i+1)
	}
	if i >= 0 && i < len(text) && text[i]|0x20 == 'e' {
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		i = skipDigits(text, i)
	}
	return i
}

// skipDigits is skipBeginning of one digit or more.
func skipDigits(text []byte, i int) int {
	start := i
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	if i == start && i < len(text) {
		return -1
	}
	return i
}

// skipBegunString is skipBeginning of a string, behind its quote.
func skipBegunString(text []byte, i int) int {
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c == '\\':
			if i++; i == len(text) {
				return i
			}
			if bytes.IndexByte([]byte(`"\/bfnrtu`), text[i]) < 0 {
				return -1
			}
			if text[i] != 'u' {
				continue
			}
			for range 4 {
				if i++; i == len(text) {
					return i
				}
				if d := text[i] | 0x20; hexValue[text[i]] > 15 && (d < 'a' || d > 'f') {
					return -1
				}
			}
		}
	}
	return i
}
