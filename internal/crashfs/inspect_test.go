package crashfs_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
)

// TestHashTellsApart: file systems that differ in one bit, in the place of a sector,
// in the size, or in a name have different hashes, and equal ones have the same.
func TestHashTellsApart(t *testing.T) {
	seen := map[uint64]string{}
	add := func(what, name string, b []byte) {
		f := crashfs.New()
		f.Put(name, b)
		h := f.Hash()
		if other, ok := seen[h]; ok {
			t.Errorf("%s and %s have the same hash", what, other)
		}
		seen[h] = what
		f = crashfs.New()
		f.Put(name, b)
		if f.Hash() != h {
			t.Errorf("%s has two hashes", what)
		}
	}
	text := []byte(sectors("abca") + "tail")
	for i := range text {
		for bit := range 8 {
			b := bytes.Clone(text)
			b[i] ^= 1 << bit
			add(fmt.Sprint("bit ", bit, " of byte ", i), "/f", b)
		}
	}
	for n := range text {
		add(fmt.Sprint("the first ", n), "/f", text[:n])
	}
	for _, order := range []string{"aabc", "baca", "bcaa", "abcaa", "ab0ca"} {
		add(order, "/f", bytes.ReplaceAll([]byte(sectors(order)), []byte("0"), []byte{0}))
	}
	add("another name", "/g", text)
	add("itself", "/f", text)
	for n := range 50_000 { // as records differ
		add(fmt.Sprint("record ", n), "/f", fmt.Appendf(nil, `{"seq":%d,"dur":%d,"key":"step/%d"}`, n, n/2, n))
	}
}

// TestContent: it is what reads show at that moment, trimmed of fill however that is
// held.
func TestContent(t *testing.T) {
	f := crashfs.New()
	h := create(t, f, "/f")
	for _, c := range []struct {
		text            string
		newlines, blank int64 // sizes without newlines, and without NUL too
	}{
		{"", 0, 0},
		{"\n\n", 0, 0},
		{"a\n", 1, 1},
		{"a\x00\n", 2, 1},
		{sectors("a\n\n"), 512, 512},
		{sectors("a\n\n") + "\n", 512, 512},
		{sectors("a\n\x00\n"), 1536, 512},
		{sectors("\x00\x00"), 1024, 0},
		{sectors("a") + "\x00\n\x00", 515, 512},
	} {
		must(t, h.Truncate(0))
		write(t, h, c.text, 0)
		got := f.Content("/f")
		write(t, h, "changed", 0)
		if b := got.AppendRange(nil, 0, 1<<20); string(b) != c.text || got.Size() != int64(len(c.text)) {
			t.Errorf("%d bytes %.20q, want %.20q", len(b), b, c.text)
		}
		if b := got.AppendRange([]byte("x"), 1, 2); len(c.text) > 1 && string(b) != "x"+c.text[1:2] {
			t.Errorf("a range: %q", b)
		}
		if n, blank := got.TrimFill(false), got.TrimFill(true); n != c.newlines || blank != c.blank {
			t.Errorf("%.20q: trimmed to %d and %d, want %d and %d", c.text, n, blank, c.newlines, c.blank)
		}
	}
	if c := f.Content("/none"); c.Size() != 0 || c.TrimFill(true) != 0 {
		t.Errorf("a file that is not there has %d bytes", c.Size())
	}
}

// TestSizeOfWrites: a fault may depend on how much is written.
func TestSizeOfWrites(t *testing.T) {
	f := crashfs.New()
	h := create(t, f, "/f")
	var sizes []int
	f.After = func(op crashfs.Op) { sizes = append(sizes, op.Size) }
	write(t, h, "12345", 0)
	must(t, h.Sync())
	if len(sizes) != 2 || sizes[0] != 5 || sizes[1] != 0 {
		t.Errorf("sizes %v", sizes)
	}
}
