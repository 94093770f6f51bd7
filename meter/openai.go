package meter

import "fmt"

// What OpenAI counts (API reference: the usage of chat completion and response objects;
// prompt caching guide; as of December 2026):
//
//   - prompt_tokens, input_tokens: all that was read, with what came from the cache
//     (cached_tokens) and what went into it (cache_write_tokens, from GPT-5.6 on). These two
//     are disjoint.
//   - completion_tokens, output_tokens: all that was generated, reasoning_tokens included.
//
// Compatible servers count likewise, but for xAI (guide on consumption and rate limits, same
// date): its completion_tokens leave reasoning_tokens out, its total_tokens do not.

// openAIUsage makes the counts of one usage object disjoint. In and out name the two that the
// other ones are parts of.
func openAIUsage(c counts, in, out string) (Usage, error) {
	u := Usage{
		CachedInput: c[in+"_details.cached_tokens"],
		CacheWrite:  c[in+"_details.cache_write_tokens"],
		Output:      c[out],
		Reasoning:   c[out+"_details.reasoning_tokens"],
	}
	u.Input = c[in] - u.CachedInput - u.CacheWrite
	if u.Input < 0 {
		return Usage{}, refuse(fmt.Sprintf("%s is less than its cached_tokens and cache_write_tokens", in), "")
	}
	if u.Reasoning > 0 && c["total_tokens"] == c[in]+c[out]+u.Reasoning {
		u.Output += u.Reasoning // no more than total_tokens
	}
	if u.Reasoning > u.Output {
		return Usage{}, refuse(fmt.Sprintf("%s is less than its reasoning_tokens", out), "")
	}
	return u, nil
}
