package pawl_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/runs"
)

func TestInspectFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.json")
	ck, err := pawl.OpenFile[int](file)
	if err != nil {
		t.Fatal(err)
	}
	if err := ck.Save(7); err != nil {
		t.Fatal(err)
	}
	info, err := pawl.InspectFile(file)
	if err != nil || info.Status != runs.InProgress || info.Kind != "file" || info.Records != 1 || info.Owner == nil || info.Updated.IsZero() {
		t.Errorf("open file: %+v, %v", info, err)
	}
	if err := ck.Complete("done"); err != nil {
		t.Fatal(err)
	}
	ck.Close()
	if info, err = pawl.InspectFile(file); err != nil || info.Status != runs.Complete || info.Owner != nil || len(info.Warnings) != 0 {
		t.Errorf("complete file: %+v, %v", info, err)
	}
	original := filepath.Join(dir, "python.json")
	write(t, original, `{"state": {"i": 1}, "status": "in_progress", "saved_at": 1764586171.25}`)
	if info, err = pawl.InspectFile(original); err != nil || len(info.Warnings) != 1 || info.Updated.Year() != 2025 {
		t.Errorf("the original's file: %+v, %v", info, err)
	}
	state := filepath.Join(dir, "s.jsonl")
	js := openState[int](t, state)
	if err := js.Save(1); err != nil {
		t.Fatal(err)
	}
	if info, err = pawl.InspectFile(state); err != nil || info.Kind != "state" || info.ID != "s" || info.Owner == nil || info.Attempts != 1 {
		t.Errorf("state: %+v, %v", info, err)
	}
	s := openStore(t)
	r, err := s.Begin(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if info, err = pawl.InspectFile(inspect(t, s).Path); err != nil || info.ID != "r" || info.Owner == nil {
		t.Errorf("journal of a run: %+v, %v", info, err)
	}
	for name, want := range map[string]error{"none.json": pawl.ErrNotFound, "empty.json": pawl.ErrCorrupt, "empty.jsonl": pawl.ErrCorrupt, "newer.jsonl": pawl.ErrNewerFormat, ".": pawl.ErrInvalid} {
		path := filepath.Join(dir, name)
		switch want {
		case pawl.ErrCorrupt:
			write(t, path, "")
		case pawl.ErrNewerFormat:
			write(t, path, string(newerJournal()))
		}
		_, err := pawl.InspectFile(path)
		wantErr(t, err, want)
	}
	_, err = pawl.InspectFile(filepath.Join(dir, "none.json"))
	wantErr(t, err, fs.ErrNotExist)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
