package delta

import (
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Apply applies a patch to old, as RFC 6902 has it, and returns the new text;
// old is not changed. The error is an [*Error]. For many patches in a row there
// is [Document].
func Apply(old, patch []byte) ([]byte, error) {
	d := NewDocument(old)
	if err := d.Apply(patch); err != nil {
		return nil, err
	}
	return d.Append(nil), nil
}

var (
	errSyntax      = errors.New("not valid JSON")
	errNoArray     = errors.New("not an array")
	errNoObject    = errors.New("not an object")
	errNoOp        = errors.New(`no string "op"`)
	errUnknown     = errors.New("unknown operation")
	errUnsupported = errors.New("operation not supported: only add, remove and replace are")
	errNoPath      = errors.New(`no string "path"`)
	errNoValue     = errors.New(`no "value"`)
	errBefore      = errors.New(`"before" does not name a member beside it`)
	errRoot        = errors.New("the whole document cannot be removed")
)

// operation is an element of a patch; each field is the JSON text of the member
// of that name, or nil.
type operation struct{ op, path, value, before []byte }

// apply applies all operations of a patch.
func (d *Document) apply(patch []byte) error {
	// The document keeps parts of this copy, which is all checked (valid
	// UTF-8, no duplicate names) and compact. Tokens stay as they are.
	patch, err := jsontext.AppendFormat(nil, patch, jsontext.PreserveRawStrings(true))
	if err != nil {
		return &Error{Index: -1, Err: errSyntax} // err would quote the patch
	}
	if patch[0] != '[' {
		return &Error{Index: -1, Err: errNoArray}
	}
	n := 0
	items(patch, 1, false, func(start, end int) {
		if err == nil {
			err = d.element(n, patch[start:end:end])
			n++
		}
	})
	return err
}

// element applies the operation with the given index and text.
func (d *Document) element(index int, text []byte) error {
	fail := func(op, path []byte, err error) error {
		return &Error{Index: index, Op: string(op), Path: bounded(path), Err: err}
	}
	if text[0] != '{' {
		return fail(nil, nil, errNoObject)
	}
	var o operation
	items(text, 1, true, func(start, end int) {
		name := nameAt(text, start)
		value := text[start+len(name)+len(`"":`) : end : end]
		switch string(unquote(name)) {
		case "op":
			o.op = value
		case "path":
			o.path = value
		case "value":
			o.value = value
		case "before":
			o.before = value
		}
	})
	if !isString(o.op) {
		return fail(nil, nil, errNoOp)
	}
	op := unquote(inside(o.op))
	switch string(op) {
	case "add", "remove", "replace":
	case "move", "copy", "test":
		return fail(op, nil, errUnsupported)
	default:
		return fail(nil, nil, errUnknown)
	}
	if !isString(o.path) {
		return fail(op, nil, errNoPath)
	}
	path := inside(o.path)
	if o.value == nil && string(op) != "remove" {
		return fail(op, path, errNoValue)
	}
	if err := d.operate(string(op), path, o.value, o.before); err != nil {
		return fail(op, path, err)
	}
	return nil
}

// operate applies one operation.
func (d *Document) operate(op string, path, value, before []byte) (err error) {
	if d.segments, err = parsePointer(d.segments[:0], path); err != nil {
		return err
	}
	if len(d.segments) == 0 {
		if op == "remove" {
			return errRoot
		}
		d.root = node{text: value}
		return nil
	}
	t, err := d.root.enter(false)
	last := len(d.segments) - 1
	for _, s := range d.segments[:last] {
		if err != nil {
			return err
		}
		i, err2 := t.find(s)
		if err2 != nil {
			return err2
		}
		t, err = t.kids[i].enter(t.object)
	}
	if err != nil {
		return err
	}
	s := d.segments[last]
	if op == "add" {
		return t.add(s, value, before)
	}
	i, err := t.find(s)
	if err != nil {
		return err
	}
	if op == "replace" {
		t.set(i, value)
	} else {
		t.kids = slices.Delete(t.kids, i, i+1)
	}
	return nil
}

// add inserts an element, or creates or replaces a member (RFC 6902, section
// 4.1), which goes in front of the one that the JSON string before names.
func (t *tree) add(s segment, value, before []byte) error {
	if !t.object {
		if string(s.name) == "-" {
			t.kids = append(t.kids, node{text: value})
			return nil
		}
		i, err := t.index(s)
		if err == nil {
			t.kids = slices.Insert(t.kids, i, node{text: value})
		}
		return err
	}
	if i := t.member(s.name); i >= 0 {
		t.set(i, value)
		return nil
	}
	at := len(t.kids)
	if before != nil {
		if !isString(before) {
			return errBefore
		}
		if at = t.member(unquote(inside(before))); at < 0 {
			return errBefore
		}
	}
	text := slices.Concat([]byte{'"'}, s.spelled, []byte(`":`), value)
	t.kids = slices.Insert(t.kids, at, node{text: text})
	for i := at; i < min(at+2, len(t.kids)); i++ {
		t.look(i)
	}
	return nil
}

// isString reports whether a valid JSON value is a string.
func isString(v []byte) bool { return len(v) > 0 && v[0] == '"' }

// inside returns the content of a JSON string.
func inside(s []byte) []byte { return s[1 : len(s)-1] }
