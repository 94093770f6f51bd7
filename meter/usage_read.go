package meter

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pawlgo/pawl"
)

// ReadUsage returns what a model's response says of its use. The body is that of
//
//   - OpenAI's chat completions, completions and embeddings, and of servers compatible with
//     them, which often leave the details out;
//   - OpenAI's Responses API;
//   - Anthropic's Messages API;
//
// or what any of them streams, as server-sent events; OpenAI's chat completions have usage in
// a stream only if the request said stream_options.include_usage. Which one it is, is told
// from the members that are there. Usage that is all zeros is usage; one that is null or
// missing is an error, for then nobody knows.
//
// Errors match [pawl.ErrInvalid]: a body that is none of these, an error response, JSON that
// is not valid or has a member twice, a count that is no whole number from 0 to 2^53, counts
// that contradict each other. If a stream breaks off, the error comes with the usage that it
// told of up to there; with every other error it is zero. It is safe for concurrent use.
func ReadUsage(body []byte) (Usage, error) {
	u, err := read(body)
	if err == nil {
		return u, nil
	}
	e := &pawl.RunError{Op: "read usage", Err: fmt.Errorf("%w: %w", pawl.ErrInvalid, err)}
	if r, ok := errors.AsType[refusal](err); ok {
		e.Hint = r.hint
	}
	return u, e
}

func read(body []byte) (Usage, error) {
	var r reader
	text := bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\ufeff")), " \t\r\n")
	var err error
	switch {
	case len(text) == 0:
		err = refuse("the response is empty", "")
	case text[0] == '{':
		err = r.response(text)
	case isStream(text):
		err = r.stream(text)
	default:
		err = refuse("neither a JSON object nor server-sent events", "give it the body as it was received, decompressed")
	}
	if err == nil && !r.found {
		err = r.notFound()
	}
	if err == nil && !r.complete {
		err, r.cut = refuse("the stream ends before its last usage", cutHint), true
	}
	if err != nil && !r.cut {
		return Usage{}, err
	}
	u, wrong := r.usage()
	if wrong != nil {
		return Usage{}, wrong
	}
	return u, err
}

const cutHint = "what it told of its use up to there is returned"

// shape is whose members a usage object has.
type shape int

const (
	unknown   shape = iota
	chat            // prompt_tokens and completion_tokens: OpenAI's older APIs and their likes
	responses       // input_tokens and output_tokens, as OpenAI counts them
	messages        // input_tokens and output_tokens, as Anthropic counts them
)

// reader gathers what is needed from one response, or from the events of one.
type reader struct {
	shape      shape
	model      string
	counts     counts         // of the usage object that counts
	iterations jsontext.Value // Anthropic only

	found    bool // a usage object with counts
	streamed bool // events, not one response
	cut      bool // the events broke off, after some usage
	complete bool // the counts are those of the whole response
	failed   bool // an error response, or an error in a stream
	started  bool // Anthropic's message_start
}

// envelope is what is read of a response, or of an event.
type envelope struct {
	kind, object, model      string // kind: member "type"
	usage                    jsontext.Value
	message, response, fault jsontext.Value
}

func readEnvelope(path string, text jsontext.Value) (e envelope, err error) {
	err = members(path, text, func(name string, v jsontext.Value) error {
		switch name {
		case "type":
			return readText(path+".type", v, &e.kind)
		case "object":
			return readText(path+".object", v, &e.object)
		case "model":
			return readText(path+".model", v, &e.model)
		case "usage":
			e.usage = v
		case "message":
			e.message = v
		case "response":
			e.response = v
		case "error":
			e.fault = v
		}
		return nil
	})
	return e, err
}

