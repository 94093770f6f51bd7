package pawl_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/pawlgo/pawl"
)

// python is a process that keeps checkpoints by the original's rules.
type python struct {
	in  io.Writer
	out *bufio.Scanner
}

func startPython(t *testing.T, env ...string) *python {
	t.Helper()
	exe, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("SKIPPED: whether Python reads our files and we read Python's is not tested without python3: ", err)
	}
	cmd := exec.Command(exe, filepath.Join("testdata", "level1", "keeper.py"))
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	ckNil(t, err)
	out, err := cmd.StdoutPipe()
	ckNil(t, err)
	ckNil(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	p := &python{in, bufio.NewScanner(out)}
	p.out.Buffer(nil, 1<<24)
	return p
}

// do lets Python do one thing and returns its answer as raw JSON.
func (p *python) do(t *testing.T, args ...any) string {
	t.Helper()
	line, err := json.Marshal(args)
	ckNil(t, err)
	var ascii strings.Builder // for every locale
	for _, r := range utf16.Encode([]rune(string(line))) {
		if r < 0x7f {
			ascii.WriteByte(byte(r))
		} else {
			fmt.Fprintf(&ascii, "\\u%04x", r)
		}
	}
	if _, err := io.WriteString(p.in, ascii.String()+"\n"); err != nil || !p.out.Scan() {
		t.Fatalf("no answer to %.200s: %v %v", line, err, p.out.Err())
	}
	var answer [2]json.RawMessage
	ckNil(t, json.Unmarshal(p.out.Bytes(), &answer))
	if string(answer[0]) != `"ok"` {
		t.Fatalf("%.200s: %s", line, answer[1])
	}
	return string(answer[1])
}

// pythonValues are values that both sides must give back to each other equal.
var pythonValues = []string{
	`{"documents_processed":["a","b"],"current_index":2,"findings":[{"score":0.1,"tags":[]}]}`,
	`{"text":"é \ud83d\ude00 \u2028 \u0085 \u007f \u0000 \" \\ / \ufeff"}`,
	`[1e-07,1e+16,1e+300,-0.5,5e-324,0.30000000000000004,9007199254740993,-123456789012345678901234567890]`,
	`{"1":null,"":true,"nested":{"a":{"b":{"c":[[[[]]]]}}}}`,
	`[]`, `{}`, `0`, `""`, `false`,
}

