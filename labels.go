package pawl

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawlgo/pawl/internal/line"
)

// maxLabel bounds a label's name and value, and a run's kind, in bytes.
const maxLabel = 256

// badLabel returns the name of a label that cannot be one.
func badLabel(labels map[string]string) (name string, bad bool) {
	for name, v := range labels {
		for _, s := range [...]string{name, v} {
			if badText(s) {
				return name, true
			}
		}
	}
	return "", false
}

// badText reports whether s cannot be a label's name or value, or a run's kind.
func badText(s string) bool {
	return s == "" || len(s) > maxLabel || !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0
}

// shown is as much of such a text as an error tells.
func shown(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxLabel)], "\ufffd")
}

// labels returns the labels as a JSON object, sorted by name, nil if there are none.
func (r *Run) labels(labels map[string]string) []byte {
	if len(labels) == 0 {
		return nil
	}
	var text []byte
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		text = append(text, ',')
		text = line.AppendString(text, name)
		text = append(text, ':')
		text = line.AppendString(text, r.hide(labels[name]))
	}
	text[0] = '{'
	return append(text, '}')
}
