package limit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/limit"
	"github.com/pawlgo/pawl/pawltest"
	"github.com/pawlgo/pawl/pawltest/fakeopenai"
	"github.com/pawlgo/pawl/retry"
)

const manyRuns = 500

// client asks a model in the simplest way there is.
type client struct {
	url  string
	http http.Client
}

func newClient(t *testing.T, s *fakeopenai.Server) *client {
	t.Helper()
	srv := httptest.NewServer(s)
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		srv.Close()
	})
	return &client{srv.URL + "/v1/chat/completions", http.Client{Transport: transport}}
}

func (c *client) ask(ctx context.Context, prompt string) (string, error) {
	body := fmt.Sprintf(`{"model":"fake","messages":[{"role":"user","content":%q}]}`, prompt)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var answer struct {
		Choices []struct{ Message struct{ Content string } }
		Error   struct{ Message string }
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		return "", err
	}
	if res.StatusCode != http.StatusOK {
		err := fmt.Errorf("%s: %s", res.Status, answer.Error.Message)
		if ms, no := strconv.Atoi(res.Header.Get("Retry-After-Ms")); no == nil {
			return "", retry.After(err, time.Duration(ms)*time.Millisecond)
		}
		if s, no := strconv.Atoi(res.Header.Get("Retry-After")); no == nil {
			return "", retry.After(err, time.Duration(s)*time.Second)
		}
		return "", err
	}
	if len(answer.Choices) != 1 {
		return "", errors.New("no choice")
	}
	return answer.Choices[0].Message.Content, nil
}

// manyRunsAsk lets all runs at once ask for their items, and checks that each was answered.
func manyRunsAsk(t *testing.T, c *client, items int, opts ...pawl.MapOption) (took time.Duration) {
	t.Helper()
	store := pawltest.NewStore(t)
	opts = append(opts, pawl.Parallel(8))
	begin := time.Now()
	var all sync.WaitGroup
	for run := range manyRuns {
		all.Go(func() {
			id := fmt.Sprint("run ", run)
			got, err := pawl.Do(t.Context(), store, id, func(ctx context.Context) ([]string, error) {
				return pawl.Map(ctx, "ask", numbers(items), name, func(ctx context.Context, i int) (string, error) {
					return c.ask(ctx, fmt.Sprint(id, " item ", i))
				}, opts...)
			})
			if err != nil {
				t.Error(err)
				return
			}
			for i, text := range got {
				if text != fmt.Sprint(id, " item ", i) {
					t.Errorf("%s item %d: %q", id, i, text)
				}
			}
		})
	}
	all.Wait()
	return time.Since(begin)
}

// TestManyRuns: 500 runs of 8 items, all at once, ask a service that counts strictly. With a
// limiter a tenth below what the service allows, more than can be under way, it never sees too
// many, in a second or at once, by its own records.
func TestManyRuns(t *testing.T) {
	const items, allowed, atOnce = 8, 1000, 32
	s := fakeopenai.New(fakeopenai.Config{Rate: allowed, Per: time.Second, Concurrent: atOnce, Delay: 5 * time.Millisecond, RetryAfterMS: true})
	c := newClient(t, s)
	l := limit.New(fresh(t), atOnce, limit.PerSecond(allowed*9/10))
	took := manyRunsAsk(t, c, items, l, retry.With(retry.Policy{Tries: 10, Base: time.Millisecond}))
	refused, most := s.Statuses()[http.StatusTooManyRequests], s.MostIn(time.Second)
	t.Logf("took %v: most in a second %d of %d, most at once %d of %d, refused %d of %d", took.Round(time.Millisecond), most, allowed, s.MostAtOnce(), atOnce, refused, len(s.Records()))
	if most > allowed {
		t.Errorf("%d in a second, %d are allowed", most, allowed)
	}
	if refused > 0 {
		t.Errorf("%d refused", refused)
	}
	if n := int64(len(s.Records())); n != manyRuns*items || l.Stats() != (limit.Stats{Started: n}) {
		t.Errorf("%d requests, %+v", n, l.Stats())
	}
}

// TestManyRunsRefused: the limiter allows twice what the service does, which therefore refuses
// and says how long to wait. All hold back then, not only the one who was told: what is refused
// is what was under way, and all runs finish.
func TestManyRunsRefused(t *testing.T) {
	const items, allowed, per = 2, 100, 500 * time.Millisecond
	s := fakeopenai.New(fakeopenai.Config{Rate: allowed, Per: per, RetryAfterMS: true})
	c := newClient(t, s)
	l := limit.New(fresh(t), 16, limit.Per(2*allowed, per))
	took := manyRunsAsk(t, c, items, l, retry.With(retry.Policy{Tries: 20, Base: time.Nanosecond}))

	letIn, refused := 0, 0
	for _, r := range s.Records() {
		if r.Refused {
			refused++
		} else {
			letIn++
		}
	}
	t.Logf("took %v: %d let in, %d refused", took.Round(time.Millisecond), letIn, refused)
	if letIn != manyRuns*items {
		t.Errorf("%d let in, want %d", letIn, manyRuns*items)
	}
	if refused == 0 || refused > letIn/3 { // it is four fifths when only those hold back who were told
		t.Errorf("%d refused", refused)
	}
}
