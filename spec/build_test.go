package spec_test

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"maps"
	"strings"
)

// Everything here is written from journal-v1.md alone and imports nothing of pawl:
// vectors made by the code that they test would prove nothing.

const (
	at  = "2026-12-01T09:30:00.123456Z" // when all records were written
	uid = "0123456789abcdef0123456789abcdef"
)

// sector is the unit in which a power cut loses data (section 1).
const sector = 512

// book is a journal under construction.
type book struct {
	b        []byte
	prev     string // crc of the last record
	seq, dur int    // of the last record; what is known to be durable
	tag      string // what lines end with, in front of the brace
	begins   map[int]int
	ends     map[int]int // by seq: where the record begins, and the offset behind its LF
}

func newBook() *book {
	return &book{prev: "00000000", begins: map[int]int{}, ends: map[int]int{}}
}

// sum is the CRC-32C of section 1, in the form of section 2.
func sum(s string) string {
	return fmt.Sprintf("%08x", crc32.Checksum([]byte(s), crc32.MakeTable(crc32.Castagnoli)))
}

// line makes a line of section 2, without its LF, from the members behind dur.
func line(prev string, seq, dur int, body string) string {
	rest := fmt.Sprintf(`,"prev":"%s","seq":%d,"dur":%d,%s}`, prev, seq, dur, body)
	n := len(`{"crc":"00000000","len":`) + len(rest)
	for digits := 1; ; digits++ { // the length counts its own digits
		if text := fmt.Sprint(n + digits); len(text) == digits {
			return sealed(`"len":` + text + rest)
		}
	}
}

// sealed puts the checksum in front of the rest of a line.
func sealed(rest string) string { return `{"crc":"` + sum(rest) + `",` + rest }

// add appends a record. Its LF must not be at the beginning of a sector (section 7,
// rule 6): there it gets longer.
func (b *book) add(body string) *book {
	if n := len(line(b.prev, b.seq+1, b.dur, body+b.tag)); b.seq > 0 && (len(b.b)+n)%sector == 0 {
		body += `,"pad":""`
	}
	return b.addAnywhere(body)
}

func (b *book) addAnywhere(body string) *book {
	text := line(b.prev, b.seq+1, b.dur, body+b.tag)
	b.seq++
	b.begins[b.seq] = len(b.b)
	b.b = append(b.b, text+"\n"...)
	b.ends[b.seq] = len(b.b)
	b.prev = text[8:16]
	return b
}

// fork returns a copy to go on with differently.
func (b *book) fork() *book {
	c := *b
	c.b, c.begins, c.ends = bytes.Clone(b.b), maps.Clone(b.begins), maps.Clone(b.ends)
	return &c
}

// acked says that a flush succeeded: later records know that this is durable.
func (b *book) acked() *book {
	b.dur = b.seq
	return b
}

// record returns the bytes of record seq with its LF.
func (b *book) record(seq int) []byte { return b.b[b.begins[seq]:b.ends[seq]] }

// file joins parts to a file.
func file(parts ...any) []byte {
	var out []byte
	for _, p := range parts {
		switch p := p.(type) {
		case []byte:
			out = append(out, p...)
		case string:
			out = append(out, p...)
		}
	}
	return out
}

// with returns a copy of b in which c stands in all places from from to to.
func with(b []byte, from, to int, c byte) []byte {
	b = bytes.Clone(b)
	for i := from; i < to; i++ {
		b[i] = c
	}
	return b
}

// filled returns a copy of b, filled ahead with LF up to size.
func filled(b []byte, size int) []byte {
	return file(b, strings.Repeat("\n", size-len(b)))
}

// put replaces old, which must be there once, in a line or file.
func put(b []byte, old, text string) []byte {
	if bytes.Count(b, []byte(old)) != 1 {
		panic(fmt.Sprintf("%q is not there once in %q", old, b))
	}
	return bytes.Replace(b, []byte(old), []byte(text), 1)
}

// kind makes the members of a record without a key; keyed with one, spelled as in
// JSON.
func kind(name string, members ...string) string {
	return strings.Join(append([]string{`"kind":"` + name + `"`, `"at":"` + at + `"`}, members...), ",")
}

func keyed(name, key string, members ...string) string {
	return strings.Join(append([]string{`"kind":"` + name + `"`, `"key":"` + key + `"`, `"at":"` + at + `"`}, members...), ",")
}

// identity is what a run record says of a run.
func identity(format int, id, uid string, inc int) string {
	return fmt.Sprintf(`"format":%d,"id":"%s","uid":"%s","inc":%d`, format, id, uid, inc)
}

func (b *book) attempt(n int) *book {
	return b.add(kind("attempt", fmt.Sprintf(`"n":%d,"host":"example","pid":4711`, n)))
}

func (b *book) start(key string) *book { return b.add(keyed("start", key, `"try":1`)) }

func (b *book) step(key, value string) *book {
	return b.add(keyed("step", key, `"try":1,"us":1200`, `"value":`+value))
}

func (b *book) fail(key string) *book {
	return b.add(keyed("fail", key, `"try":1,"us":1200`, `"error":"the tool is not there"`))
}

func (b *book) complete(value string) *book { return b.add(kind("complete", `"value":`+value)) }

// done is a step from start to the flush that acknowledges it.
func (b *book) done(key, value string) *book { return b.start(key).step(key, value).acked() }

// stepTo appends a step whose record ends, LF included, at the given offset.
func (b *book) stepTo(key string, end int) *book {
	if (end-1)%sector == 0 {
		panic("this record needs another length")
	}
	return b.stepToAnywhere(key, end)
}

func (b *book) stepToAnywhere(key string, end int) *book {
	want := end - len(b.b) - 1
	for n := 0; n >= 0 && n < end; {
		body := keyed("step", key, `"try":1,"us":1200`, `"value":"`+strings.Repeat("o", n)+`"`)
		off := want - len(line(b.prev, b.seq+1, b.dur, body))
		if off == 0 {
			return b.addAnywhere(body)
		}
		n += off
	}
	panic("no step is that long")
}
