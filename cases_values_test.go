package pawl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

// C-14: what is refused leaves the generation before it as it is, and the next save is the
// next generation.
func TestC14RefusedSaveIsNoGeneration(t *testing.T) {
	for _, k := range keepers[map[string]float64](t.TempDir()) {
		t.Run(k.name, func(t *testing.T) {
			o := k.mustOpen(t)
			for i := range 3 {
				ckNil(t, o.save(map[string]float64{"acc": float64(i)}))
			}
			for _, bad := range []struct {
				place string
				value map[string]float64
			}{
				{"$.agree", map[string]float64{"acc": 0.5, "agree": math.NaN()}},
				{"$.gain", map[string]float64{"acc": 0.5, "gain": math.Inf(1)}},
				{"$.loss", map[string]float64{"acc": 0.5, "loss": math.Inf(-1)}},
			} {
				before := ckRead(t, k.path)
				wantSays(t, o.save(bad.value), pawl.ErrInvalid, bad.place)
				if ckRead(t, k.path) != before {
					t.Errorf("%s: the file was changed", bad.place)
				}
				if v, err := o.load(); err != nil || len(v) != 1 || v["acc"] != 2 {
					t.Errorf("%s: state %v, %v", bad.place, v, err)
				}
				ckNil(t, o.close()) // and for whoever opens it next
				o = k.mustOpen(t)
				if v, err := o.load(); err != nil || len(v) != 1 || v["acc"] != 2 || k.saves(t) != 3 {
					t.Errorf("%s: opened again: state %v, %v, %d saves", bad.place, v, err, k.saves(t))
				}
			}
			ckNil(t, o.save(map[string]float64{"acc": 0.5, "agree": 1}))
			ckNil(t, o.close())
			if n := k.saves(t); n != 4 {
				t.Errorf("the save behind the refused ones is number %d", n)
			}
			o = k.mustOpen(t)
			defer o.close() //nolint:errcheck // nothing was written
			if v, err := o.load(); err != nil || v["agree"] != 1 {
				t.Errorf("state %v, %v", v, err)
			}
		})
	}
}

const bigIntegers = `{"id":9007199254740993,"max":18446744073709551615,"neg":-9223372036854775808}`

func init() {
	children["digits"] = func() error {
		for _, k := range keepers[any](os.Getenv("K_DIR")) {
			o, err := k.open()
			if err != nil {
				return err
			}
			v, err := o.load()
			if err != nil {
				return err
			}
			if v == nil {
				v = map[string]any{"id": int64(9007199254740993), "max": uint64(math.MaxUint64), "neg": int64(math.MinInt64)}
			}
			text, err := json.Marshal(v)
			if err != nil {
				return err
			}
			fmt.Println(k.name, string(text))
			// Saved once more, in another shape: equal states are not written.
			if err := o.save([]any{v}); err != nil {
				return err
			}
			if err := o.save(v); err != nil {
				return err
			}
		}
		s, err := pawl.Open(filepath.Join(os.Getenv("K_DIR"), "steps"))
		if err != nil {
			return err
		}
		_, err = pawl.Do(context.Background(), s, "r", func(ctx context.Context) (int, error) {
			var v any
			for i := range 3 { // each start records what the one before it recorded
				v, err = pawl.Step(ctx, fmt.Sprint(i), func(context.Context) (any, error) {
					if v == nil {
						return json.RawMessage(bigIntegers), nil
					}
					defer die()
					return v, nil
				})
				if err != nil {
					return 0, err
				}
				text, err := json.Marshal(v)
				if err != nil {
					return 0, err
				}
				fmt.Println("step", string(text))
			}
			return 0, nil
		})
		return err
	}
}

// C-15: untyped integers keep their digits, through a death, a load, a save and a load.
func TestC15BigIntegers(t *testing.T) {
	dir := t.TempDir()
	var said strings.Builder
	for range 3 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "PAWL_TEST_CHILD=digits", "K_DIR="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if endOf(err) != "killed" {
			t.Fatalf("%v\n%s", err, out)
		}
		said.WriteString(string(out))
	}
	if n := strings.Count(said.String(), "\n"); n < 12 {
		t.Errorf("only %d values were seen", n)
	}
	for line := range strings.Lines(said.String()) {
		if name, v, _ := strings.Cut(strings.TrimSpace(line), " "); v != bigIntegers {
			t.Errorf("%s: %s", name, v)
		}
	}
	s, err := pawl.Open(filepath.Join(dir, "store"))
	ckNil(t, err)
	if h := history(t, s); strings.Count(h, bigIntegers) < 3 {
		t.Errorf("the history is\n%s", h)
	}
}

