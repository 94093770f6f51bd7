// Package llm analyses documents with a model behind any OpenAI-compatible
// chat endpoint.
//
// The model is asked for a summary and for the numbers of the most important
// sentences, so what a report quotes is always the document's own text. An
// answer counts only when it has arrived whole: one that was cut off, by the
// connection or by a limit, is an error and is asked for again.
package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/pawlgo/pawl/examples/research/internal/analysis"
	"github.com/pawlgo/pawl/examples/research/internal/docs"
)

// Config says which model is asked and with how much patience. Only BaseURL
// and Model must be set.
type Config struct {
	BaseURL string // such as https://api.openai.com/v1 or http://localhost:11434/v1
	Model   string
	APIKey  string // empty for a server that wants none

	Timeout  time.Duration // of one request with its whole answer; 2 minutes
	MaxTries int           // of one document; 5
	MaxWait  time.Duration // between two tries; 30 seconds
	MinWait  time.Duration // before the second try, doubled for each more; 500 ms
}

// Client is an [analysis.Analyzer] that asks a model. It is safe for
// concurrent use.
type Client struct {
	cfg   Config
	where string // the endpoint as it may be shown
	chat  openai.ChatCompletionService
}

// New checks the configuration. It does not call the endpoint.
func New(cfg Config) (*Client, error) {
	u, err := url.Parse(cfg.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("endpoint %q is not an http or https URL, such as http://localhost:11434/v1", cfg.BaseURL)
	}
	if cfg.Model == "" {
		return nil, errors.New("an endpoint needs the name of a model")
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, 2*time.Minute)
	cfg.MaxTries = cmp.Or(cfg.MaxTries, 5)
	cfg.MaxWait = cmp.Or(cfg.MaxWait, 30*time.Second)
	cfg.MinWait = cmp.Or(cfg.MinWait, 500*time.Millisecond)
	return &Client{
		cfg:   cfg,
		where: u.Host,
		// The service alone, without the SDK's client around it: that one reads
		// more settings from the environment than the user was told about. The
		// SDK's own retries are off, since they cannot repeat a broken stream.
		chat: openai.NewChatCompletionService(
			option.WithBaseURL(cfg.BaseURL), option.WithAPIKey(cfg.APIKey), option.WithMaxRetries(0),
			option.WithHTTPClient(&http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()})),
	}, nil
}

// Name implements [analysis.Analyzer]. The endpoint is no part of it: the same
// model may be reached by another way the next time.
func (c *Client) Name() string {
	return "summary and choice of sentences by the model " + c.cfg.Model + ", TF-IDF terms (Spärck Jones 1972)"
}

// Analyze implements [analysis.Analyzer]. Requests that failed in a way that
// may pass are repeated within the configured bounds; the error says how often
// and why not again.
func (c *Client) Analyze(ctx context.Context, text docs.Text) (analysis.Analysis, error) {
	a := analysis.Base(c.Name(), text)
	if len(text.Sentences) == 0 {
		return a, nil // nothing to ask about, and nothing to pay for
	}
	prompt, asked := userPrompt(text)
	a.Cut = a.Cut || asked < len(text.Sentences)
	for try := 1; ; try++ {
		err := c.ask(ctx, prompt, func(content string) error { return fill(&a, content, text.Sentences[:asked]) })
		if err == nil {
			return a, nil
		}
		if ctx.Err() != nil {
			return analysis.Analysis{}, ctx.Err()
		}
		failed := &Error{Model: c.cfg.Model, Endpoint: c.where, Tries: try, Err: err}
		wait, again := c.next(try, err, failed)
		if !again {
			return analysis.Analysis{}, failed
		}
		if err := sleep(ctx, wait); err != nil {
			return analysis.Analysis{}, err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
