package line

import "bytes"

// Members walks the members of the object in text behind its head, in order,
// until yield returns false. Text must be a line whose crc was verified; what
// does not look like a member ends the walk. Value is the raw JSON of the member.
func Members(text []byte, from int, yield func(name, value []byte) bool) {
	for i := from; i < len(text) && text[i] == '"'; {
		end := skipString(text, i)
		if end < 0 || end >= len(text) || text[end] != ':' {
			return
		}
		name := text[i+1 : end-1]
		start := end + 1
		stop := skipValue(text, start)
		if stop < 0 || stop >= len(text) {
			return
		}
		if !yield(name, text[start:stop]) {
			return
		}
		if text[stop] != ',' {
			return
		}
		i = stop + 1
	}
}

// KindAndKey returns the raw JSON of the first two members of a verified line, behind its
// head, if they are its kind and its key.
func KindAndKey(rest []byte) (kind, key []byte, ok bool) {
	const first, second = `"kind":"`, `,"key":"`
	if len(rest) < len(first) || string(rest[:len(first)]) != first {
		return nil, nil, false
	}
	end := skipString(rest, len(first)-1)
	if end < 0 || len(rest)-end < len(second) || string(rest[end:end+len(second)]) != second {
		return nil, nil, false
	}
	start := end + len(second) - 1
	stop := skipString(rest, start)
	if stop < 0 {
		return nil, nil, false
	}
	return rest[len(first)-1 : end], rest[start:stop], true
}

// Member returns the raw JSON of one member of a verified line, nil if absent.
func Member(text []byte, from int, name string) []byte {
	var found []byte
	Members(text, from, func(n, v []byte) bool {
		if string(n) == name {
			found = v
			return false
		}
		return true
	})
	return found
}

// skipString returns the index behind the string that starts at i, or -1.
func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		start := i
		i += n
		escapes := 0
		for i-escapes > start && b[i-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
	return -1
}

// skipValue returns the index behind the value that starts at i, or -1.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		for depth := 0; i < len(b); i++ {
			switch b[i] {
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			case '"':
				if i = skipString(b, i) - 1; i < 0 {
					return -1
				}
			}
		}
		return -1
	default:
		for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' {
			i++
		}
		return i
	}
}

// Override appends to dst the members of a verified line from its kind on, up to
// and including the closing brace, with one member set to raw JSON: in its place if
// the line has it, else behind the member "at". Padding and the run's tag belong to a
// place in a file and are left out.
func Override(dst, text []byte, from int, name string, raw []byte) []byte {
	has := Member(text, from, name) != nil
	first := true
	Members(text, from, func(n, v []byte) bool {
		if string(n) == "pad" || string(n) == "run" {
			return true
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(append(dst, '"'), n...), '"', ':')
		switch {
		case string(n) == name:
			dst = append(dst, raw...)
		default:
			dst = append(dst, v...)
		}
		if !has && string(n) == "at" {
			dst = append(append(append(dst, ',', '"'), name...), '"', ':')
			dst = append(dst, raw...)
		}
		return true
	})
	return append(dst, '}')
}
