package journal_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// damages are the ways in which the tests damage a journal. Each calls do with every
// damaged copy; it must not keep it.
var damages = []struct {
	name string
	each func(s sample, do func(b []byte, what string))
}{
	{"cut", func(s sample, do func([]byte, string)) {
		for n := range len(s.bytes) {
			do(s.bytes[:n], fmt.Sprintf("cut at %d", n))
		}
	}},
	{"bit", func(s sample, do func([]byte, string)) {
		b := bytes.Clone(s.bytes)
		for i := range len(b) * 8 {
			b[i/8] ^= 1 << (i % 8)
			do(b, fmt.Sprintf("bit %d of byte %d", i%8, i/8))
			b[i/8] ^= 1 << (i % 8)
		}
	}},
	{"byte", func(s sample, do func([]byte, string)) {
		b := bytes.Clone(s.bytes)
		for i := range b {
			for _, c := range []byte{0, '\n', ' ', '}', 0xff} {
				if old := b[i]; old != c {
					b[i] = c
					do(b, fmt.Sprintf("byte %d set to %q", i, c))
					b[i] = old
				}
			}
		}
	}},
	{"sector", func(s sample, do func([]byte, string)) {
		for i := 0; i < len(s.bytes); i += 512 {
			end := min(i+512, len(s.bytes))
			for name, c := range map[string]byte{"NUL": 0, "newlines": '\n', "0xff": 0xff} {
				b := bytes.Clone(s.bytes)
				copy(b[i:end], bytes.Repeat([]byte{c}, end-i))
				do(b, fmt.Sprintf("sector at %d all %s", i, name))
			}
			for k := i + 512; k+512 <= len(s.bytes); k += 512 {
				b := bytes.Clone(s.bytes)
				copy(b[i:], s.bytes[k:k+512])
				copy(b[k:], s.bytes[i:i+512])
				do(b, fmt.Sprintf("sectors at %d and %d swapped", i, k))
			}
			b := bytes.Clone(s.bytes)
			do(slices.Delete(b, i, end), fmt.Sprintf("sector at %d missing", i))
		}
	}},
	{"line", func(s sample, do func([]byte, string)) {
		fill := string(s.bytes[s.ends[len(s.ends)-1]:])
		join := func(lines []string) []byte { return []byte(strings.Join(lines, "\n") + "\n" + fill) }
		for i := range s.lines {
			do(join(slices.Delete(slices.Clone(s.lines), i, i+1)), fmt.Sprintf("line %d dropped", i+1))
			do(join(slices.Insert(slices.Clone(s.lines), i, s.lines[i])), fmt.Sprintf("line %d doubled", i+1))
			do(join(append(slices.Clone(s.lines), s.lines[i])), fmt.Sprintf("line %d once more at the end", i+1))
			for k := i + 1; k < len(s.lines); k++ {
				l := slices.Clone(s.lines)
				l[i], l[k] = l[k], l[i]
				do(join(l), fmt.Sprintf("lines %d and %d swapped", i+1, k+1))
			}
			l := slices.Clone(s.lines)
			l[i] = strings.Replace(l[i], `"kind"`, `"Kind"`, 1)
			do(join(l), fmt.Sprintf("line %d edited", i+1))
			l[i] = s.lines[i][:len(s.lines[i])-2] + "}"
			do(join(l), fmt.Sprintf("line %d edited and shorter", i+1))
		}
	}},
	{"foreign line", func(s sample, do func([]byte, string)) {
		fill := string(s.bytes[s.ends[len(s.ends)-1]:])
		join := func(lines ...[]string) []byte {
			return []byte(strings.Join(slices.Concat(lines...), "\n") + "\n" + fill)
		}
		twin := s.twin()
		for i := range s.lines {
			do(join(s.lines[:i], twin[i:i+1], s.lines[i+1:]), fmt.Sprintf("line %d of another run", i+1))
			do(join(s.lines[:i+1], twin[i+1:]), fmt.Sprintf("lines of another run behind line %d", i+1))
			do(join(s.lines[:i+1], []string{s.forged(i)}, s.lines[i+1:]), fmt.Sprintf("a forged line behind line %d", i+1))
			do(join(s.lines[:i+1], []string{s.forged(i)}), fmt.Sprintf("a forged last line behind line %d", i+1))
		}
	}},
	{"random", func(s sample, do func([]byte, string)) {
		r := rand.New(rand.NewPCG(7, 7))
		for k := range 6000 {
			b := bytes.Clone(s.bytes)
			for range 1 + r.IntN(3) {
				i := r.IntN(len(b))
				n := min(1+r.IntN(60), len(b)-i)
				if r.IntN(8) == 0 {
					n = min(r.IntN(1500), len(b)-i)
				}
				switch r.IntN(6) {
				case 0:
					clear(b[i : i+n])
				case 1:
					copy(b[i:i+n], bytes.Repeat([]byte("\n"), n))
				case 2:
					b = slices.Delete(b, i, i+n)
				case 3:
					b = slices.Insert(b, i, s.bytes[r.IntN(len(s.bytes)-1):][:1]...)
				case 4:
					copy(b[i:], s.bytes[r.IntN(len(s.bytes)):]) // a part moved
				default:
					for j := i; j < i+n; j++ {
						b[j] = byte(r.Uint32())
					}
				}
				if len(b) == 0 {
					b = append(b, 0)
				}
			}
			do(b, fmt.Sprintf("random damage %d", k))
		}
	}},
}
