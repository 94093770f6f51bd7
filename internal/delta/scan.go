package delta

import "bytes"

// The scanner finds where values end and nothing else: it trusts that the text
// is valid compact JSON. On a text that is not, it returns -1 or an offset
// within the text, and never reads outside. Nothing here recurses, so nesting
// costs no stack.

// What a byte outside of strings means for skipping.
const (
	plain = iota
	quote
	opening
	closing
	comma
)

var class = [256]uint8{'"': quote, '[': opening, '{': opening, ']': closing, '}': closing, ',': comma}

// skipString returns the offset behind the string that begins at b[i], or -1.
func skipString(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	for j := i + 1; ; {
		k := bytes.IndexByte(b[j:], '"')
		if k < 0 {
			return -1
		}
		j += k + 1
		// The quote ends the string unless an odd number of backslashes
		// stands before it; the opening quote stops the count.
		n := j - 2
		for b[n] == '\\' {
			n--
		}
		if (j-2-n)&1 == 0 {
			return j
		}
	}
}

// skipValue returns the offset behind the value that begins at b[i], or -1.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '[', '{':
		return skipRest(b, i+1)
	}
	j := i
	for j < len(b) && !ends(b[j]) {
		j++
	}
	if j == i {
		return -1
	}
	return j
}

// skipRest returns the offset behind the container that is open at b[i], or -1;
// b[i] is outside of strings.
func skipRest(b []byte, i int) int {
	for depth := 1; i < len(b); {
		switch class[b[i]] {
		case quote:
			if i = skipString(b, i); i < 0 {
				return -1
			}
			continue
		case opening:
			depth++
		case closing:
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// skipName returns the offset of the value of the member that begins at b[i],
// or -1.
func skipName(b []byte, i int) int {
	j := skipString(b, i)
	if j < 0 || j >= len(b) || b[j] != ':' {
		return -1
	}
	return j + 1
}

// skipItem returns the offset behind an element of an array, or behind a member
// of an object, that begins at b[i], or -1.
func skipItem(b []byte, i int, object bool) int {
	if object {
		if i = skipName(b, i); i < 0 {
			return -1
		}
	}
	return skipValue(b, i)
}

// ends reports whether c stands behind a value within a container.
func ends(c byte) bool { return class[c] >= closing }

// closes reports whether c ends a container. Which kind of container it is need
// not be asked of a valid text, and is asked nowhere, so that functions agree on
// where a malformed one ends.
func closes(c byte) bool { return class[c] == closing }

// container reports whether c begins an object or an array.
func container(c byte) bool { return c == '{' || c == '[' }

// next goes from behind an item to the next one, or stays at the closing
// bracket; more tells which. An i outside of the text gives -1.
func next(b []byte, i int) (_ int, more bool) {
	switch {
	case i < 0 || i >= len(b):
		return -1, false
	case b[i] == ',' && i+1 < len(b):
		return i + 1, true
	case closes(b[i]):
		return i, false
	}
	return -1, false
}

// items calls yield with the bounds of each item from b[i] on, which is where an
// item begins or the closing bracket stands. It returns the offset behind that
// bracket, or -1.
func items(b []byte, i int, object bool, yield func(start, end int)) int {
	if i >= len(b) {
		return -1
	}
	for more := !closes(b[i]); more; {
		start := i
		end := skipItem(b, i, object)
		if i, more = next(b, end); i < 0 {
			return -1
		}
		yield(start, end)
	}
	return i + 1
}
