package dirstore_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/dirstore"
	"github.com/pawlgo/pawl/internal/inbox"
)

// TestInboxGoesWithTheRun: an inbox is no run, is deleted with its own, and at no crash while that
// is done is the run there without its mail.
func TestInboxGoesWithTheRun(t *testing.T) {
	base := crashfs.New()
	if _, err := firstRun(base); err != nil {
		t.Fatal(err)
	}
	d, err := dirstore.Open(base, storePath, false, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(d.Runs(), "^r%2fx.inbox"); d.Inbox("R/x") != want {
		t.Errorf("%s, want %s", d.Inbox("R/x"), want)
	}
	mail := inbox.Entry{Kind: inbox.KindCancel, UID: "u", At: time.Unix(1, 0)}
	for _, id := range []string{"r", "s", "r.jsonl"} {
		if _, err := inbox.Post(base, d.Inbox(id), mail, quiet); err != nil {
			t.Fatal(err)
		}
	}
	if entries, err := d.Entries(); err != nil || len(entries) != 1 || entries[0].ID != "r" {
		t.Errorf("%+v, %v", entries, err)
	}
	images := 0
	base.After = func(op crashfs.Op) {
		if !op.Kind.Changes() {
			return
		}
		for img, v := range base.Images(crashfs.Limits{}) {
			images++
			_, there := img.Lstat(d.Journal("r"))
			got, err := inbox.Read(img, d.Inbox("r"), "u")
			if err != nil || there == nil && len(got) != 1 {
				t.Errorf("power cut after %v %s (%v): the run %v, mail %v, %v", op.Kind, op.Path, v, there, got, err)
			}
		}
	}
	err = d.Remove("r", quiet)
	base.After = nil
	if err != nil || images == 0 {
		t.Fatalf("%v, %d images", err, images)
	}
	for img, v := range base.Images(crashfs.Limits{}) {
		if _, err := img.Lstat(d.Inbox("r")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("deleted, and after a power cut (%v): %v", v, err)
		}
	}
	if left := strings.Join(base.Files(), " "); strings.Count(left, inbox.Ext) != 2 {
		t.Errorf("left: %s", left)
	}
}
