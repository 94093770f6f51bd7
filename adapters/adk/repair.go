package adk

import (
	"slices"

	"google.golang.org/genai"
)

// interruptedResponse is what a model is told of a call whose response is nowhere.
const interruptedResponse = "no response to this call was recorded: the process ended while it ran, or it has not ended yet. It may have had its effect; find out before you call it again."

// Repair returns a transcript in which every function call has exactly one response: the
// content right behind the calls has theirs, in the order of the calls, and no content has a response
// without a call. Providers refuse everything else, for good once such a transcript is stored.
//
// A call without a response, which is what a death leaves behind, gets one that says so. Of
// several responses to one call the last counts. Responses belong to the nearest calls before them,
// by name and ID, or by name and order where an ID is missing: IDs that a later turn uses again do no harm.
// Everything else stays where it is and what it is; contents is not changed, and it is returned
// itself if nothing is wrong with it.
func Repair(contents []*genai.Content) []*genai.Content {
	if valid(contents) {
		return contents
	}
	var out []*genai.Content
	for i := 0; i < len(contents); {
		c := contents[i]
		i++
		calls := callsOf(c)
		if len(calls) == 0 {
			if c = without(c); c != nil {
				out = append(out, c)
			}
			continue
		}
		// The responses may stand in any content up to the next calls.
		end := i
		for end < len(contents) && len(callsOf(contents[end])) == 0 {
			end++
		}
		out = append(out, withoutResponses(c), answers(calls, contents[i:end]))
		for _, rest := range contents[i:end] {
			if rest = without(rest); rest != nil {
				out = append(out, rest)
			}
		}
		i = end
	}
	return out
}

func callsOf(c *genai.Content) (calls []*genai.FunctionCall) {
	if c == nil {
		return nil
	}
	for _, p := range c.Parts {
		if p != nil && p.FunctionCall != nil {
			calls = append(calls, p.FunctionCall)
		}
	}
	return calls
}

func isResponse(p *genai.Part) bool { return p != nil && p.FunctionResponse != nil }

// valid reports whether nothing is to be done.
func valid(contents []*genai.Content) bool {
	var open []*genai.FunctionCall // of the content before
	for _, c := range contents {
		calls := callsOf(c)
		n := 0
		for _, p := range partsOf(c) {
			if !isResponse(p) {
				continue
			}
			if n >= len(open) || open[n].ID != p.FunctionResponse.ID || open[n].Name != p.FunctionResponse.Name {
				return false
			}
			n++
		}
		if n != len(open) || n > 0 && len(calls) > 0 {
			return false
		}
		open = calls
	}
	return len(open) == 0
}

func partsOf(c *genai.Content) []*genai.Part {
	if c == nil {
		return nil
	}
	return c.Parts
}

// fits reports whether a response can be that of a call.
func fits(call *genai.FunctionCall, r *genai.FunctionResponse) bool {
	if call.ID != "" && r.ID != "" && call.ID != r.ID {
		return false
	}
	return call.Name == r.Name
}

// answers returns the content that stands behind calls.
func answers(calls []*genai.FunctionCall, behind []*genai.Content) *genai.Content {
	var found []*genai.Part
	for _, c := range behind {
		for _, p := range partsOf(c) {
			if isResponse(p) {
				found = append(found, p)
			}
		}
	}
	out := &genai.Content{Role: genai.RoleUser}
	for i, call := range calls {
		// Those of equal calls come in their order; the last ones, if there are too many.
		alike, before := 0, 0
		for j, other := range calls {
			if other.ID == call.ID && (call.ID != "" || other.Name == call.Name) {
				alike++
				if j < i {
					before++
				}
			}
		}
		var fitting []*genai.Part
		for _, p := range found {
			if fits(call, p.FunctionResponse) {
				fitting = append(fitting, p)
			}
		}
		at := before + max(0, len(fitting)-alike)
		if at < len(fitting) {
			p := fitting[at]
			if r := *p.FunctionResponse; r.ID != call.ID {
				named := *p
				r.ID, named.FunctionResponse = call.ID, &r
				p = &named
			}
			out.Parts = append(out.Parts, p)
			continue
		}
		out.Parts = append(out.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{
			ID: call.ID, Name: call.Name, Response: map[string]any{"error": interruptedResponse},
		}})
	}
	return out
}

// withoutResponses returns c without its responses.
func withoutResponses(c *genai.Content) *genai.Content {
	if !slices.ContainsFunc(partsOf(c), isResponse) {
		return c
	}
	copied := *c
	copied.Parts = slices.DeleteFunc(slices.Clone(c.Parts), isResponse)
	return &copied
}

// without is withoutResponses, and nil if nothing else was in c.
func without(c *genai.Content) *genai.Content {
	rest := withoutResponses(c)
	if rest != c && len(rest.Parts) == 0 {
		return nil
	}
	return rest
}
