package meter

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// isStream reports whether text looks like server-sent events: its first line has one of
// their fields, or is a comment.
func isStream(text []byte) bool {
	line, _ := cutLine(text)
	field, _, ok := bytes.Cut(line, []byte(":"))
	return ok && slices.Contains([]string{"", "data", "event", "id", "retry"}, string(field))
}

// stream reads server-sent events (WHATWG HTML, section "Server-sent events"): lines that
// end with CR, LF or both; the data lines up to an empty one are one event. The end of the
// text ends an event too, since whoever kept a stream may have dropped its last line.
func (r *reader) stream(text []byte) error {
	r.streamed = true
	var event []byte // the data lines since the last event
	several := false // whether event is a copy, of more than one line
	n := 0
	for len(text) > 0 || event != nil {
		line, rest := cutLine(text)
		text = rest
		if len(line) == 0 {
			if event == nil {
				continue
			}
			n++
			if err := r.event(event); err != nil {
				return r.cutAt(n, err)
			}
			event, several = nil, false
			continue
		}
		data, ok := bytes.CutPrefix(line, []byte("data:"))
		if !ok {
			continue
		}
		data = bytes.TrimPrefix(data, []byte(" "))
		switch {
		case event == nil:
			event = data
		case several:
			event = append(append(event, '\n'), data...)
		default: // event is a part of the caller's bytes
			event, several = slices.Concat(event, []byte{'\n'}, data), true
		}
	}
	return nil
}

// event reads the data of one event.
func (r *reader) event(data []byte) error {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || string(data) == "[DONE]" { // how OpenAI ends its chat completions
		return nil
	}
	return r.response(data)
}

// cutAt says which event cannot be read. The ones before it stay.
func (r *reader) cutAt(n int, err error) error {
	r.cut = r.found
	why, _ := errors.AsType[refusal](err)
	if r.cut {
		why.hint = cutHint
	}
	return refuse(fmt.Sprintf("event %d: %v", n, err), why.hint)
}

// cutLine cuts off the first line. CR LF ends one, and so does each of them alone.
func cutLine(text []byte) (line, rest []byte) {
	i := bytes.IndexAny(text, "\r\n")
	switch {
	case i < 0:
		return text, nil
	case bytes.HasPrefix(text[i:], []byte("\r\n")):
		return text[:i], text[i+2:]
	}
	return text[:i], text[i+1:]
}