// equalJSON compares by meaning, with every digit.
func equalJSON(t *testing.T, got, want string) {
	t.Helper()
	dec := func(s string) (v any) {
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		ckNil(t, d.Decode(&v))
		return v
	}
	if !reflect.DeepEqual(dec(got), dec(want)) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A file goes back and forth between the two, at every stage of its life, whatever
// Python takes for the encoding of files.
func TestPythonBothDirections(t *testing.T) {
	for _, tt := range []struct {
		name string
		env  []string
		how  map[string]any // how Python's json.dump writes
	}{
		{"UTF-8", []string{"PYTHONUTF8=1"}, map[string]any{"indent": 1, "ensure_ascii": false}},
		{"C locale", []string{"LC_ALL=C", "PYTHONUTF8=0", "PYTHONCOERCECLOCALE=0"}, map[string]any{"separators": []string{",", ":"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			py := startPython(t, tt.env...)
			for _, v := range pythonValues {
				path := filepath.Join(t.TempDir(), "run.json")
				raw := json.RawMessage(v)

				// Python begins, we go on, Python goes on, we complete it.
				py.do(t, "save", path, raw)
				ck := ckOpen[any](t, path)
				if w := ck.Warnings(); len(w) != 1 || !strings.Contains(w[0], "no checksum") {
					t.Errorf("warnings %q", w)
				}
				state, err := json.Marshal(ck.State())
				ckNil(t, err)
				equalJSON(t, string(state), v)
				if !ck.Resumed() {
					t.Error("not resumed")
				}
				ckNil(t, ck.Save(map[string]any{"by": "pawl", "v": ck.State()}))
				ckNil(t, ck.Close())
				equalJSON(t, py.do(t, "load", path), `{"by":"pawl","v":`+v+`}`)
				if got := py.do(t, "result", path); got != "null" {
					t.Errorf("Python finds the result %s in work that is in progress", got)
				}
				py.do(t, "save", path, raw, tt.how)
				ck = ckOpen[any](t, path)
				state, err = json.Marshal(ck.State())
				ckNil(t, err)
				equalJSON(t, string(state), v)
				ckNil(t, ck.Complete(json.RawMessage(" "+v)))
				ckNil(t, ck.Close())
				equalJSON(t, py.do(t, "result", path), v)
				if got := py.do(t, "load", path); got != "null" {
					t.Errorf("Python finds the state %s in complete work", got)
				}
				checkOriginalMembers(t, py, path)

				// Python completes, we have its result.
				py.do(t, "complete", path, raw)
				ck = ckOpen[any](t, path)
				var result json.RawMessage
				if done, err := ck.Result(&result); !done || err != nil {
					t.Fatalf("done %t, %v", done, err)
				}
				equalJSON(t, string(result), v)
				ckNil(t, ck.Complete(raw)) // equal, whatever the spelling
				ckNil(t, ck.Close())
				equalJSON(t, py.do(t, "result", path), v)
			}
		})
	}
}

func checkOriginalMembers(t *testing.T, py *python, path string) {
	t.Helper()
	var record map[string]json.RawMessage
	ckNil(t, json.Unmarshal([]byte(py.do(t, "get", path)), &record))
	if string(record["status"]) != `"complete"` || string(record["state"]) != "null" || !strings.Contains(string(record["completed_at"]), ".") {
		t.Errorf("Python reads %s", record)
	}
}

// Both use one name for their temporary file at the same time, in vain.
func TestPythonWritesMeanwhile(t *testing.T) {
	py := startPython(t)
	path := filepath.Join(t.TempDir(), "run.json")
	ck := ckOpen[any](t, path)
	ckNil(t, ck.Save(1))
	py.do(t, "save", path, 2) // it does not see the lock
	ckWant(t, ck.Save(3), pawl.ErrReplaced)
	ckWant(t, ck.Clear(), pawl.ErrReplaced)
	if got := py.do(t, "load", path); got != "2" {
		t.Errorf("Python's state is %s", got)
	}
	ckNil(t, ck.Close())
	ck = ckOpen[any](t, path)
	ckNil(t, ck.Save(4))
	if names := ckNames(t, filepath.Dir(path)); len(names) != 1 {
		t.Errorf("there is %q", names)
	}
}

// What Python writes and JSON does not have is refused, with its place, untouched.
func TestC14PythonNaN(t *testing.T) {
	py := startPython(t)
	for expression, want := range map[string]string{
		`{"acc": 0.5, "agree": nan}`:   "offset 32: corrupt: $.state.agree: NaN, which JSON does not have",
		`{"a": [1, {"gain": inf}]}`:    "$.state.a[1].gain: Infinity, which JSON does not have",
		`[-inf]`:                       "offset 11: corrupt: $.state[0]: -Infinity, which JSON does not have",
		`{"text": "half \ud83d pair"}`: "$.state.text: half of a surrogate pair",
		`{"deep": {"key\udc00": 1}}`:   "$.state.deep: half of a surrogate pair",
		`["é", {"b": (1, 2, nan)}]`:    "$.state[1].b[2]: NaN",
		`{"a": 1, 1: 2, "1": 3}`:       `$.state[1]: duplicate member`,
		`"x" * 10 + "\ud800"`:          "$.state: half of a surrogate pair",
		`__import__("functools").reduce(lambda v, _: [v], range(600), 0)`: "nested deeper than 500 levels",
	} {
		path := filepath.Join(t.TempDir(), "run.json")
		py.do(t, "save_python", path, expression)
		refuses(t, path, pawl.ErrCorrupt, want, "nothing was changed")
	}
}
