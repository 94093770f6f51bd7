package pawl_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/runs"
)

// fileText returns the bytes of a checkpoint file that fill made.
func fileText[S any](t *testing.T, fill func(ck *pawl.Checkpoint[S]) error, opts ...pawl.FileOption) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.json")
	ck, err := pawl.OpenFile[S](path, opts...)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(fill(ck), ck.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// loaded returns the text of the run's own state.
func loaded(t *testing.T, s *pawl.Store, id string, opts ...pawl.StateOption) string {
	t.Helper()
	var text json.RawMessage
	stop := errors.New("stop")
	_, err := pawl.Do(t.Context(), s, id, func(ctx context.Context) (int, error) {
		st, ok, err := pawl.LoadState[json.RawMessage](ctx, opts...)
		if err != nil || !ok {
			t.Errorf("%v, %v", ok, err)
		}
		text = st
		return 0, stop
	})
	wantErr(t, err, stop)
	return string(text)
}

func TestImportOfACheckpointFile(t *testing.T) {
	s := openStore(t)
	same := func(state []byte) ([]byte, error) { return state, nil }
	data := fileText(t, func(ck *pawl.Checkpoint[map[string]string]) error {
		return errors.Join(ck.Save(map[string]string{"a": "1"}), ck.Save(map[string]string{"text": "é \u2028 \u0085"}))
	}, pawl.Migrate(1, same))
	refuseImport(t, s, bytes.NewReader(data), "", pawl.ErrInvalid) // it does not say which run it is
	id, err := s.Import(t.Context(), bytes.NewReader(data), "r")
	if id != "r" || err != nil {
		t.Fatal(id, err)
	}
	if info := inspect(t, s); info.Status != runs.InProgress || info.Attempts != 0 || info.Records != 2 {
		t.Errorf("%+v", info)
	}
	var got map[string]string
	if err := json.Unmarshal([]byte(loaded(t, s, "r", pawl.Migrate(1, same))), &got); err != nil || got["text"] != "é \u2028 \u0085" || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	// Its schema version came along: a newer one is migrated to, an older one refuses it.
	migrated := loaded(t, s, "r", pawl.Migrate(1, same), pawl.Migrate(2, func([]byte) ([]byte, error) { return []byte(`{"v":3}`), nil }))
	if migrated != `{"v":3}` {
		t.Errorf("migrated to %s", migrated)
	}
	_, err = run(t, s, func(ctx context.Context) (int, error) {
		_, _, err := pawl.LoadState[json.RawMessage](ctx, pawl.Migrate(0, same))
		return 0, err
	})
	wantErr(t, err, pawl.ErrNewerFormat)
	refuseImport(t, s, bytes.NewReader(data), "r", pawl.ErrConflict)
}

func TestImportOfACompleteFile(t *testing.T) {
	s := openStore(t)
	exact := json.RawMessage("{ \"b\": 1.50,\t\"a\": 9007199254740993 }")
	data := fileText(t, func(ck *pawl.Checkpoint[int]) error { return errors.Join(ck.Save(1), ck.Complete(exact)) })
	if _, err := s.Import(t.Context(), bytes.NewReader(data), "r"); err != nil {
		t.Fatal(err)
	}
	v, err := run(t, s, func(context.Context) (json.RawMessage, error) { return nil, errors.New("called") })
	if string(v) != string(exact) || err != nil {
		t.Errorf("%s, %v", v, err)
	}
}

func TestImportOfTheOriginals(t *testing.T) {
	s := openStore(t)
	for i, tt := range []struct{ file, state, result string }{
		{`{"state": {"n": [1, 2.50], "t": "\u00e9"}, "status": "in_progress", "saved_at": 1764586171.25}`, `{"n": [1, 2.50], "t": "\u00e9"}`, ""},
		{`{"state": {"n": 1}, "status": "complete", "result": "done", "saved_at": 1764586171.25, "completed_at": 1764586172.5}`, "", `"done"`},
	} {
		id := string(rune('a' + i))
		if _, err := s.Import(t.Context(), strings.NewReader(tt.file), id); err != nil {
			t.Fatal(err)
		}
		if tt.state != "" {
			if got := loaded(t, s, id); got != tt.state {
				t.Errorf("state %s", got)
			}
			continue
		}
		v, err := pawl.Do(t.Context(), s, id, func(context.Context) (json.RawMessage, error) { return nil, errors.New("called") })
		if string(v) != tt.result || err != nil {
			t.Errorf("%s, %v", v, err)
		}
	}
	p := startPython(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "py.json")
	p.do(t, "save", path, map[string]any{"current_index": 3, "who": "Zoë"})
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Import(t.Context(), bytes.NewReader(text), "python"); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Index int    `json:"current_index"`
		Who   string `json:"who"`
	}
	if err := json.Unmarshal([]byte(loaded(t, s, "python")), &got); err != nil || got.Index != 3 || got.Who != "Zoë" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestImportRefusesWhatIsNoCheckpoint(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s, err := pawl.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	good := fileText(t, func(ck *pawl.Checkpoint[string]) error { return ck.Save("a state") })
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if i == len(good)-1 {
			continue // the newline
		}
		_, err := s.Import(t.Context(), bytes.NewReader(bad), "r")
		if err == nil || !errors.Is(err, pawl.ErrCorrupt) {
			t.Fatalf("changed at byte %d: %v", i, err)
		}
		if i > 0 {
			refuseImport(t, s, bytes.NewReader(good[:i]), "r", pawl.ErrCorrupt)
		}
	}
	for text, want := range map[string]error{
		"":             pawl.ErrCorrupt,
		"[]":           pawl.ErrCorrupt,
		"hello":        pawl.ErrCorrupt,
		`{"a":1}`:      pawl.ErrCorrupt,
		"\xef\xbb\xbf": pawl.ErrCorrupt,
		`{"state":{"x":NaN},"status":"in_progress","saved_at":1}`:                                   pawl.ErrCorrupt,
		`{"state":1,"status":"in_progress","saved_at":1,"pawl":2,"checksum":"crc32c:0","seal":"x"}`: pawl.ErrCorrupt,
		`{"state":1,"status":"in_progress","saved_at":1,"pawl":2}`:                                  pawl.ErrNewerFormat,
	} {
		refuseImport(t, s, strings.NewReader(text), "r", want)
	}
	nothingIn(t, dir)
}

// What the store redacts does not come in by a file either.
func TestImportRedacts(t *testing.T) {
	s, err := pawl.Open(filepath.Join(t.TempDir(), "store"), pawl.Redact(func(s string) string { return strings.ReplaceAll(s, "sk-test-0000", "***") }))
	if err != nil {
		t.Fatal(err)
	}
	data := fileText(t, func(ck *pawl.Checkpoint[[]string]) error { return ck.Save([]string{"key sk-test-0000"}) })
	if _, err := s.Import(t.Context(), bytes.NewReader(data), "r"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(inspect(t, s).Path)
	if err != nil || bytes.Contains(text, []byte("sk-test")) {
		t.Errorf("%s, %v", text, err)
	}
	if got := loaded(t, s, "r"); got != `["key ***"]` {
		t.Errorf("state %s", got)
	}
}
