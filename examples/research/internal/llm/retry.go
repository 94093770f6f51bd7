package llm

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// errTimeout and errCutOff mark answers that did not arrive whole in time.
var (
	errTimeout = errors.New("no whole answer")
	errCutOff  = errors.New("the answer was cut off before its end and is discarded")
)

// Error says that a document could not be analysed by the model.
type Error struct {
	Model, Endpoint string
	Tries           int
	Advice          string // what to do, if more than starting again
	Err             error  // of the last try
}

func (e *Error) Error() string {
	s := fmt.Sprintf("model %s at %s: %v (after %d tries)", e.Model, e.Endpoint, e.Err, e.Tries)
	if e.Tries == 1 {
		s = fmt.Sprintf("model %s at %s: %v", e.Model, e.Endpoint, e.Err)
	}
	if e.Advice != "" {
		s += "; " + e.Advice
	}
	return s
}

// Unwrap returns the last try's error.
func (e *Error) Unwrap() error { return e.Err }

// permanentError is one that another try would not change.
type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }

// statusError is an answer with an HTTP status of 400 or above.
type statusError struct {
	status     int
	retryAfter string // as the server wrote it
	message    string
}

func (e *statusError) Error() string {
	s := fmt.Sprintf("%d %s", e.status, http.StatusText(e.status))
	if e.message != "" {
		s += ": " + e.message
	}
	return s
}

// temporary tells statuses that pass from those that stay.
func (e *statusError) temporary() bool {
	switch e.status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return e.status >= 500 && e.status != http.StatusNotImplemented
}

// next decides about another try after err and how long to wait before it. If
// there is none, it may leave advice in failed.
func (c *Client) next(try int, err error, failed *Error) (wait time.Duration, again bool) {
	if _, ok := errors.AsType[*permanentError](err); ok {
		return 0, false
	}
	se, ok := errors.AsType[*statusError](err)
	if ok && !se.temporary() {
		switch se.status {
		case http.StatusUnauthorized, http.StatusForbidden:
			failed.Advice = "check the API key in OPENAI_API_KEY"
		case http.StatusNotFound:
			failed.Advice = "check the endpoint's path (it mostly ends in /v1) and the model's name"
		}
		return 0, false
	}
	if try >= c.cfg.MaxTries {
		return 0, false
	}
	// Full jitter, so that parallel documents do not come back all at once.
	ceiling := min(c.cfg.MinWait<<min(try-1, 20), c.cfg.MaxWait)
	wait = time.Duration(rand.Int64N(int64(ceiling) + 1))
	if ok {
		if asked, said := parseRetryAfter(se.retryAfter, time.Now()); said {
			if asked > c.cfg.MaxWait {
				// To come back earlier than asked would only make it worse.
				failed.Advice = fmt.Sprintf("the server asks to wait %v, which is too long to sit out here; start again after that",
					asked.Round(time.Second))
				return 0, false
			}
			wait = asked + wait/4
		}
	}
	return wait, true
}

// parseRetryAfter reads the header's two forms (RFC 9110, 10.2.3): seconds, for
// which some servers use fractions, or a date.
func parseRetryAfter(h string, now time.Time) (time.Duration, bool) {
	if s, err := strconv.ParseFloat(h, 64); err == nil && s >= 0 {
		if s > 1e6 {
			s = 1e6 // days; no clock overflows on it
		}
		return time.Duration(s * float64(time.Second)), true
	}
	if t, err := http.ParseTime(h); err == nil {
		return max(t.Sub(now), 0), true
	}
	return 0, false
}