// response reads one response, or one event, which may hold a response.
func (r *reader) response(text jsontext.Value) error {
	e, err := readEnvelope("$", text)
	if err != nil {
		return err
	}
	path := "$"
	switch {
	case e.kind == "message_start" && e.message != nil:
		if r.started {
			return refuse("two message_start events: more than one response", "give it one at a time")
		}
		r.started = true
		path = "$.message"
		if e, err = readEnvelope(path, e.message); err == nil {
			e.kind = "message_start"
		}
	case strings.HasPrefix(e.kind, "response.") && e.response != nil:
		path = "$.response"
		if e, err = readEnvelope(path, e.response); err == nil {
			e.object = "response"
		}
	}
	if err != nil {
		return err
	}
	r.failed = r.failed || e.fault != nil || e.kind == "error"
	if e.model != "" && !r.found { // one model answers; a second response is refused below
		r.model = e.model
	}
	if e.usage == nil {
		return nil
	}
	c, iterations, err := readCounts(path+".usage", e.usage)
	if err != nil {
		return err
	}
	s, err := shapeOf(e, c, iterations != nil)
	if err != nil || s == unknown {
		return err
	}
	if r.found && s != r.shape {
		return refuse("usage in the members of two vendors", "give it one response at a time")
	}
	r.shape, r.found = s, true
	if s == messages {
		r.grow(c)
		if iterations != nil {
			r.iterations = iterations
		}
		r.complete = e.kind != "message_start"
		return nil
	}
	// Servers that report after every chunk (vLLM's continuous_usage_stats) count from the
	// beginning each time: the last one is of the whole.
	r.counts, r.complete = c, true
	return nil
}

// shapeOf tells from its members whose usage it is.
func shapeOf(e envelope, c counts, iterations bool) (shape, error) {
	switch {
	case c.has("prompt_tokens", "completion_tokens"):
		// Gateways add members of other vendors to these; the details beside them are as
		// OpenAI's.
		return chat, nil
	case !c.has("input_tokens", "output_tokens"):
		return unknown, nil
	case e.object == "response":
		return responses, nil
	case e.kind == "message", e.kind == "message_start", e.kind == "message_delta":
		return messages, nil
	}
	// An excerpt, or a server that leaves out what it is. The two count alike as long as no
	// cache and no details are involved.
	openAI := c["input_tokens_details.cached_tokens"]+c["input_tokens_details.cache_write_tokens"] > 0
	anthropic := iterations || c["output_tokens_details.thinking_tokens"] > 0 ||
		c["cache_read_input_tokens"]+c["cache_creation_input_tokens"] > 0
	switch {
	case openAI && anthropic:
		return unknown, refuse("usage has the members of two vendors, and nothing says which counts", `"object": "response" would be OpenAI's, "type": "message" Anthropic's`)
	case anthropic:
		return messages, nil
	}
	return responses, nil
}

// usage returns what was read, in our terms.
func (r *reader) usage() (u Usage, err error) {
	switch r.shape {
	case chat:
		u, err = openAIUsage(r.counts, "prompt_tokens", "completion_tokens")
	case responses:
		u, err = openAIUsage(r.counts, "input_tokens", "output_tokens")
	default:
		return anthropicUsage(r.model, r.counts, r.iterations)
	}
	if err != nil {
		return Usage{}, err
	}
	u.Model = r.model
	return u, nil
}

// notFound says what was looked for.
func (r *reader) notFound() error {
	switch {
	case r.failed:
		return refuse("an error response, without usage", "")
	case r.streamed:
		return refuse("no event has usage: looked for "+lookedFor, "OpenAI's chat completions send it if the request says stream_options.include_usage")
	}
	return refuse("no usage: looked for "+lookedFor, "")
}

const lookedFor = `prompt_tokens or completion_tokens (OpenAI chat completions, embeddings) and input_tokens or output_tokens (OpenAI Responses, Anthropic Messages) in the member "usage"`

// refusal says why a body cannot be read. It holds nothing of the body.
type refusal struct{ what, hint string }

func (r refusal) Error() string { return r.what }

func refuse(what, hint string) error { return refusal{what, hint} }
