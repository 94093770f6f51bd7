package corpus

import (
	"io/fs"
	"os"
	"strings"
	"testing"
)

// TestCorpus keeps the promises of the README: enough documents, small, and
// with their licence beside them.
func TestCorpus(t *testing.T) {
	n, size := 0, int64(0)
	err := fs.WalkDir(FS(), ".", func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		n++
		size += info.Size()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 60 || size >= 5<<20 {
		t.Errorf("%d documents with %d bytes; want at least 60 and under 5 MB", n, size)
	}
	licence, err := os.ReadFile("COPYRIGHT")
	if err != nil || !strings.Contains(string(licence), "public-domain") {
		t.Errorf("licence: %v", err)
	}
}
