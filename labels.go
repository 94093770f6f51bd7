package pawl

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawlgo/pawl/internal/line"
)

// maxLabel bounds a label's name and value, in bytes.
const maxLabel = 256

// badLabel returns the name of a label that cannot be one.
func badLabel(labels map[string]string) (name string, bad bool) {
	for name, v := range labels {
		for _, s := range [...]string{name, v} {
			if s == "" || len(s) > maxLabel || !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
				return strings.ToValidUTF8(name[:min(len(name), maxLabel)], "\ufffd"), true
			}
		}
	}
	return "", false
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
