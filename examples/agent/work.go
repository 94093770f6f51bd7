package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/limit"
	"github.com/pawlgo/pawl/meter"
)

// input is what a conversation depends on from its beginning. Pawl keeps it with the run: the same
// ID with another one is refused. The tools are part of it, since a program of tomorrow may
// have others than the model was told of.
type input struct {
	Task  string          `json:"task"`
	Model string          `json:"model"`
	Tools json.RawMessage `json:"tools"`
}

// work opens the store and does the run, or goes on with it.
func work(ctx context.Context, set settings, stderr io.Writer, w watch) (answer string, err error) {
	var mu sync.Mutex // tools speak at once
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(stderr, "agent:", set.hideKey(fmt.Sprintf(format, args...)))
	}
	if set.baseURL == "" {
		stop, err := set.play()
		if err != nil {
			return "", err
		}
		defer stop()
	}
	// Errors are recorded, and some servers repeat the key in theirs.
	store, err := pawl.Open(set.store, pawl.Redact(set.hideKey))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, store.Close()) }()

	shop := &shop{refunds: set.refunds}
	a := &agent{
		model: &client{url: strings.TrimSuffix(set.baseURL, "/"), model: set.model, key: set.key, prices: set.prices, http: &http.Client{}, warn: say},
		tools: shop.tools(), turns: set.turns, parallel: set.parallel, say: say, watch: w,
		limit: limit.New(fmt.Sprint(set.baseURL, " ", set.rpm), set.parallel, limit.PerMinute(set.rpm)),
	}
	options := []pawl.RunOption{pawl.RunInput(input{set.task, set.model, definitions(a.tools)}), pawl.RunKind("support")}
	if set.budget > 0 {
		options = append(options, meter.Budget("usd", set.budget))
	}
	answer, err = pawl.Do(ctx, store, set.run, func(ctx context.Context) (string, error) {
		if r := pawl.Resumed(ctx); r.Attempt > 1 {
			say("going on with %s, start %d; %d steps are done, $%.5f is not paid again", set.run, r.Attempt, r.Steps, r.Units["usd"])
		}
		return a.answer(ctx, set.task)
	}, options...)
	if errors.Is(err, pawl.ErrWaiting) {
		return "", errors.Join(err, tell(ctx, store, set, say))
	}
	return answer, err
}

// hideKey keeps the key of the model's server out of all that is recorded.
func (s *settings) hideKey(text string) string {
	if len(s.key) < 8 { // a placeholder, for a server that wants none
		return text
	}
	return strings.ReplaceAll(text, s.key, "[key]")
}

// tell prints what the run waits for, and what to type.
func tell(ctx context.Context, store *pawl.Store, set settings, say func(string, ...any)) error {
	questions, err := store.Questions(ctx, set.run)
	if err != nil {
		return err
	}
	for _, q := range questions {
		say("waits for a person: may I %s", q.Question)
		say("  pawl approve --store %s %s %s", set.store, set.run, q.Key)
	}
	say("what is done is recorded; the same command goes on when that is answered")
	return nil
}