// C-18: half of a surrogate pair is refused wherever it is to be kept, the run and the other
// steps go on; and what a decoder made of it is a text like any other.
func TestC18LoneSurrogates(t *testing.T) {
	const half, decoded = `"half \ud83d pair"`, "half \ufffd pair"
	for _, k := range keepers[json.RawMessage](t.TempDir()) {
		o := k.mustOpen(t)
		ckNil(t, o.save(json.RawMessage(`"before"`)))
		wantSays(t, o.save(json.RawMessage(half)), pawl.ErrInvalid, "half of a surrogate pair")
		wantSays(t, o.save(json.RawMessage(`{"a":[1,`+half+`]}`)), pawl.ErrInvalid, "$.a[1]", "half of a surrogate pair")
		if v, err := o.load(); string(v) != `"before"` || err != nil {
			t.Errorf("%s: %s, %v", k.name, v, err)
		}
		ckNil(t, o.save(json.RawMessage(`"\ud83d\ude00"`)))
		ckNil(t, o.close())
	}
	var text string
	ckNil(t, json.Unmarshal([]byte(half), &text))
	if text != decoded {
		t.Fatalf("encoding/json makes %q of it", text)
	}
	for _, k := range keepers[string](t.TempDir()) {
		o := k.mustOpen(t)
		ckNil(t, o.save(text))
		ckNil(t, o.close())
		o = k.mustOpen(t)
		if v, err := o.load(); v != decoded || err != nil {
			t.Errorf("%s: %q, %v", k.name, v, err)
		}
		ckNil(t, o.close())
	}
	s := openStore(t)
	got, err := run(t, s, func(ctx context.Context) (string, error) {
		_, err := pawl.Step(ctx, "half", func(context.Context) (json.RawMessage, error) { return json.RawMessage(half), nil })
		wantSays(t, err, pawl.ErrInvalid, "half of a surrogate pair", `"half"`)
		wantSays(t, pawl.SaveState(ctx, json.RawMessage(half)), pawl.ErrInvalid)
		return pawl.Step(ctx, "next", func(context.Context) (string, error) { return text, nil })
	})
	if got != decoded || err != nil {
		t.Errorf("the run has the result %q, %v", got, err)
	}
	if info := inspect(t, s); info.Done != 1 || info.Failed != 1 {
		t.Errorf("info = %+v", info)
	}
}

// C-52: a record that does not fit leaves what the program's variable holds, down to the
// memory behind its slices, maps and pointers.
func TestC52CallersValue(t *testing.T) {
	type target struct {
		Done   map[string]bool `json:"done"`
		Items  []string        `json:"items"`
		Best   *int            `json:"best"`
		Any    any             `json:"any"`
		Cursor int             `json:"cursor"`
	}
	fresh := func() (target, []string) {
		best := 9
		behind := []string{"mine", "behind"}
		return target{map[string]bool{"mine": true}, behind[:1], &best, []any{"mine"}, 4}, behind
	}
	ck := ckOpen[int](t, filepath.Join(t.TempDir(), "run.json"))
	s := openStore(t)
	results := []func(recorded json.RawMessage, p any) (bool, error){
		func(recorded json.RawMessage, p any) (bool, error) {
			ckNil(t, ck.Clear())
			ckNil(t, ck.Complete(recorded))
			return ck.Result(p)
		},
		func(recorded json.RawMessage, p any) (bool, error) {
			_, err := s.Clear(t.Context(), "r")
			if !errors.Is(err, pawl.ErrNotFound) {
				ckNil(t, err)
			}
			r := begin(t, s)
			defer r.Close()
			ckNil(t, r.Complete(recorded))
			return r.Result(p)
		},
	}
	for level, result := range results {
		for recorded, place := range map[string]string{
			`{"done":{"z":true},"items":["k","l"],"best":1,"any":{"x":1},"cursor":"7"}`: "$.cursor: a string does not fit a Go int",
			`{"done":{"z":true},"items":["k","l"],"best":1,"cursor":7,"more":1}`:        "$.more",
			`{"done":{"z":1},"items":["k"],"cursor":7}`:                                 "$.done.z",
		} {
			v, behind := fresh()
			done, err := result(json.RawMessage(recorded), &v)
			wantSays(t, err, pawl.ErrMismatch, place)
			want, wantBehind := fresh()
			if !done || !reflect.DeepEqual(v, want) || !reflect.DeepEqual(behind, wantBehind) {
				t.Errorf("level %d, %s: the program's value is now %+v, behind it %q", level+1, place, v, behind)
			}
		}
		v, _ := fresh()
		if done, err := result(json.RawMessage(`{"done":{},"items":["k"],"best":null,"any":1,"cursor":7}`), &v); !done || err != nil || v.Cursor != 7 || v.Done["mine"] || v.Best != nil {
			t.Errorf("level %d: what fits: %+v, %v", level+1, v, err)
		}
	}
}
