package journal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Alias lets what is recorded under one key, and inside it, go on under another. What
// the new key has already stays; the old key is as if it had never been asked. Neither key
// may be the other or inside it: no writer writes that, and it means nothing.
//
// It is an epoch of the old key: a step that comes there later must not get the idempotency
// key that the one that moved has kept.
func (f *Fold) Alias(key, from string, seq int64) {
	if strings.HasPrefix(key+"/", from+"/") || strings.HasPrefix(from+"/", key+"/") {
		return
	}
	for k := range f.Inside(from) {
		f.move(k, key+k[len(from):], key, from)
	}
	f.move(from, key, key, from)
	f.aliases = append(f.aliases, seq)
	e := f.epochs[from]
	if e.n > 0 {
		f.aliases = append(f.aliases, e.seq) // a compaction counts from there
	}
	f.epochs[from] = epoch{e.n + 1, seq, e.n + 1, seq}
}

func (f *Fold) move(old, now, key, from string) {
	if s := f.Steps[old]; s != nil && f.Steps[now] == nil {
		idem := f.IdempotencyKey(old)
		if s.Map == from || strings.HasPrefix(s.Map, from+"/") {
			s.Map = key + s.Map[len(from):]
		}
		pins := f.pins[old]
		if f.idem[old] == "" {
			pins = f.identity(old, s)
		}
		f.Steps[now] = s
		f.idem[now], f.pins[now] = idem, pins
		if text, failed := f.errs[old]; failed {
			f.errs[now] = text
		}
		if t := f.Trouble[old]; t != nil {
			f.Trouble[now] = t
		}
		if used := f.used[old]; used != nil {
			f.used[now] = used
		}
	}
	if m := f.Maps[old]; m != nil && f.Maps[now] == nil {
		m.Key = now
		f.Maps[now] = m
	}
	if s := f.Saved[old]; s != nil && f.Saved[now] == nil {
		f.Saved[now] = s
	}
	if n, ok := f.Notes[old]; ok && f.Notes[now].Len == 0 {
		f.Notes[now] = n
	}
	f.drop(old)
	f.link(now)
}

// identity returns the numbers of the records that make the idempotency key of a step what
// it is: when the step has moved and began again, nothing else shows where it came from.
func (f *Fold) identity(key string, s *Step) []int64 {
	seqs := []int64{s.First}
	for end := 0; end <= len(key); end++ {
		if end == len(key) || key[end] == '/' {
			if n, seq := f.generation(key, end); n > 0 {
				seqs = append(seqs, seq)
			}
		}
	}
	return seqs
}

// generation returns the number of the epoch of key[:end] that counts for key, and its
// record: one that began the step around alone is none of key's.
func (f *Fold) generation(key string, end int) (n, seq int64) {
	e := f.epochs[key[:end]]
	if end < len(key) {
		return e.whole, e.wholeSeq
	}
	return e.n, e.seq
}

// Has reports whether anything is recorded under key itself.
func (f *Fold) Has(key string) bool {
	_, note := f.Notes[key]
	return note || f.Steps[key] != nil || f.Maps[key] != nil || f.Saved[key] != nil
}

// IdempotencyKey returns the idempotency key of a step: 128 bits, in hexadecimal, of an
// HMAC-SHA256 (RFC 2104) with the run's UID as its key over the step's key and the
// epochs of that key and of the keys around it. It is equal over all tries and starts,
// and another one for every other step, epoch and run. An epoch of a key around it that
// began the step there alone does not count.
func (f *Fold) IdempotencyKey(key string) string {
	if moved := f.idem[key]; moved != "" {
		return moved
	}
	mac := hmac.New(sha256.New, []byte(f.Header.UID))
	mac.Write([]byte(key))
	for end := 0; end <= len(key); end++ {
		if end < len(key) && key[end] != '/' {
			continue
		}
		if n, _ := f.generation(key, end); n > 0 {
			fmt.Fprintf(mac, "\x00%d@%d", n, end)
		}
	}
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// Renewed reports whether the idempotency key of any step comes from more than the step's
// key: something was begun anew, or moved.
func (f *Fold) Renewed() bool { return len(f.epochs) > 0 || len(f.idem) > 0 }
