package meter

import (
	"reflect"
	"strings"
	"testing"
)

const chatStream = `data: {"object":"chat.completion.chunk","model":"gpt-4o","choices":[{"delta":{"content":"Hi"}}],"usage":null}

data: {"object":"chat.completion.chunk","model":"gpt-4o","choices":[{"delta":{},"finish_reason":"stop"}],"usage":null}

data: {"object":"chat.completion.chunk","model":"gpt-4o","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11,"prompt_tokens_details":{"cached_tokens":4}}}

data: [DONE]

`

const messagesStart = `event: message_start
data: {"type":"message_start","message":{"id":"msg","type":"message","model":"claude","content":[],"stop_reason":null,"usage":{"input_tokens":25,"cache_read_input_tokens":7,"cache_creation_input_tokens":3,"cache_creation":{"ephemeral_1h_input_tokens":3},"output_tokens":1}}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}

`

const messagesStream = messagesStart + `event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":10}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":30,"cache_read_input_tokens":7,"output_tokens":15}}

event: message_stop
data: {"type":"message_stop"}

`

const responsesStream = `event: response.created
data: {"type":"response.created","response":{"object":"response","model":"gpt-5","status":"in_progress","usage":null}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","delta":"Hi"}

event: response.completed
data: {"type":"response.completed","response":{"object":"response","model":"gpt-5","status":"completed","usage":{"input_tokens":37,"input_tokens_details":{"cached_tokens":7},"output_tokens":11,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":48}}}

`

var claudeUsage = Usage{Model: "claude", Input: 30, CachedInput: 7, CacheWrite: 3, LongCacheWrite: 3, Output: 15}

func TestReadUsageStream(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       Usage
	}{
		{"chat", chatStream, Usage{Model: "gpt-4o", Input: 5, CachedInput: 4, Output: 2}},
		{"messages: counts are cumulative", messagesStream, claudeUsage},
		{"responses", responsesStream, Usage{Model: "gpt-5", Input: 30, CachedInput: 7, Output: 11, Reasoning: 5}},
		{"CR LF", strings.ReplaceAll(messagesStream, "\n", "\r\n"), claudeUsage},
		{"CR", strings.ReplaceAll(messagesStream, "\n", "\r"), claudeUsage},
		{"no space, no empty line at the end, byte order mark", "\ufeff" + strings.TrimSpace(strings.ReplaceAll(messagesStream, ": {", ":{")), claudeUsage},
		{"data in several lines", "data: {\"usage\":\ndata: {\"prompt_tokens\":\ndata:\ndata: 3}}\n\n", Usage{Input: 3}},
		{"comments and other fields", ": hello\nid: 7\nretry: 100\nother\n\n" + chatStream, Usage{Model: "gpt-4o", Input: 5, CachedInput: 4, Output: 2}},
		{
			"usage after every chunk", "data: {\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\ndata: {\"usage\":{}}\n\ndata: {\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\n",
			Usage{Input: 3, Output: 2},
		},
		{
			"zeros at the start, zeros at the end",
			`data: {"type":"message_start","message":{"usage":{"input_tokens":0,"output_tokens":0,"cache_read_input_tokens":5}}}` + "\n\n" +
				`data: {"type":"message_delta","usage":{"input_tokens":9,"output_tokens":4,"cache_read_input_tokens":0}}` + "\n\n",
			Usage{Input: 9, CachedInput: 5, Output: 4},
		},
		{
			"compaction",
			messagesStart + `data: {"type":"message_delta","usage":{"output_tokens":15,"iterations":[{"type":"compaction","input_tokens":100,"output_tokens":20},{"type":"message","input_tokens":25,"output_tokens":15}]}}` + "\n\n",
			Usage{Model: "claude", Input: 125, CachedInput: 7, CacheWrite: 3, LongCacheWrite: 3, Output: 35},
		},
		{"one event of a stream", `{"type":"response.incomplete","response":{"model":"m","usage":{"input_tokens":1,"output_tokens":2}}}`, Usage{Model: "m", Input: 1, Output: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ReadUsage([]byte(tt.body))
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, %v\nwant %+v", got, err, tt.want)
			}
		})
	}
}

// TestReadUsageStreamCut: what a stream told before it broke off comes with the error.
func TestReadUsageStreamCut(t *testing.T) {
	start := Usage{Model: "claude", Input: 25, CachedInput: 7, CacheWrite: 3, LongCacheWrite: 3, Output: 1}
	for _, tt := range []struct {
		name, body, want string
		usage            Usage
	}{
		{"before the last usage", messagesStart, "ends before its last usage", start},
		{"within an event", messagesStream[:len(messagesStart)+60], "event 4: $ is not valid JSON", start},
		{"with an error", messagesStart + "event: error\ndata: {\"type\":\"error\",\"error\":{\"message\":\"secret\"}}\n\n", "ends before its last usage", start},
		{"only the first event", strings.TrimPrefix(strings.Split(messagesStart, "\n")[1], "data: "), "ends before its last usage", start},
		{"wrong count at the end", messagesStart + "data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":-1}}", "event 4: $.usage.output_tokens is no whole number", start},
		{"another response follows", messagesStream + messagesStart, "event 7: two message_start events", claudeUsage},
		{"another vendor follows", messagesStream + chatStream, "event 9: usage in the members of two vendors", claudeUsage},
		{"before any usage", "data: {\"model\":\"m\",\"usage\":null}\n\ndata: [DONE]\n\n", "stream_options.include_usage", Usage{}},
		{"an error only", "event: error\ndata: {\"type\":\"error\",\"error\":{}}\n\n", "an error response", Usage{}},
		{"first event broken", "data: {\"secret\n\n" + chatStream, "event 1: $ is not valid JSON", Usage{}},
		{"first event no JSON", "data: secret\n\n" + chatStream, "event 1: $ is not valid JSON, at byte 0", Usage{}},
		{"first event no object", "data: [1]\n\n" + chatStream, "event 1: $ is no object", Usage{}},
		{"no event", "data:\n\n", "no event has usage", Usage{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ReadUsage([]byte(tt.body))
			wantRefusal(t, err, tt.want)
			if strings.Contains(err.Error(), cutHint) != !reflect.DeepEqual(got, Usage{}) {
				t.Errorf("%v with %+v", err, got)
			}
			if !reflect.DeepEqual(got, tt.usage) {
				t.Errorf("got %+v, want %+v", got, tt.usage)
			}
		})
	}
}
