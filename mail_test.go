package pawl_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/runs"
)

// What lies in a run's inbox is in force: a copy of the run has it, a new run of its name has not.
func TestExportHasTheMail(t *testing.T) {
	s, other := openStore(t), openStore(t)
	ask := func(ctx context.Context) (bool, error) { return pawl.Await[bool](ctx, "ok", "really?") }
	_, err := run(t, s, ask)
	wantErr(t, err, pawl.ErrWaiting)
	ckNil(t, s.Answer(t.Context(), "r", "ok", true, "ann", "it is right"))
	var copied bytes.Buffer
	ckNil(t, s.Export(t.Context(), "r", &copied))
	_, err = other.Import(t.Context(), bytes.NewReader(copied.Bytes()), "")
	ckNil(t, err)
	if v, err := run(t, other, ask); !v || err != nil {
		t.Errorf("the copy: %v, %v", v, err)
	}
	ckNil(t, s.Cancel(t.Context(), "r", "bob", ""))
	copied.Reset()
	ckNil(t, s.Export(t.Context(), "r", &copied))
	other = openStore(t)
	_, err = other.Import(t.Context(), &copied, "copy")
	ckNil(t, err)
	if info := mustInspect(t, other, "copy"); info.Status != runs.Cancelled || info.Cancel.By != "bob" {
		t.Errorf("the copy: %+v", info)
	}
	dir := filepath.Dir(inspect(t, s).Path)
	_, err = s.Clear(t.Context(), "r")
	ckNil(t, err)
	entries, err := os.ReadDir(dir)
	ckNil(t, err)
	for _, e := range entries {
		if e.IsDir() {
			t.Errorf("left: %s", e.Name())
		}
	}
	_, err = run(t, s, ask)
	wantErr(t, err, pawl.ErrWaiting)
}
