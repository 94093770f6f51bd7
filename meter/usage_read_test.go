package meter

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

// TestReadUsage: each vendor's counts, in our terms. Made by hand after the API references.
func TestReadUsage(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       Usage
	}{
		{
			"chat completion",
			`{"id":"c","object":"chat.completion","model":"gpt-4o-2024-08-06","choices":[{"message":{"role":"assistant","content":"{\"usage\":1}"}}],
			"usage":{"prompt_tokens":2006,"completion_tokens":300,"total_tokens":2306,
			"prompt_tokens_details":{"cached_tokens":1920,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":128,"audio_tokens":0}}}`,
			Usage{Model: "gpt-4o-2024-08-06", Input: 86, CachedInput: 1920, Output: 300, Reasoning: 128},
		},
		{
			"chat completion, written into the cache",
			`{"model":"m","usage":{"prompt_tokens":2600,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":2000,"cache_write_tokens":400}}}`,
			Usage{Model: "m", Input: 200, CachedInput: 2000, CacheWrite: 400, Output: 1},
		},
		{
			"compatible server without details",
			`{"model":"llama","usage":{"prompt_tokens":7,"completion_tokens":9,"total_tokens":16}}`,
			Usage{Model: "llama", Input: 7, Output: 9},
		},
		{
			"compatible server with null details",
			`{"model":null,"usage":{"prompt_tokens":7,"completion_tokens":9,"prompt_tokens_details":null,"completion_tokens_details":{"reasoning_tokens":null}}}`,
			Usage{Input: 7, Output: 9},
		},
		{
			"usage of zeros",
			`{"model":"m","usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`,
			Usage{Model: "m"},
		},
		{
			"embeddings",
			`{"object":"list","data":[{"embedding":[0.5]}],"model":"e","usage":{"prompt_tokens":8,"total_tokens":8}}`,
			Usage{Model: "e", Input: 8},
		},
		{
			"gateway with the members of several",
			`{"object":"chat.completion","model":"m","usage":{"prompt_tokens":7,"completion_tokens":9,"input_tokens":0,"output_tokens":0,"cache_read_input_tokens":3}}`,
			Usage{Model: "m", Input: 7, Output: 9},
		},
		{
			"reasoning beside the completion, as xAI counts",
			`{"model":"g","usage":{"prompt_tokens":12,"completion_tokens":1,"total_tokens":399,"completion_tokens_details":{"reasoning_tokens":386}}}`,
			Usage{Model: "g", Input: 12, Output: 387, Reasoning: 386},
		},
		{
			"responses",
			`{"object":"response","type":"x","model":"gpt-5.6","error":null,"output":[{"type":"message","content":[]}],
			"usage":{"input_tokens":2600,"input_tokens_details":{"cached_tokens":2000,"cache_write_tokens":400},"output_tokens":300,"output_tokens_details":{"reasoning_tokens":256},"total_tokens":2900}}`,
			Usage{Model: "gpt-5.6", Input: 200, CachedInput: 2000, CacheWrite: 400, Output: 300, Reasoning: 256},
		},
		{
			"responses, failed after some output",
			`{"object":"response","model":"m","status":"failed","error":{"code":"x"},"usage":{"input_tokens":3,"output_tokens":1}}`,
			Usage{Model: "m", Input: 3, Output: 1},
		},
		{
			"images",
			`{"created":1,"data":[],"usage":{"input_tokens":50,"output_tokens":1000,"total_tokens":1050,"input_tokens_details":{"text_tokens":10,"image_tokens":40}}}`,
			Usage{Input: 50, Output: 1000},
		},
		{
			"messages",
			`{"id":"msg","type":"message","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn",
			"usage":{"input_tokens":21,"cache_creation_input_tokens":400,"cache_read_input_tokens":188086,"cache_creation":{"ephemeral_5m_input_tokens":300,"ephemeral_1h_input_tokens":100},
			"output_tokens":393,"output_tokens_details":{"thinking_tokens":93},"server_tool_use":{"web_search_requests":1},"service_tier":"standard"}}`,
			Usage{Model: "claude-sonnet-4-5-20250929", Input: 21, CachedInput: 188086, CacheWrite: 400, LongCacheWrite: 100, Output: 393, Reasoning: 93},
		},
		{
			"messages without a cache",
			`{"type":"message","model":"c","usage":{"input_tokens":25,"output_tokens":15,"cache_read_input_tokens":null}}`,
			Usage{Model: "c", Input: 25, Output: 15},
		},
		{
			"messages without a type: by the cache",
			`{"model":"c","usage":{"input_tokens":25,"output_tokens":15,"cache_read_input_tokens":100}}`,
			Usage{Model: "c", Input: 25, CachedInput: 100, Output: 15},
		},
		{
			"compaction: an iteration beside the counts",
			`{"type":"message","model":"c","usage":{"input_tokens":23000,"output_tokens":1000,"iterations":[
			{"type":"compaction","input_tokens":180000,"output_tokens":3500},{"type":"message","input_tokens":23000,"output_tokens":1000}]}}`,
			Usage{Model: "c", Input: 203000, Output: 4500},
		},
		{
			"advisor: an iteration of another model",
			`{"type":"message","model":"small","usage":{"input_tokens":2,"output_tokens":491,"cache_read_input_tokens":226584,"cache_creation_input_tokens":7853,"iterations":[
			{"type":"message","model":"small","input_tokens":1,"output_tokens":45,"cache_read_input_tokens":109696,"cache_creation_input_tokens":7192},
			{"type":"advisor_message","model":"large","input_tokens":159419,"output_tokens":7805},
			{"type":"advisor_message","model":"large","input_tokens":1,"output_tokens":2},
			{"type":"message","model":"small","input_tokens":1,"output_tokens":446,"cache_read_input_tokens":116888,"cache_creation_input_tokens":661}]}}`,
			Usage{Model: "small", Input: 2, CachedInput: 226584, CacheWrite: 7853, Output: 491, Others: []Usage{{Model: "large", Input: 159420, Output: 7807}}},
		},
		{
			"fallback: declined before and after some output",
			`{"type":"message","model":"third-20260101","usage":{"input_tokens":100,"output_tokens":10,"iterations":[
			{"type":"message","model":"first","input_tokens":100,"output_tokens":0},
			{"type":"message","model":"second","input_tokens":100,"output_tokens":5},
			{"type":"fallback_message","model":"third","input_tokens":100,"output_tokens":10}]}}`,
			Usage{Model: "third-20260101", Input: 100, Output: 10, Others: []Usage{{Model: "second", Input: 100, Output: 5}}},
		},
		{"byte order mark, white space, large", "\ufeff\r\n {\"model\":\"m\",\"usage\":{\"prompt_tokens\":9007199254740992}} \n", Usage{Model: "m", Input: 1 << 53}},
		{"half a character in the text", `{"choices":["\ud83d` + "\xf0\x9f" + `"],"usage":{"prompt_tokens":1}}`, Usage{Input: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ReadUsage([]byte(tt.body))
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, %v\nwant %+v", got, err, tt.want)
			}
		})
	}
}

