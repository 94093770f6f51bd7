package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// shape is what an answer must look like, as it stands in the journal: the part of a Schema Object
// of OpenAPI 3.0.3 that pawl.Await writes. The library checks answers against it; here it
// is said in words.
type shape struct {
	Type       string           `json:"type"`
	Nullable   bool             `json:"nullable"`
	Properties map[string]shape `json:"properties"`
	Required   []string         `json:"required"`
	Others     json.RawMessage  `json:"additionalProperties"` // a schema, or false
	Items      *shape           `json:"items"`
	Length     *int             `json:"maxItems"`
	Minimum    *int             `json:"minimum"`

	unknown string // the text of a schema of another kind, "" if it is none
}

// readShape reads one. What it cannot read takes anything here, and the library decides.
func readShape(text []byte) shape {
	var s shape
	if err := json.Unmarshal(text, &s); err != nil || s.Type == "" && len(text) > len("{}") {
		s = shape{unknown: string(text)}
	}
	return s
}

// String says the shape in words, such as {approved: true|false, reason?: text}.
func (s shape) String() string {
	if s.unknown != "" {
		return "JSON of the schema " + cut(inline(s.unknown), 500)
	}
	return s.words(6)
}

// words says a shape so many levels deep.
func (s shape) words(depth int) string {
	word := ""
	switch s.Type {
	case "boolean":
		word = "true|false"
	case "string":
		word = "text"
	case "integer":
		word = "whole number"
	case "number":
		word = "number"
	case "array":
		return s.array(depth)
	case "object":
		return s.object(depth)
	default:
		return "any JSON"
	}
	if s.Minimum != nil {
		word += fmt.Sprintf(" from %d", *s.Minimum)
	}
	if s.Nullable {
		word += "|null"
	}
	return word
}

func (s shape) array(depth int) string {
	each := "any JSON"
	switch {
	case depth == 0:
		return "[…]"
	case s.Items != nil:
		each = s.Items.words(depth - 1)
	}
	if s.Length != nil {
		return fmt.Sprintf("[%s, … at most %d]", each, *s.Length)
	}
	return "[" + each + ", …]"
}

// object names the members that must be there, then those that may. One that it need not be
// itself is only said where null would mean something: a Go map may be null too.
func (s shape) object(depth int) string {
	if depth == 0 {
		return "{…}"
	}
	var members []string
	for _, must := range []bool{true, false} {
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if slices.Contains(s.Required, name) != must {
				continue
			}
			mark := "?"
			if must {
				mark = ""
			}
			members = append(members, memberName(name)+mark+": "+s.Properties[name].words(depth-1))
		}
	}
	var others shape
	switch {
	case string(s.Others) == "false":
	case len(s.Others) == 0 || json.Unmarshal(s.Others, &others) != nil:
		members = append(members, "…")
	default:
		members = append(members, "any name: "+others.words(depth-1), "…")
	}
	text := "{" + strings.Join(members, ", ") + "}"
	if s.Nullable && len(s.Properties) > 0 {
		text += "|null"
	}
	return text
}

// example is what stands for an answer in a command to type next.
func (s shape) example() string {
	if s.Type == "string" {
		return `'"TEXT"'` // which needs quotes of its own
	}
	return "JSON"
}

// yesNo reports whether yes and no are answers: of a bool, or of an object like
// wait.Approval, of which nothing is needed that pawl approve cannot give.
func (s shape) yesNo() bool {
	if s.Type == "boolean" {
		return true
	}
	for _, name := range s.Required {
		if name != "approved" && name != "edited" && (name != "reason" || s.Properties[name].Type != "string") {
			return false
		}
	}
	return s.Type == "object" && s.Properties["approved"].Type == "boolean"
}

// takesReason and takesEdited report whether such an answer has these members.
func (s shape) takesReason() bool { return s.Properties["reason"].Type == "string" }

func (s shape) takesEdited() bool {
	_, ok := s.Properties["edited"]
	return ok
}
