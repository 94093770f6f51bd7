package crashfs_test

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/vfs"
)

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, f vfs.FS, name string) vfs.File {
	t.Helper()
	h, err := f.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err)
	return h
}

func write(t *testing.T, h vfs.File, text string, off int64) {
	t.Helper()
	_, err := h.WriteAt([]byte(text), off)
	must(t, err)
}

// left returns what may be left of a file, "-" standing for no file.
func left(f *crashfs.FS, name string, l crashfs.Limits) map[string]bool {
	all := map[string]bool{}
	for img := range f.Images(l) {
		if _, err := img.Stat(name); err != nil {
			all["-"] = true
		} else {
			all[string(img.AppendBytes(nil, name))] = true
		}
	}
	return all
}

// want compares what may be left with what is expected, in short: a letter stands for
// a sector of it, 0 for one of NUL.
func want(t *testing.T, what string, got map[string]bool, list ...string) {
	t.Helper()
	expected := map[string]bool{}
	for _, s := range list {
		var b strings.Builder
		for _, c := range s {
			switch c {
			case '-':
				b.WriteByte('-')
			case '0':
				b.WriteString(strings.Repeat("\x00", crashfs.Sector))
			default:
				b.WriteString(strings.Repeat(string(c), crashfs.Sector))
			}
		}
		expected[b.String()] = true
	}
	for s := range got {
		if !expected[s] {
			t.Errorf("%s: unexpected: %d bytes %.40q…", what, len(s), s)
		}
	}
	for s := range expected {
		if !got[s] {
			t.Errorf("%s: missing: %d bytes %.40q…", what, len(s), s)
		}
	}
}

func sectors(s string) string {
	var b strings.Builder
	for _, c := range s {
		b.WriteString(strings.Repeat(string(c), crashfs.Sector))
	}
	return b.String()
}

var plain = crashfs.Limits{Plain: true}

// TestImagesOfAFile enumerates by hand what may be left of small files.
func TestImagesOfAFile(t *testing.T) {
	f := crashfs.New()
	h := create(t, f, "/f")
	write(t, h, sectors("ab"), 0)
	want(t, "new, no name", left(f, "/f", plain), "-", "", "ab", "00", "a0", "0b", "a")
	must(t, f.SyncDir("/"))
	want(t, "new", left(f, "/f", plain), "", "ab", "00", "a0", "0b", "a")
	must(t, h.Sync())
	want(t, "synced", left(f, "/f", plain), "ab")

	write(t, h, sectors("c"), 512)
	want(t, "overwritten", left(f, "/f", plain), "ab", "ac")
	write(t, h, sectors("d"), 512)
	want(t, "overwritten twice", left(f, "/f", plain), "ab", "ac", "ad")
	must(t, h.Sync())
	want(t, "synced again", left(f, "/f", plain), "ad")

	must(t, h.Truncate(512))
	want(t, "truncated", left(f, "/f", plain), "ad", "a", "a0")
	must(t, h.Sync())
	want(t, "truncated and synced", left(f, "/f", plain), "a")
	must(t, f.Remove("/f"))
	want(t, "removed", left(f, "/f", plain), "a", "-")
	must(t, f.SyncDir("/"))
	want(t, "removed and synced", left(f, "/f", plain), "-")
}

// TestCutsInside: cuts inside a sector, and garbage only where something was being
// written: powersafe overwrite.
func TestCutsInside(t *testing.T) {
	f := crashfs.New()
	h := create(t, f, "/f")
	write(t, h, sectors("o"), 0)
	must(t, h.Sync(), f.SyncDir("/"))
	write(t, h, strings.Repeat("n", 100), 200)
	cuts, garbled := 0, 0
	for img, v := range f.Images(crashfs.Limits{}) {
		b := img.AppendBytes(nil, "/f")
		if len(b) != 512 || strings.Trim(string(b[:200])+string(b[300:]), "o") != "" {
			t.Fatalf("%v: bytes that nobody was writing changed: %q", v, b)
		}
		middle := string(b[200:300])
		switch {
		case v.Garbage:
			garbled++
		case strings.TrimLeft(middle, "n") != strings.Repeat("o", 100-len(strings.TrimRight(middle, "o"))):
			t.Errorf("%v: neither old nor new: %q", v, middle)
		case v.Inside:
			cuts++
		}
	}
	if cuts == 0 || garbled == 0 {
		t.Errorf("%d cuts inside, %d with garbage", cuts, garbled)
	}
}

// TestImagesOfNames enumerates what may be left of pending changes of a directory.
func TestImagesOfNames(t *testing.T) {
	f := crashfs.New()
	h := create(t, f, "/temp")
	write(t, h, "x", 0)
	must(t, h.Sync(), f.Rename("/temp", "/name"), f.Link("/name", "/other"))
	got := map[string]bool{}
	for img := range f.Images(plain) {
		got[strings.Join(img.Files(), " ")] = true
	}
	expected := []string{"", "/temp", "/name", "/other", "/name /other", "/other /temp"}
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, slices.Sorted(slices.Values(expected))) {
		t.Errorf("%q", names)
	}
	must(t, f.SyncDir("/"), f.Mkdir("/d", 0o700))
	create(t, f, "/d/f").Close()
	must(t, f.SyncDir("/d")) // of no use without the name of the directory
	want(t, "in a directory without a durable name", left(f, "/d/f", plain), "-", "")
	must(t, f.SyncDir("/"))
	want(t, "in a durable directory", left(f, "/d/f", plain), "")
}