// TestReadUsageRefuses: what cannot be read says why, and not what was in it.
func TestReadUsageRefuses(t *testing.T) {
	usage := func(text string) string { return `{"model":"secret","usage":{` + text + `}}` }
	for _, tt := range []struct{ name, body, want string }{
		{"nothing", " \n", "empty"},
		{"an array", `[{"usage":{"prompt_tokens":1}}]`, "neither a JSON object nor server-sent events"},
		{"a page", `<html>secret</html>`, "neither a JSON object"},
		{"another object", `{"input_tokens":14}`, "looked for prompt_tokens or completion_tokens (OpenAI"},
		{"Gemini", `{"usageMetadata":{"promptTokenCount":1}}`, "(OpenAI Responses, Anthropic Messages)"},
		{"null usage", `{"usage":null}`, "no usage"},
		{"empty usage", usage(``), "no usage"},
		{"seconds", usage(`"type":"duration","seconds":9`), "no usage"},
		{"null counts", usage(`"prompt_tokens":null`), "no usage"},
		{"an error of OpenAI", `{"error":{"message":"secret","type":"x"}}`, "an error response"},
		{"an error of Anthropic", `{"type":"error","error":{"type":"overloaded_error","message":"secret"}}`, "an error response"},
		{"usage that is no object", `{"usage":7}`, "$.usage is no object"},
		{"a model that is no text", `{"model":7}`, "$.model is no string"},
		{"details that are no object", usage(`"prompt_tokens":1,"prompt_tokens_details":[]`), "$.usage.prompt_tokens_details is no object"},
		{"iterations that are no array", usage(`"input_tokens":1,"iterations":{}`), "$.usage.iterations is no array"},
		{"an iteration that is no object", usage(`"input_tokens":1,"iterations":[null]`), "$.usage.iterations[0] is no object"},
		{"negative", usage(`"prompt_tokens":-1`), "$.usage.prompt_tokens is no whole number from 0 to 2^53"},
		{"fraction", usage(`"prompt_tokens":1.5`), "no whole number"},
		{"float", usage(`"prompt_tokens":1.0`), "no whole number"},
		{"exponent", usage(`"prompt_tokens":1e3`), "no whole number"},
		{"above 2^53", usage(`"prompt_tokens":9007199254740993`), "no whole number"},
		{"above int64", usage(`"prompt_tokens":99999999999999999999`), "no whole number"},
		{"text", usage(`"prompt_tokens":"1"`), "no whole number"},
		{"negative detail", usage(`"prompt_tokens":1,"prompt_tokens_details":{"cached_tokens":-1}`), "$.usage.prompt_tokens_details.cached_tokens is no"},
		{"negative in an iteration", usage(`"input_tokens":1,"iterations":[{"input_tokens":-1}]`), "$.usage.iterations[0].input_tokens is no"},
		{"more cached than read", usage(`"prompt_tokens":5,"prompt_tokens_details":{"cached_tokens":6}`), "prompt_tokens is less than its cached_tokens"},
		{"more reasoned than said", usage(`"output_tokens":5,"output_tokens_details":{"reasoning_tokens":6}`), "output_tokens is less than its reasoning_tokens"},
		{"more thought than said", usage(`"output_tokens":5,"output_tokens_details":{"thinking_tokens":6}`), "output_tokens is less than its thinking_tokens"},
		{"too much together", usage(`"input_tokens":9007199254740992,"iterations":[{"type":"compaction","input_tokens":1}]`), "more than 2^53 together"},
		{"too much written", usage(`"input_tokens":1,"cache_read_input_tokens":1,"cache_creation":{"ephemeral_1h_input_tokens":9007199254740992,"ephemeral_5m_input_tokens":1}`), "more than 2^53"},
		{"two vendors", usage(`"input_tokens":9,"cache_read_input_tokens":1,"input_tokens_details":{"cached_tokens":1}`), "the members of two vendors"},
		{"a member twice", `{"usage":{"prompt_tokens":1},"usage":{"prompt_tokens":2}}`, "has a member twice, at byte"},
		{"a count twice", usage(`"prompt_tokens":1,"prompt_tokens":1`), "has a member twice"},
		{"cut off", `{"model":"secret","usage":{"prompt_to`, "$ is not valid JSON, at byte"},
		{"ends as an array", `{"usage":{"prompt_tokens":1}]`, "$ is not valid JSON, at byte 28"},
		{"a message that is no object", `{"type":"message_start","message":1}`, "$.message is no object"},
		{"two bodies", `{"usage":{"prompt_tokens":1}}{"usage":{"prompt_tokens":2}}`, "something follows"},
		{"half of a stream", `{"type":"message_start","message":`, "not valid JSON"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ReadUsage([]byte(tt.body))
			wantRefusal(t, err, tt.want)
			if !reflect.DeepEqual(got, Usage{}) {
				t.Errorf("got %+v with the error", got)
			}
		})
	}
}

