package fakeopenai

import (
	"slices"
	"time"
)

// Record is what the server noted of a request.
type Record struct {
	At             time.Time
	Key            string // see [Config.Key]
	IdempotencyKey string
	Refused        bool          // it was beyond the rate, or beyond what may be at once
	Status         int           // of the answer; 0 if there was none, or not all of it
	RetryAfter     time.Duration // what an error said of when to come again, not rounded
	AtOnce         int           // how many were worked on when it came, itself included if it was let in
	Effect         bool          // the work was done for it
	Replayed       bool          // the work had been done already, see [Config.Idempotent]
}

// gone makes the record that of a request that got no answer.
func gone(rec *Record) { rec.Status = 0 }

// Records returns what came so far, in the order in which it came, refused or not.
func (s *Server) Records() []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.records)
}

// MostIn returns the most requests that came in any window of time, refused or not.
func (s *Server) MostIn(window time.Duration) int {
	most, from := 0, 0
	all := s.Records()
	for i, rec := range all {
		for rec.At.Sub(all[from].At) >= window {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}

// MostAtOnce returns the most requests that were worked on at once.
func (s *Server) MostAtOnce() int {
	most := 0
	for _, rec := range s.Records() {
		most = max(most, rec.AtOnce)
	}
	return most
}

// Statuses returns how many requests were answered with each status; those under 0 got no
// answer, or not all of it. Those that are still worked on count as 200.
func (s *Server) Statuses() map[int]int {
	m := map[int]int{}
	for _, rec := range s.Records() {
		m[rec.Status]++
	}
	return m
}

// Count returns how many requests with this key were let in.
func (s *Server) Count(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[key]
}

// Effects returns how often the work was done for a request with this key, whether its answer
// arrived or not. More than one is what must not happen to what costs money.
func (s *Server) Effects(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.effects[key]
}
