package fakeopenai

import (
	"cmp"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Config says how a [Server] behaves. The zero Config answers every request at once with [Echo].
type Config struct {
	// Answer says what to reply to a request that was let in; nil is [Echo]. It is called from
	// several goroutines at once. It is where work is done: see [Server.Effects].
	Answer func(Request) Reply
	// Key names what a request is about, to count it by; nil is the last message of the user.
	Key func(Request) string

	// Rate bounds how many requests are let in, in any window of Per; 0 is no bound. What is
	// refused does not count. A Per of 0 is a minute.
	Rate int
	Per  time.Duration
	// Concurrent bounds how many requests are worked on at once; 0 is no bound.
	Concurrent int
	// RetryAfter is what a request is told that is refused because of Concurrent; 0 is a second.
	// One that is refused because of Rate is told when there is room again.
	RetryAfter time.Duration
	// RetryAfterMS adds the header retry-after-ms to Retry-After, which has whole seconds.
	RetryAfterMS bool

	// Delay is how long the work on each request takes, in addition to [Reply.Delay].
	Delay time.Duration
	// Idempotent makes requests that have the same header Idempotency-Key one: the work is
	// done once, and each gets the same answer. A request that failed was none. The same
	// key with another body is an error, 400.
	Idempotent bool
}

// Server is an [http.Handler], to be served by httptest.NewServer. It is safe for concurrent
// use, and so are its counts while it serves.
type Server struct {
	c    Config
	last atomic.Int64 // number of the last request, for IDs

	mu      sync.Mutex
	records []Record
	recent  []time.Time // when those came who were let in within Per
	running int
	seen    map[string]int // let in, by key
	effects map[string]int // by key
	kept    map[string]*kept
}

// New returns a server.
func New(c Config) *Server {
	if c.Answer == nil {
		c.Answer = Echo
	}
	c.Per, c.RetryAfter = cmp.Or(c.Per, time.Minute), cmp.Or(c.RetryAfter, time.Second)
	return &Server{c: c, seen: map[string]int{}, effects: map[string]int{}, kept: map[string]*kept{}}
}

// ServeHTTP answers a request. It aborts by panic([http.ErrAbortHandler]) where a reply says
// so, which a real server turns into a closed connection.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := s.last.Add(1)
	w.Header().Set("X-Request-Id", fmt.Sprint("req_", id))
	if r.URL.Path != "/v1/chat/completions" {
		fail(w, http.StatusNotFound, "there is nothing at "+r.URL.Path+", only /v1/chat/completions")
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		fail(w, http.StatusMethodNotAllowed, "the method is POST, not "+r.Method)
		return
	}
	req, err := read(w, r)
	if err == nil && s.c.Key != nil {
		req.Key = s.c.Key(req)
	}
	v := s.arrive(&req, err)
	if v.refused {
		s.refuse(w, v)
		return
	}
	defer v.leave()
	if s.c.Rate > 0 {
		s.tellLimits(w, v)
	}
	if err != nil {
		v.leave()
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	s.reply(w, r, req, v, id)
}

// visit is a request on its way through the server.
type visit struct {
	record  int // its place in the records
	refused bool
	why     string
	wait    time.Duration // until it may come again
	room    int           // how many more may come now
	reset   time.Duration // until as many may come as ever
	leave   func()        // makes room; before the end of the answer, which lets the client come again
}

// arrive lets a request in or not, and makes its record.
func (s *Server) arrive(req *Request, wrong error) visit {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for len(s.recent) > 0 && now.Sub(s.recent[0]) >= s.c.Per {
		s.recent = s.recent[1:]
	}
	v := visit{record: len(s.records), leave: sync.OnceFunc(s.leave)}
	switch {
	case s.c.Concurrent > 0 && s.running >= s.c.Concurrent:
		v.refused, v.wait, v.why = true, s.c.RetryAfter, fmt.Sprintf("%d requests are worked on, which is as many as there may be at once", s.running)
	case s.c.Rate > 0 && len(s.recent) >= s.c.Rate:
		v.refused, v.wait = true, s.recent[len(s.recent)-s.c.Rate].Add(s.c.Per).Sub(now)
		v.why = fmt.Sprintf("rate limit reached: %d requests in %v", s.c.Rate, s.c.Per)
	default:
		s.running++
		if s.c.Rate > 0 {
			s.recent = append(s.recent, now)
		}
	}
	v.room = s.c.Rate - len(s.recent)
	if n := len(s.recent); n > 0 {
		v.reset = s.recent[n-1].Add(s.c.Per).Sub(now)
	}
	rec := Record{At: now, Key: req.Key, Refused: v.refused, RetryAfter: v.wait, AtOnce: s.running, Status: http.StatusOK}
	switch {
	case v.refused:
		rec.Status = http.StatusTooManyRequests
	case wrong != nil:
		rec.Status = http.StatusBadRequest
	default:
		s.seen[req.Key]++
		req.Nth = s.seen[req.Key]
	}
	if req.Header != nil {
		rec.IdempotencyKey = req.Header.Get("Idempotency-Key")
	}
	s.records = append(s.records, rec)
	return v
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
}

// note changes the record of a request.
func (s *Server) note(v visit, change func(*Record)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.records[v.record])
}

func (s *Server) refuse(w http.ResponseWriter, v visit) {
	s.tellLimits(w, v)
	s.retryAfter(w, v.wait)
	fail(w, http.StatusTooManyRequests, v.why)
}

// tellLimits sets the headers by which a client can pace itself.
func (s *Server) tellLimits(w http.ResponseWriter, v visit) {
	if s.c.Rate > 0 {
		w.Header().Set("X-Ratelimit-Limit-Requests", fmt.Sprint(s.c.Rate))
		w.Header().Set("X-Ratelimit-Remaining-Requests", fmt.Sprint(v.room))
		w.Header().Set("X-Ratelimit-Reset-Requests", v.reset.Round(time.Millisecond).String())
	}
}

// retryAfter says when to come again: in whole seconds (RFC 9110, 10.2.3), rounded up, since a
// client that comes a little too early is refused again.
func (s *Server) retryAfter(w http.ResponseWriter, d time.Duration) {
	w.Header().Set("Retry-After", fmt.Sprint(int64((d+time.Second-1)/time.Second)))
	if s.c.RetryAfterMS {
		w.Header().Set("Retry-After-Ms", fmt.Sprint(int64((d+time.Millisecond-1)/time.Millisecond)))
	}
}