func wantRefusal(t *testing.T, err error, want string) {
	t.Helper()
	if !errors.Is(err, pawl.ErrInvalid) {
		t.Fatalf("got %v, want pawl.ErrInvalid", err)
	}
	if _, ok := errors.AsType[*pawl.RunError](err); !ok {
		t.Errorf("%T is no *pawl.RunError", err)
	}
	if text := err.Error(); !strings.Contains(text, want) || strings.Contains(text, "secret") {
		t.Errorf("got %q, want %q in it and nothing of the body", text, want)
	}
}

// TestReadUsageDeep: a body that nests as deep as it likes is an error, and large ones are
// read without being copied.
func TestReadUsageDeep(t *testing.T) {
	deep := `{"x":` + strings.Repeat(`[`, 1<<20) + strings.Repeat(`]`, 1<<20) + `,"usage":{"prompt_tokens":1}}`
	_, err := ReadUsage([]byte(deep))
	wantRefusal(t, err, "not valid JSON")

	large := []byte(`{"choices":["` + strings.Repeat("x", 16<<20) + `"],"usage":{"prompt_tokens":1}}`)
	n := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if u, err := ReadUsage(large); err != nil || u.Input != 1 {
				b.Fatal(u, err)
			}
		}
	})
	if n.AllocedBytesPerOp() > 1<<16 {
		t.Errorf("%d bytes allocated for a body of %d", n.AllocedBytesPerOp(), len(large))
	}
}
