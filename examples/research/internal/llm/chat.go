package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/meter"
)

// maxAnswerBytes bounds an answer; the one asked for has a few hundred bytes.
const maxAnswerBytes = 256 << 10

// ask sends one request, reads the whole streamed answer and gives it to use.
// Whatever keeps the answer from being whole is an error.
func (c *Client) ask(ctx context.Context, prompt string, use func(string) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.cfg.Timeout, errTimeout)
	defer cancel()
	var res *http.Response // set as soon as there is one, also when its body is no proper error
	stream := c.chat.NewStreaming(ctx, openai.ChatCompletionNewParams{
		Model:    c.cfg.Model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(systemPrompt), openai.UserMessage(prompt)},
		// The tokens that it took come in the last chunk then.
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}, option.WithResponseInto(&res))
	defer stream.Close()

	var answer strings.Builder
	finish, used := "", ""
	for stream.Next() {
		if chunk := stream.Current(); chunk.JSON.Usage.Valid() {
			used = chunk.RawJSON()
		}
		for _, choice := range stream.Current().Choices {
			if choice.Index != 0 {
				continue
			}
			answer.WriteString(choice.Delta.Content)
			if choice.FinishReason != "" {
				finish = choice.FinishReason
			}
		}
		if answer.Len() > maxAnswerBytes {
			return &permanentError{fmt.Errorf("the answer is longer than %d KiB", maxAnswerBytes>>10)}
		}
	}
	if err := account(ctx, used); err != nil {
		return err
	}
	if err := stream.Err(); err != nil {
		return c.classify(ctx, res, err)
	}
	switch finish {
	case "stop":
		return use(answer.String())
	case "":
		// The connection ended in good order, but in the middle of the answer.
		return errCutOff
	default: // length, content_filter: the next try would end the same way
		return &permanentError{fmt.Errorf("the model stopped early (finish_reason %q)", finish)}
	}
}

// account meters the tokens that an answer took, by the last part of it that tells them: also
// those of an answer that is no good, for it is paid all the same. Some servers never tell, and
// what one tells wrongly is no reason to throw its answer away.
func account(ctx context.Context, part string) error {
	if part == "" {
		return nil
	}
	_, err := meter.Response(ctx, []byte(part), nil)
	if err == nil || errors.Is(err, pawl.ErrInvalid) || errors.Is(err, pawl.ErrNoRun) { // the client works without a run, too
		return nil
	}
	return &permanentError{err}
}

// classify says what an error of the stream means for the next try.
func (c *Client) classify(ctx context.Context, res *http.Response, err error) error {
	if errors.Is(context.Cause(ctx), errTimeout) {
		return fmt.Errorf("%w after %v", errTimeout, c.cfg.Timeout)
	}
	if res == nil {
		return fmt.Errorf("no answer: %w", err)
	}
	if res.StatusCode < 400 {
		return fmt.Errorf("%w: %w", errCutOff, err)
	}
	se := &statusError{status: res.StatusCode, retryAfter: res.Header.Get("Retry-After")}
	if api, ok := errors.AsType[*openai.Error](err); ok {
		se.message = c.redact(api.Message)
	}
	return se
}

// redact keeps the key out of messages, some servers repeat it, and bounds
// them.
func (c *Client) redact(s string) string {
	if c.cfg.APIKey != "" {
		s = strings.ReplaceAll(s, c.cfg.APIKey, "[key]")
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if r := []rune(s); len(r) > 200 {
		s = string(r[:200]) + "…"
	}
	return s
}
