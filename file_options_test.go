package pawl_test

import (
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

func TestOptionMistakes(t *testing.T) {
	same := func(b []byte) ([]byte, error) { return b, nil }
	for _, tt := range []struct {
		want string
		opts []pawl.FileOption
	}{
		{"KeepVersions needs a number of at least 1", []pawl.FileOption{pawl.KeepVersions(0)}},
		{"FallBack needs a function", []pawl.FileOption{pawl.FallBack(nil)}},
		{"Migrate needs a version of at least 0", []pawl.FileOption{pawl.Migrate(-1, same)}},
		{"Migrate from version 1 has no function", []pawl.FileOption{pawl.Migrate(1, nil)}},
		{"two migrations from version 1", []pawl.FileOption{pawl.Migrate(1, same), pawl.Migrate(1, same)}},
		{"migrations around version 2 and none from it", []pawl.FileOption{pawl.Migrate(1, same), pawl.Migrate(3, same)}},
		{"UnversionedAs needs", []pawl.FileOption{pawl.UnversionedAs(-2)}},
		{"UnversionedAs(3) is outside of what the migrations reach, 1 to 2", []pawl.FileOption{pawl.Migrate(1, same), pawl.UnversionedAs(3)}},
	} {
		path := filepath.Join(t.TempDir(), "sub", "run.json")
		_, err := pawl.OpenFile[int](path, tt.opts...)
		ckWant(t, err, pawl.ErrInvalid, tt.want)
		if names := ckNames(t, filepath.Dir(filepath.Dir(path))); len(names) > 0 {
			t.Errorf("%s: there is %q", tt.want, names)
		}
	}
}

func TestMigrationErrors(t *testing.T) {
	same := func(b []byte) ([]byte, error) { return b, nil }
	at1 := saved(t, 1, pawl.Migrate(0, same))
	boom := errors.New("boom")
	_, err := pawl.OpenFile[cursorState](at1, pawl.Migrate(1, func([]byte) ([]byte, error) { return nil, boom }))
	ckWant(t, err, pawl.ErrMismatch, "migration from schema version 1: boom")
	if !errors.Is(err, boom) {
		t.Error("the cause is not wrapped")
	}
	_, err = pawl.OpenFile[cursorState](at1, pawl.Migrate(1, func([]byte) ([]byte, error) { return []byte("{"), nil }))
	ckWant(t, err, pawl.ErrMismatch, "migration from schema version 1: $: cut off")
	_, err = pawl.OpenFile[cursorState](at1, pawl.Migrate(2, same))
	ckWant(t, err, pawl.ErrMismatch, "schema version 1 and there is no migration from it")

	// A panic in a migration leaves nobody locked out.
	func() {
		defer func() { _ = recover() }()
		_, _ = pawl.OpenFile[cursorState](at1, pawl.Migrate(1, func([]byte) ([]byte, error) { panic("boom") }))
	}()
	// All of them in order, and results are left alone.
	add := func(s string) func([]byte) ([]byte, error) {
		return func(b []byte) ([]byte, error) {
			return []byte(strings.Replace(string(b), `"x"`, `"x","`+s+`"`, 1)), nil
		}
	}
	chain := []pawl.FileOption{pawl.Migrate(2, add("two")), pawl.Migrate(1, add("one"))}
	ck := ckOpen[cursorState](t, at1, chain...)
	if got := strings.Join(ck.State().Notes, " "); got != "x two one" {
		t.Errorf("migrated to %q", got)
	}
	ckNil(t, ck.Complete("x"))
	ckNil(t, ck.Close())
	var result string
	if _, err := ckOpen[cursorState](t, at1, append(chain, pawl.Migrate(3, add("three")))...).Result(&result); err != nil || result != "x" {
		t.Errorf("result %q, %v", result, err)
	}
}

// Saving what is there already writes nothing, unless the file lacks something: its
// checksum, the schema's version, or being there.
func TestUnchangedAndYetWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	ckWrite(t, path, `{"state": 5, "status": "in_progress", "saved_at": 1.5}`)
	ck := ckOpen[int](t, path)
	ckNil(t, ck.Save(5))
	if text := ckRead(t, path); !strings.Contains(text, `"checksum"`) {
		t.Errorf("no checksum was added: %s", text)
	}
	ckNil(t, ck.Close())

	same := func(b []byte) ([]byte, error) { return b, nil }
	ck = ckOpen[int](t, path, pawl.Migrate(1, same), pawl.UnversionedAs(1))
	ckNil(t, ck.Save(5))
	if text := ckRead(t, path); !strings.Contains(text, `"schema":2,`) {
		t.Errorf("no schema was added: %s", text)
	}
	ckNil(t, ck.Clear())
	ckNil(t, ck.Save(5))
	before := ckRead(t, path)
	ckNil(t, ck.Save(5))
	if ckRead(t, path) != before {
		t.Error("an unchanged save wrote")
	}
}

func TestLogger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	ckWrite(t, path, `{"state": 5, "status": "in_progress", "saved_at": 1.5}`)
	var log strings.Builder
	ck := ckOpen[int](t, path, pawl.Logger(slog.New(slog.NewTextHandler(&log, nil))), pawl.Logger(nil))
	if !strings.Contains(log.String(), "level=WARN msg=\"the file has no checksum") || !strings.Contains(log.String(), "path="+path) {
		t.Errorf("the log is %q", log.String())
	}
	if w := ck.Warnings(); len(w) != 1 {
		t.Errorf("warnings %q", w)
	}
}
