package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Questions come from programs and models. For people they are shown without the marks of
// JSON: texts as they are, line by line; members and elements indented. Nothing in them can
// end its place: each line is indented as deep as what it belongs to.

// readable is a value being written in lines of a width.
type readable struct {
	lines []string
	most  int // lines; then it stops
	width int
	full  bool // there was more
}

// maxDepth is how deep what is inside something is written in lines of its own.
const maxDepth = 6

// readableJSON returns JSON text in at most so many lines of so many columns, and whether that is
// all of it.
func readableJSON(text []byte, most, columns int) (lines []string, whole bool) {
	r := readable{most: most, width: columns}
	if s, ok := asString(text); ok {
		r.text(s, 0)
	} else {
		r.value(text, 0, 0)
	}
	return r.lines, !r.full
}

// add writes a line of text, broken where it is too long.
func (r *readable) add(text string, indent int) {
	indent = min(indent, r.width/2) // or nothing would fit
	for _, part := range r.parts(text, indent) {
		if len(r.lines) == r.most {
			r.full = true
			return
		}
		r.lines = append(r.lines, strings.Repeat(" ", indent)+part)
	}
}

// parts breaks a text into lines, as far as there is room for them.
func (r *readable) parts(text string, indent int) []string {
	columns := r.width - min(indent, r.width/2)
	if room := (r.most - len(r.lines) + 1) * columns * 4; len(text) > room {
		text, r.full = strings.ToValidUTF8(text[:room], ""), true
	}
	return wrap(inline(strings.ReplaceAll(text, "\t", "    ")), columns)
}

// text writes a text line by line.
func (r *readable) text(s string, indent int) {
	for line := range strings.Lines(s) {
		if r.full {
			return
		}
		r.add(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"), indent)
	}
	if s == "" {
		r.add(`""`, indent)
	}
}

// value writes what is inside a value, one member or element after another.
func (r *readable) value(text []byte, indent, depth int) {
	dec := json.NewDecoder(bytes.NewReader(text))
	begin, err := dec.Token()
	isObject := begin == json.Delim('{')
	if err != nil || !isObject && begin != json.Delim('[') || !dec.More() || depth == maxDepth {
		r.add(shownValue(text), indent)
		return
	}
	for dec.More() && !r.full {
		label := "-"
		if isObject {
			name, err := dec.Token()
			if err != nil {
				return
			}
			label = memberName(fmt.Sprint(name)) + ":"
		}
		var inner json.RawMessage
		if err := dec.Decode(&inner); err != nil {
			return
		}
		r.inside(label, inner, indent, depth)
	}
}

// inside writes a member or an element: in the line of its label if it is short.
func (r *readable) inside(label string, text []byte, indent, depth int) {
	s, isText := asString(text)
	switch {
	case isText && strings.ContainsAny(s, "\n"):
		r.add(label, indent)
		r.text(s, indent+2)
	case isText || len(text) <= 2 || text[0] != '{' && text[0] != '[':
		if isText {
			s = plain(s)
		} else {
			s = shownValue(text)
		}
		// What does not fit goes on below, deeper than its label.
		parts := r.parts(label+" "+s, indent+2)
		r.add(parts[0], indent)
		for _, part := range parts[1:] {
			r.add(part, indent+2)
		}
	default:
		r.add(label, indent)
		r.value(text, indent+2, depth+1)
	}
}

// asString returns the text that a JSON string holds.
func asString(text []byte) (s string, ok bool) {
	if len(text) == 0 || text[0] != '"' || json.Unmarshal(text, &s) != nil {
		return "", false
	}
	return s, true
}

// plain returns a text for a line in which other things stand: in quotes if it could be taken
// for something else than a text.
func plain(s string) string {
	if s == "" || strings.TrimSpace(s) != s || strings.HasPrefix(s, "- ") || strings.HasPrefix(s, `"`) || json.Valid([]byte(s)) {
		return strconv.Quote(s)
	}
	return inline(s)
}

// memberName returns the name of a member for people.
func memberName(name string) string {
	if strings.ContainsAny(name, ":?,{}|") || strings.HasPrefix(name, "- ") {
		return strconv.Quote(name)
	}
	return cell(name)
}

// shortJSON says a value in one line: a text by its first line, an object by its members.
// What is too large for that is said to be.
func shortJSON(text []byte) string {
	const large = 64 << 10
	if len(text) > large {
		return "(" + size(int64(len(text))) + ")"
	}
	if s, ok := asString(text); ok {
		if strings.TrimSpace(s) == "" || s == "-" {
			return strconv.Quote(s)
		}
		return firstLine(s)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	if begin, err := dec.Token(); err != nil || begin != json.Delim('{') || !dec.More() {
		return shownValue(text)
	}
	var members []string
	for dec.More() {
		name, err := dec.Token()
		var inner json.RawMessage
		if err != nil || dec.Decode(&inner) != nil {
			return shownValue(text)
		}
		value := shownValue(inner)
		if s, ok := asString(inner); ok {
			value = plain(s)
			if strings.Contains(s, "\n") {
				value = firstLine(s)
			}
		}
		members = append(members, memberName(fmt.Sprint(name))+": "+value)
	}
	return strings.Join(members, ", ")
}