// TestFailedSync: rules 3 and 4. The cache shows what the device never got, the next
// sync returns nil, and only dropping the cache tells.
func TestFailedSync(t *testing.T) {
	f := crashfs.New()
	h := create(t, f, "/f")
	write(t, h, sectors("ab"), 0)
	must(t, h.Sync(), f.SyncDir("/"))
	write(t, h, sectors("cdef"), 0)
	f.Fault = crashfs.Nth(crashfs.Sync, 2, 1, crashfs.Fault{Err: syscall.EIO, Reached: 1})
	if err := h.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if b := f.AppendBytes(nil, "/f"); string(b) != sectors("cdef") {
		t.Errorf("the cache shows %.20q", b)
	}
	must(t, h.Sync())
	want(t, "after the second sync", left(f, "/f", plain), "cb00")
	again := f.Clone()
	h2 := create(t, again, "/f")
	if b := again.AppendBytes(nil, "/f"); string(b) != sectors("cdef") {
		t.Errorf("the cache shows the next process %.20q", b)
	}
	write(t, h2, "Z", 3*512) // dirties what it is in, which then is not dropped
	must(t, h2.DropCache(0))
	if b := again.AppendBytes(nil, "/f"); string(b[:3*512]) != sectors("cde") {
		t.Errorf("a dirty folio was dropped: %.20q", b)
	}
	must(t, h2.Sync(), h2.DropCache(0))
	if b := again.AppendBytes(nil, "/f"); string(b) != sectors("cb")+strings.Repeat("\x00", 512)+"Z"+sectors("f")[1:] {
		t.Errorf("the device has %.20q", b)
	}
	must(t, h.DropCache(1)) // not the folio that byte 0 is in
	if b := f.AppendBytes(nil, "/f"); string(b) != sectors("cdef") {
		t.Errorf("the first folio was dropped: %.20q", b)
	}
}

// TestAgainstBytes compares with a plain slice of bytes: what is read, and, after a
// sync, what is left of it.
func TestAgainstBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	f := crashfs.New()
	h := create(t, f, "/f")
	must(t, f.SyncDir("/"))
	var ref []byte
	for range 600 {
		switch r.IntN(6) {
		case 0:
			size := r.IntN(6000)
			must(t, h.Truncate(int64(size)))
			ref = append(ref[:min(size, len(ref))], make([]byte, max(0, size-len(ref)))...)
		case 1:
			must(t, h.Sync(), h.DropCache(0))
			if got := left(f, "/f", crashfs.Limits{}); len(got) != 1 || !got[string(ref)] {
				t.Fatalf("%d images of a synced file", len(got))
			}
		default:
			off, n := r.IntN(5000), 1+r.IntN(1500)
			text := bytes.Repeat([]byte{byte('a' + r.IntN(26))}, n)
			write(t, h, string(text), int64(off))
			ref = append(ref, make([]byte, max(0, off+n-len(ref)))...)
			copy(ref[off:], text)
		}
		got := make([]byte, len(ref)+10)
		n, _ := h.ReadAt(got, 0)
		if !bytes.Equal(got[:n], ref) {
			t.Fatalf("read %d bytes of %d, or others", n, len(ref))
		}
		if len(ref) == 0 {
			continue
		}
		for img, v := range f.Images(crashfs.Limits{Sectors: 4, Random: 2}) {
			if b := img.AppendBytes(nil, "/f"); len(b) > 7000 {
				t.Fatalf("%v: %d bytes", v, len(b))
			}
		}
	}
}

// TestImagesAreTheirOwn: neither writing to an image or a clone nor writing on changes
// the other; and all is the same the next time.
func TestImagesAreTheirOwn(t *testing.T) {
	story := func() (*crashfs.FS, []uint64) {
		f := crashfs.New()
		h := create(t, f, "/f")
		write(t, h, sectors("abcdefghij"), 0)
		must(t, h.Sync())
		write(t, h, sectors("klm"), 700)
		var hashes []uint64
		for img := range f.Images(crashfs.Limits{Random: 5, Seed: 3}) {
			hashes = append(hashes, img.Hash())
		}
		return f, hashes
	}
	f, first := story()
	_, second := story()
	if !slices.Equal(first, second) {
		t.Error("not deterministic")
	}
	before := f.Hash()
	for _, other := range []*crashfs.FS{f.Clone(), func() *crashfs.FS {
		for img := range f.Images(plain) {
			if len(img.Files()) > 0 {
				return img
			}
		}
		return nil
	}()} {
		h := create(t, other, "/f")
		write(t, h, "changed", 0)
		must(t, h.Sync(), h.Truncate(3), other.Remove("/f"), other.SyncDir("/"))
	}
	if f.Hash() != before {
		t.Error("changed through a copy")
	}
	var again []uint64
	for img := range f.Images(crashfs.Limits{Random: 5, Seed: 3}) {
		again = append(again, img.Hash())
	}
	if !slices.Equal(first, again) {
		t.Error("what may be left changed through a copy")
	}
}
