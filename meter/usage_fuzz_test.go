package meter

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/pawlgo/pawl"
)

// FuzzReadUsage: whatever a server sends, there is usage that can be metered, or an error.
func FuzzReadUsage(f *testing.F) {
	for _, s := range []string{
		chatStream, messagesStream, responsesStream, messagesStart,
		`{"model":"m","usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":1},"completion_tokens_details":{"reasoning_tokens":1}}}`,
		`{"object":"response","usage":{"input_tokens":9,"output_tokens":2,"input_tokens_details":{"cached_tokens":4}}}`,
		`{"type":"message","model":"a","usage":{"input_tokens":9007199254740992,"cache_creation":{"ephemeral_1h_input_tokens":3},"output_tokens":2,"iterations":[{"type":"compaction","input_tokens":1},{"type":"advisor_message","model":"b","output_tokens":1}]}}`,
		`{"usage":{"prompt_tokens":-1}}`, `{"usage":{"prompt_tokens":1,"prompt_tokens":1}}`, "data: {\ndata: }\r\r: x",
	} {
		f.Add([]byte(s))
	}
	prices := Prices{"*": {Input: 1, Output: 2}}
	f.Fuzz(func(t *testing.T, body []byte) {
		kept := string(body)
		u, err := ReadUsage(body)
		if string(body) != kept {
			t.Fatal("the body was changed")
		}
		if err != nil && !errors.Is(err, pawl.ErrInvalid) {
			t.Fatalf("%v is not pawl.ErrInvalid", err)
		}
		for _, u := range append([]Usage{u}, u.Others...) {
			for _, n := range []int64{u.Input, u.CachedInput, u.CacheWrite, u.Output, u.LongCacheWrite, u.Reasoning} {
				if n < 0 || n > maxCount {
					t.Fatalf("%+v", u)
				}
			}
			if u.LongCacheWrite > u.CacheWrite || u.Reasoning > u.Output {
				t.Fatalf("a part is more than the whole: %+v", u)
			}
		}
		if usd, known := prices.Cost(u); !known || !(usd >= 0) || math.IsInf(usd, 1) {
			t.Fatalf("%+v costs %v, %v", u, usd, known)
		}
		if again, _ := ReadUsage(body); !reflect.DeepEqual(again, u) {
			t.Fatalf("%+v, then %+v", u, again)
		}
	})
}
