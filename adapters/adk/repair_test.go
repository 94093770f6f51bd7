package adk_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pawlgo/pawl/adapters/adk"
	"google.golang.org/genai"
)

// said makes a transcript of a word for each content: "u" a user's text, "c:a,b" calls, "r:a,b"
// responses, "m" a model's text. A name with a slash has an ID: name/id.
func said(words string) (contents []*genai.Content) {
	n := 0
	for w := range strings.FieldsSeq(words) {
		c := &genai.Content{Role: genai.RoleUser}
		kind, names, _ := strings.Cut(w, ":")
		if kind == "m" || kind == "c" {
			c.Role = genai.RoleModel
		}
		for name := range strings.SplitSeq(names, ",") {
			n++
			name, id, _ := strings.Cut(name, "/")
			switch kind {
			case "c":
				c.Parts = append(c.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{Name: name, ID: id}, ThoughtSignature: signature})
			case "r":
				c.Parts = append(c.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{Name: name, ID: id, Response: map[string]any{"n": n}}})
			default:
				c.Parts = append(c.Parts, &genai.Part{Text: kind})
			}
		}
		contents = append(contents, c)
	}
	return contents
}

// told is the inverse, with the numbers of responses.
func told(contents []*genai.Content) string {
	var words []string
	for _, c := range contents {
		var names []string
		kind := ""
		for _, p := range c.Parts {
			switch {
			case p.FunctionCall != nil:
				kind = "c:"
				names = append(names, p.FunctionCall.Name)
			case p.FunctionResponse != nil:
				kind = "r:"
				n := "lost"
				if v, ok := p.FunctionResponse.Response["n"]; ok {
					n = fmt.Sprint(v)
				}
				names = append(names, p.FunctionResponse.Name+"="+n)
			default:
				names = append(names, p.Text)
			}
		}
		words = append(words, kind+strings.Join(names, ","))
	}
	return strings.Join(words, " ")
}

func TestRepair(t *testing.T) {
	for _, tt := range []struct{ what, given, want string }{
		{"nothing wrong", "u c:a r:a m", "u c:a r:a=3 m"},
		{"orphan at the end", "u c:a", "u c:a r:a=lost"},
		{"orphan, then a user", "u c:a u", "u c:a r:a=lost u"},
		{"orphan in the middle", "u c:a u m u c:b r:b", "u c:a r:a=lost u m u c:b r:b=7"},
		{"some of parallel calls", "u c:a/1,b/2,c/3 r:b/2 u", "u c:a,b,c r:a=lost,b=5,c=lost u"},
		{"in another order", "u c:a/1,b/2 r:b/2,a/1", "u c:a,b r:a=5,b=4"},
		{"in several contents", "u c:a/1,b/2 r:b/2 r:a/1 m", "u c:a,b r:a=5,b=4 m"},
		{"not adjacent", "u c:a u r:a m", "u c:a r:a=4 u m"},
		{"pending, then final", "u c:a/1 r:a/1 u r:a/1", "u c:a r:a=5 u"},
		{"without a call", "u r:a m", "u m"},
		{"an ID that comes again", "u c:a/0 r:a/0 c:a/0 u", "u c:a r:a=3 c:a r:a=lost u"},
		{"a later turn's response", "u c:a/0 c:a/0 r:a/0", "u c:a r:a=lost c:a r:a=4"},
		{"equal calls without IDs", "u c:a,a r:a,a", "u c:a,a r:a=4,a=5"},
		{"equal calls, one response", "u c:a,a r:a", "u c:a,a r:a=4,a=lost"},
		{"equal calls, one pending before", "u c:a,a r:a,a r:a,a", "u c:a,a r:a=6,a=7"},
		{"empty", "", ""},
	} {
		given := said(tt.given)
		before := told(given)
		got := adk.Repair(given)
		if told(got) != tt.want {
			t.Errorf("%s: %s becomes %s, want %s", tt.what, before, told(got), tt.want)
		}
		if told(given) != before {
			t.Errorf("%s: the argument changed", tt.what)
		}
		if _, err := provider(got); err != nil {
			t.Errorf("%s: %v", tt.what, err)
		}
	}
	// Text beside a response stays, behind it.
	c := said("u c:a/1,b/2 r:b/2 m")
	c[2].Parts = append([]*genai.Part{{Text: "look"}}, c[2].Parts...)
	if got := told(adk.Repair(c)); got != "u c:a,b r:a=lost,b=4 look m" {
		t.Error(got)
	}
}

// TestRepairAnything: what comes out is always valid, all calls and texts are still there with their
// bytes, and what is valid is not touched.
func TestRepairAnything(t *testing.T) {
	words := strings.Fields("u m c:a c:b c:a,a c:a/1 c:a/1,b/2 c:b/2,a/1,c/3 r:a r:b r:a,a r:a/1 r:b/2 r:a/1,b/2 r:c/3,c/3")
	rnd := rand.New(rand.NewPCG(1, 2))
	rest := func(contents []*genai.Content) string {
		var b strings.Builder
		for _, c := range contents {
			for _, p := range c.Parts {
				if p.FunctionResponse == nil {
					text, _ := json.Marshal(p)
					b.Write(text)
				}
			}
		}
		return b.String()
	}
	untouched := 0
	for range 20_000 {
		var w []string
		for range rnd.IntN(9) {
			w = append(w, words[rnd.IntN(len(words))])
		}
		given := said(strings.Join(w, " "))
		got := adk.Repair(given)
		if _, err := provider(got); err != nil {
			t.Fatalf("%s becomes %s: %v", told(given), told(got), err)
		}
		if rest(given) != rest(got) {
			t.Fatalf("%s becomes %s", told(given), told(got))
		}
		if _, err := provider(given); err == nil {
			untouched++
			if len(given) != len(got) || len(given) > 0 && &given[0] != &got[0] {
				t.Fatalf("%s is valid and becomes %s", told(given), told(got))
			}
		}
		if again := adk.Repair(got); len(got) > 0 && &again[0] != &got[0] {
			t.Fatalf("%s is repaired twice", told(given))
		}
	}
	if untouched < 100 {
		t.Errorf("only %d were valid", untouched)
	}
}
