package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/meter"
)

// maxAnswer bounds what is read of an answer.
const maxAnswer = 16 << 20

// client asks a model behind OpenAI's chat completions. It writes and reads the JSON itself: the types
// of the vendors' packages lose members that they do not know, and encoding/json rewrites a
// json.RawMessage that stands inside another value ("<" becomes "\u003c").
type client struct {
	url, model, key string
	prices          meter.Prices // nil if they are not known
	http            *http.Client
	warn            func(format string, args ...any)
}

// complete returns the message with which the model goes on.
func (c *client) complete(ctx context.Context, msgs []json.RawMessage, tools json.RawMessage) (json.RawMessage, error) {
	body := fmt.Appendf(nil, `{"model":%s,"messages":[%s],"tools":%s}`,
		encode(c.model), bytes.Join(raw(msgs), []byte(",")), tools)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	// A server that knows it does not let a call be paid twice that a crash has cut short.
	req.Header.Set("Idempotency-Key", pawl.IdempotencyKey(ctx))
	res, err := c.http.Do(req)
	if err != nil {
		return nil, &callError{err: err, passes: true}
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if res.StatusCode != http.StatusOK {
		return nil, refused(res, answer)
	}
	if err != nil {
		return nil, &callError{err: fmt.Errorf("the answer was cut off: %w", err), passes: true}
	}
	if err := c.account(ctx, answer); err != nil {
		return nil, err
	}
	return first(answer)
}

// account meters what the answer took, also of one that is no good: it is paid. A server that does not
// tell, or tells nonsense, is no reason to throw its answer away.
func (c *client) account(ctx context.Context, answer []byte) error {
	_, err := meter.Response(ctx, answer, c.prices)
	if errors.Is(err, meter.ErrNoPrice) || errors.Is(err, pawl.ErrInvalid) {
		c.warn("this call is not in the account: %v", err)
		return nil
	}
	return err
}

// first takes the message out of an answer, as it is.
func first(answer []byte) (json.RawMessage, error) {
	var v struct {
		Choices []struct {
			Message json.RawMessage `json:"message"`
			Finish  string          `json:"finish_reason"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(answer, &v); err != nil {
		return nil, &callError{err: fmt.Errorf("the answer is no JSON: %w", err), passes: true}
	}
	if len(v.Choices) == 0 || len(v.Choices[0].Message) == 0 {
		return nil, &callError{err: errors.New("the answer has no message"), passes: true}
	}
	if f := v.Choices[0].Finish; f == "length" || f == "content_filter" {
		return nil, &callError{err: fmt.Errorf("the model stopped early: %s", f)} // the next try would end the same way
	}
	return v.Choices[0].Message, nil
}

// callError says why there is no answer. Pawl waits as long as its RetryAfter says, and so does
// everybody else who uses the same limit.
type callError struct {
	err    error
	passes bool // another try may go well
	after  time.Duration
}

func (e *callError) Error() string             { return e.err.Error() }
func (e *callError) Unwrap() error             { return e.err }
func (e *callError) RetryAfter() time.Duration { return e.after }

// mayPass says which errors are worth another try.
func mayPass(err error) bool {
	e, ok := errors.AsType[*callError](err)
	return !ok || e.passes
}

// refused says what an error response means.
func refused(res *http.Response, body []byte) *callError {
	var v struct{ Error struct{ Message string } }
	json.Unmarshal(body, &v) //nolint:errcheck // then there is no message
	e := &callError{err: fmt.Errorf("%s: %.200s", res.Status, v.Error.Message)}
	switch s := res.StatusCode; {
	case s == http.StatusRequestTimeout, s == http.StatusConflict, s == http.StatusTooManyRequests, s >= 500 && s != http.StatusNotImplemented:
		e.passes = true
	}
	if ms, err := strconv.Atoi(res.Header.Get("retry-after-ms")); err == nil {
		e.after = time.Duration(ms) * time.Millisecond
	} else if s, err := strconv.ParseFloat(res.Header.Get("Retry-After"), 64); err == nil && s < 1e6 {
		e.after = time.Duration(s * float64(time.Second))
	} else if t, err := http.ParseTime(res.Header.Get("Retry-After")); err == nil {
		e.after = time.Until(t)
	}
	return e
}

func raw(msgs []json.RawMessage) [][]byte {
	out := make([][]byte, len(msgs))
	for i, m := range msgs {
		out[i] = m
	}
	return out
}
