package delta

import (
	"bytes"
	"errors"
	"slices"
)

// A document under change is a tree that is opened only where operations lead:
// everything else stays the bytes it was, in the text it came from.

// node is an element, a member or the root.
type node struct {
	// text is all of it, or, if it is open, what stands before its value:
	// the name and colon of a member.
	text []byte
	open *tree
}

// tree is an array or object that an operation has entered.
type tree struct {
	object bool
	// escaped, of an object: a name has an escape. sorted: none has, and the
	// names ascend, as pawl writes maps; members are then found by bisection.
	escaped, sorted bool
	// raw is elements of an array, with commas, that stand before those in
	// kids. An array that only grows at its end is never split further.
	raw  []byte
	kids []node
}

var (
	errScalar    = errors.New("the path goes through a value that is neither an object nor an array")
	errNoMember  = errors.New("no such member")
	errIndex     = errors.New("not an array index")
	errRange     = errors.New("the index is out of range")
	errMalformed = errors.New("the document is malformed there")
)

// enter opens n's value if it is not yet open.
func (n *node) enter(member bool) (*tree, error) {
	if n.open != nil {
		return n.open, nil
	}
	at := 0
	if member {
		at = skipName(n.text, 0)
	}
	if at < 0 || at >= len(n.text) {
		return nil, errMalformed
	}
	t := &tree{}
	switch v := n.text[at:]; v[0] {
	case '[':
		if len(v) < 2 || v[len(v)-1] != ']' {
			return nil, errMalformed
		}
		t.raw = v[1 : len(v)-1]
	case '{':
		var ok bool
		t.object = true
		if t.kids, ok = nodes(v, 1, true); !ok {
			return nil, errMalformed
		}
		t.sorted = true
		for i := range t.kids {
			t.look(i)
		}
	default:
		return nil, errScalar
	}
	n.text, n.open = n.text[:at:at], t
	return t, nil
}

// split makes every element of an array one of kids.
func (t *tree) split() error {
	if len(t.raw) == 0 {
		return nil
	}
	// The closing bracket still stands behind raw in the text.
	kids, ok := nodes(t.raw[:len(t.raw)+1], 0, false)
	if !ok {
		return errMalformed
	}
	t.raw, t.kids = nil, append(kids, t.kids...)
	return nil
}

// nodes returns the items of b from b[i] on up to the closing bracket, which is
// the end of b.
func nodes(b []byte, i int, object bool) (kids []node, ok bool) {
	end := items(b, i, object, func(start, end int) {
		if n := len(kids); n == cap(kids) && n >= 16 {
			// Room for the rest, if that is like what has been seen.
			kids = slices.Grow(kids, int(float64(n)*1.1*float64(len(b)-start)/float64(start-i))+1)
		}
		kids = append(kids, node{text: b[start:end:end]})
	})
	return kids, end == len(b)
}

// look keeps escaped and sorted right, given that they are so up to member i.
func (t *tree) look(i int) {
	name := nameAt(t.kids[i].text, 0)
	if bytes.IndexByte(name, '\\') >= 0 {
		t.escaped, t.sorted = true, false
	}
	if t.sorted && i > 0 {
		t.sorted = bytes.Compare(nameAt(t.kids[i-1].text, 0), name) < 0
	}
}

// find returns the position in kids of what s names.
func (t *tree) find(s segment) (int, error) {
	if t.object {
		if i := t.member(s.name); i >= 0 {
			return i, nil
		}
		return 0, errNoMember
	}
	i, err := t.index(s)
	if err == nil && i == len(t.kids) {
		err = errRange
	}
	return i, err
}

// member returns the position of the member with the given name, or -1.
func (t *tree) member(name []byte) int {
	if t.sorted {
		i, ok := slices.BinarySearchFunc(t.kids, name, func(n node, name []byte) int {
			return bytes.Compare(nameAt(n.text, 0), name)
		})
		if ok {
			return i
		}
		return -1
	}
	// A name without these may be spelled as it is.
	clean := bytes.IndexByte(name, '\\') < 0 && bytes.IndexByte(name, '"') < 0
	for i := range t.kids {
		k := t.kids[i].text
		if clean && len(k) > len(name)+1 && k[len(name)+1] == '"' && bytes.Equal(k[1:len(name)+1], name) {
			return i
		}
		if t.escaped {
			if k = nameAt(k, 0); bytes.IndexByte(k, '\\') >= 0 && bytes.Equal(unquote(k), name) {
				return i
			}
		}
	}
	return -1
}

// index reads an array index: digits without a leading zero (RFC 6901, section
// 4), at most the number of elements, which is where an element can be added.
func (t *tree) index(s segment) (int, error) {
	if err := t.split(); err != nil {
		return 0, err
	}
	d := s.name
	if len(d) == 0 || len(d) > 1 && d[0] == '0' {
		return 0, errIndex
	}
	i := 0
	for _, c := range d {
		if c < '0' || c > '9' {
			return 0, errIndex
		}
		if i = i*10 + int(c-'0'); i > len(t.kids) {
			i = len(t.kids) + 1 // no overflow, however many digits follow
		}
	}
	if i > len(t.kids) {
		return 0, errRange
	}
	return i, nil
}

// set gives kid i another value.
func (t *tree) set(i int, value []byte) {
	if t.object {
		text := t.kids[i].text
		value = slices.Concat(text[:skipName(text, 0)], value)
	}
	t.kids[i] = node{text: value}
}

var marks = []byte(",[]{}")

// pieces calls yield with the bytes of n, piece by piece, as long as it returns
// true, and reports whether it always did.
func (n *node) pieces(yield func([]byte) bool) bool {
	if len(n.text) > 0 && !yield(n.text) {
		return false
	}
	t := n.open
	if t == nil {
		return true
	}
	brackets := marks[1:3]
	if t.object {
		brackets = marks[3:5]
	}
	if !yield(brackets[:1]) || len(t.raw) > 0 && !yield(t.raw) {
		return false
	}
	for i := range t.kids {
		if (i > 0 || len(t.raw) > 0) && !yield(marks[:1]) || !t.kids[i].pieces(yield) {
			return false
		}
	}
	return yield(brackets[1:])
}
