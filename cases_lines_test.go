package pawl_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

// separators is every character at which some reader of lines splits, and none of them is LF.
const separators = "a\u2028b\u2029c\u0085d\ve\ff\x1cg\x1dh\x1ei\rj"

// countLines counts lines as Python's str.splitlines does.
func countLines(text string) int {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	n := 0
	for _, r := range text {
		if strings.ContainsRune("\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029", r) {
			n++
		}
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// C-19: whatever reads lines finds as many in a file as there are records, at whichever
// characters it splits; and the values are what they were.
func TestC19Lines(t *testing.T) {
	type value struct {
		Text string
		Map  map[string]string
	}
	want := value{separators, map[string]string{separators: separators}}
	raw := json.RawMessage("[ \"a\u2028b\u2029c\u0085d\",\r\n\"\\u000b\\f\\u001c\"]") // not all of them need an escape in JSON
	same := func(where string, v value, err error) {
		t.Helper()
		if err != nil || fmt.Sprint(v) != fmt.Sprint(want) {
			t.Errorf("%s: %q, %v", where, v, err)
		}
	}
	dir := t.TempDir()
	for _, k := range keepers[value](dir) {
		o := k.mustOpen(t)
		ckNil(t, o.save(value{Text: "before"}))
		ckNil(t, o.save(want))
		ckNil(t, o.close())
		o = k.mustOpen(t)
		v, err := o.load()
		same(k.name, v, err)
		ckNil(t, o.close())
	}
	var log bytes.Buffer
	s, err := pawl.Open(filepath.Join(dir, "store"), pawl.Logger(slog.New(slog.NewJSONHandler(&log, nil))))
	ckNil(t, err)
	const id = "run " + separators
	for range 2 {
		_, err := pawl.Do(t.Context(), s, id, func(ctx context.Context) (int, error) {
			v, err := pawl.Step(ctx, separators, func(ctx context.Context) (value, error) { return want, pawl.Note(ctx, want) }, pawl.WithInput(want))
			same("step", v, err)
			r, err := pawl.Step(ctx, "raw", func(context.Context) (json.RawMessage, error) { return raw, nil })
			if err != nil || !bytes.Equal(r, raw) {
				t.Errorf("raw JSON came back as %q, %v", r, err)
			}
			_, err = pawl.Map(ctx, "m"+separators, []string{separators}, func(s string) string { return s }, func(context.Context, string) (int, error) {
				return 0, errors.New("no: " + separators)
			})
			return 0, err
		}, pawl.RunKind(separators), pawl.Label(separators, separators), pawl.RunInput(want))
		if err == nil {
			t.Fatal("no error")
		}
	}
	info := mustInspect(t, s, id)
	if info.Kind != separators || info.Labels[separators] != separators || !strings.Contains(info.Error, separators) {
		t.Errorf("info = %+v", info)
	}
	var exported bytes.Buffer
	ckNil(t, s.Export(t.Context(), id, &exported))
	files := map[string]string{"export": exported.String(), "log": log.String()}
	for name, text := range tree(t, dir) {
		if !strings.HasSuffix(name, "/") {
			_, files[name], _ = strings.Cut(text, " ")
		}
	}
	records := map[string]int{"export": int(info.Records) + 1, "file.json": 1}
	rel, err := filepath.Rel(dir, info.Path)
	ckNil(t, err)
	records[filepath.ToSlash(rel)] = int(info.Records)
	if len(files) < 8 {
		t.Errorf("only %d files", len(files))
	}
	for name, text := range files {
		lf, all := strings.Count(text, "\n"), countLines(text)
		if lf != all || records[name] > 0 && lf != records[name] {
			t.Errorf("%s has %d lines for wc, %d for others, and %d records", name, lf, all, records[name])
		}
		for line := range strings.Lines(text) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: not JSON: %q", name, line)
			}
		}
	}
	t.Run("python", func(t *testing.T) { // the reader that the reports are about
		exe, err := exec.LookPath("python3")
		if err != nil {
			t.Skip("SKIPPED: what str.splitlines makes of our files was not asked without python3: ", err)
		}
		ckWrite(t, filepath.Join(dir, "export"), exported.String())
		const count = "import sys\nfor p in sys.argv[1:]:\n    t = open(p, encoding='utf-8', newline='').read()\n    print(t.count('\\n') - len(t.splitlines()))"
		args := []string{"-c", count}
		for name := range files {
			if name != "log" {
				args = append(args, filepath.Join(dir, name))
			}
		}
		out, err := exec.Command(exe, args...).CombinedOutput()
		if want := strings.Repeat("0\n", len(args)-2); err != nil || string(out) != want {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// C-21: a result of 70,000 bytes, longer than what some readers of lines take, is whole
// wherever runs are looked at or carried to, and nothing that does not show values holds it.
func TestC21LongLine(t *testing.T) {
	s := openStore(t)
	long := strings.Repeat("a", 70_000)
	sizes := []string{"one", "two", long, "four", "five"}
	calls := 0
	work := func(ctx context.Context) (string, error) {
		var sums [][32]byte
		for i, v := range sizes {
			got, err := pawl.Step(ctx, fmt.Sprint(i), func(context.Context) (string, error) { calls++; return v, nil })
			if err != nil {
				return "", err
			}
			sums = append(sums, sha256.Sum256([]byte(got)))
		}
		for i, v := range sizes {
			if sums[i] != sha256.Sum256([]byte(v)) {
				t.Errorf("step %d came back with another sum", i)
			}
		}
		return "", errors.New("once more")
	}
	for range 2 {
		if _, err := run(t, s, work); err == nil || err.Error() != "once more" {
			t.Fatal(err)
		}
	}
	to := imported(t, s)
	if _, err := run(t, to, work); err == nil || err.Error() != "once more" || calls != 5 {
		t.Errorf("the export: %v, %d calls", err, calls)
	}
	for _, s := range []*pawl.Store{s, to} {
		var kinds []string
		for e, err := range s.History(t.Context(), "r") {
			ckNil(t, err)
			if e.Kind == "step" {
				kinds = append(kinds, e.Key)
				if whole := bytes.Contains(e.JSON, []byte(`"`+long+`"`)); whole != (e.Key == "2") {
					t.Errorf("the record of step %s has %d bytes", e.Key, len(e.JSON))
				}
			}
		}
		steps, err := s.Steps(t.Context(), "r")
		if err != nil || len(steps) != 5 || strings.Join(kinds, " ") != "0 1 2 3 4" || steps[2].Size < 70_000 {
			t.Errorf("steps %+v, history %q, %v", steps, kinds, err)
		}
		for info, err := range s.Runs(t.Context()) {
			if err != nil || info.Err != nil || info.Done != 5 {
				t.Errorf("listed as %+v, %v", info, err)
			}
			if strings.Contains(fmt.Sprintf("%+v %+v", info, steps), long[:100]) {
				t.Error("a list holds the value")
			}
		}
	}
	// And in the other places where a value may be.
	for _, k := range keepers[string](t.TempDir()) {
		o := k.mustOpen(t)
		ckNil(t, errors.Join(o.save(long), o.save("short"), o.save(long+"b"), o.close()))
		o = k.mustOpen(t)
		if v, err := o.load(); v != long+"b" || err != nil {
			t.Errorf("%s: %d bytes, %v", k.name, len(v), err)
		}
		ckNil(t, o.close())
	}
}
