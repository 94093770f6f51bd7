package meter

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// What Anthropic counts (API reference: Messages, streaming, prompt caching, compaction; the
// types of its Python library; as of December 2026):
//
//   - input_tokens, cache_read_input_tokens and cache_creation_input_tokens are disjoint.
//     cache_creation says for how long the last were written.
//   - output_tokens is all that was generated, thinking included; output_tokens_details has
//     thinking_tokens, if it is there.
//   - In a stream, message_start has the first counts, and each message_delta has those from
//     the beginning up to there.
//   - iterations has an entry for each sampling. Those of types message and fallback_message
//     are in the counts above as far as they are of the model that the response names; a
//     compaction and an advisor_message are not, and are billed too. A message of another
//     model is one that it declined, which is free if nothing was generated.

// grow takes the counts of one event of a stream. They never fall; servers that imitate the
// format send zeros in one of the events for what they say in the other.
func (r *reader) grow(c counts) {
	if r.counts == nil {
		r.counts = counts{}
	}
	for name, n := range c {
		r.counts[name] = max(r.counts[name], n)
	}
}

// anthropicUsage returns what a response used, all its iterations and their models included.
func anthropicUsage(model string, c counts, iterations jsontext.Value) (Usage, error) {
	u, err := anthropicCounts(c)
	if err != nil || iterations == nil {
		u.Model = model
		return u, err
	}
	u.Model = model
	place := map[string]int{} // of a model in Others
	n := 0
	err = elements("$.usage.iterations", iterations, func(v jsontext.Value) error {
		path := "$.usage.iterations[" + strconv.Itoa(n) + "]"
		n++
		e, err := readEnvelope(path, v)
		if err != nil {
			return err
		}
		c, _, err := readCounts(path, v)
		if err != nil {
			return err
		}
		it, err := anthropicCounts(c)
		if err != nil {
			return err
		}
		own := e.model == "" || sameModel(e.model, model)
		switch e.kind {
		case "message", "fallback_message":
			if own || it.Output == 0 {
				return nil
			}
		}
		// Whatever type comes next: all but those two are outside of the counts above so far,
		// and a budget had better count a token twice than never.
		to := &u
		if !own {
			i, ok := place[e.model]
			if !ok {
				i = len(u.Others)
				place[e.model] = i
				u.Others = append(u.Others, Usage{Model: e.model})
			}
			to = &u.Others[i]
		}
		return to.add(it)
	})
	if err != nil {
		return Usage{}, err
	}
	return u, nil
}

// anthropicCounts reads the counts of a usage object or of an iteration, which are disjoint.
func anthropicCounts(c counts) (Usage, error) {
	long := c["cache_creation.ephemeral_1h_input_tokens"]
	u := Usage{
		Input:       c["input_tokens"],
		CachedInput: c["cache_read_input_tokens"],
		// A message_delta may have the sum only, a server that imitates the format the parts.
		CacheWrite:     max(c["cache_creation_input_tokens"], long+c["cache_creation.ephemeral_5m_input_tokens"]),
		LongCacheWrite: long,
		Output:         c["output_tokens"],
		Reasoning:      c["output_tokens_details.thinking_tokens"],
	}
	if u.Reasoning > u.Output {
		return Usage{}, refuse("output_tokens is less than its thinking_tokens", "")
	}
	if u.CacheWrite > maxCount {
		return Usage{}, refuse("cache_creation is more than 2^53", "")
	}
	return u, nil
}

// add adds the counts of more.
func (u *Usage) add(more Usage) error {
	for _, p := range []struct {
		to   *int64
		more int64
	}{
		{&u.Input, more.Input},
		{&u.CachedInput, more.CachedInput},
		{&u.CacheWrite, more.CacheWrite},
		{&u.LongCacheWrite, more.LongCacheWrite},
		{&u.Output, more.Output},
		{&u.Reasoning, more.Reasoning},
	} {
		if *p.to += p.more; *p.to > maxCount {
			return refuse("the iterations' counts are more than 2^53 together", "")
		}
	}
	return nil
}
