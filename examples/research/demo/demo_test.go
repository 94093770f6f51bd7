package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl/pawltest/witness"
)

// TestDemo runs the whole demonstration, only faster.
func TestDemo(t *testing.T) {
	var out, progress bytes.Buffer
	d := &demo{seed: 7, pace: 60 * time.Millisecond, parallel: 4, dir: t.TempDir(), stdout: &out, stderr: &progress}
	if err := d.run(t.Context()); err != nil {
		t.Fatalf("%v\n%s%s", err, &out, &progress)
	}
	for _, want := range []string{
		"Seed 7, ", "The process ended by: signal: killed.", "the witness saw no new analysis", "byte for byte", "All proofs hold",
		"of these analysed again            0\n", "acknowledged and lost              0\n", d.path("report.md"), "pawl show --store " + d.path("store"),
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, &out)
		}
	}
	if !regexp.MustCompile(`going on with run research, start 2; skipped \d+ finished documents, \$\d+\.\d\d, \d+ words, [0-9.]+s\n`).MatchString(progress.String()) {
		t.Errorf("what the second start saved is not told:\n%s", &progress)
	}
	if !strings.Contains(progress.String(), "of them from the record") {
		t.Errorf("progress:\n%s", &progress)
	}
}

// TestProofsFail: a demonstration that cannot fail shows nothing. Each of the
// broken promises below must be seen.
func TestProofsFail(t *testing.T) {
	a, b, x := []byte(`"a"`), []byte(`"b"`), []byte(`"x"`)
	for name, tc := range map[string]struct {
		log     func(w *witness.Log)
		results string
		want    string
	}{
		"all well":        {func(*witness.Log) {}, `{"a":"a","b":"b"}`, ""},
		"in doubt":        {func(w *witness.Log) { w.Effect("c"); w.Effect("c"); w.Acked("c", x) }, `{"a":"a","b":"b","c":"x"}`, ""},
		"analysed again":  {func(w *witness.Log) { w.Effect("a") }, `{"a":"a","b":"b"}`, "after its acknowledgement"},
		"other result":    {func(w *witness.Log) { w.Acked("a", x) }, `{"a":"x","b":"b"}`, "another result"},
		"lost":            {func(*witness.Log) {}, `{"a":"a","c":"c"}`, "not in the final results: b"},
		"result changed":  {func(*witness.Log) {}, `{"a":"a","b":"x"}`, "not in the final results: b"},
		"one too few":     {func(w *witness.Log) { w.Effect("c"); w.Acked("c", x) }, `{"a":"a","b":"b"}`, "not in the final results: c"},
		"never seen":      {func(*witness.Log) {}, `{"a":"a","b":"b","c":"x"}`, "the witness saw 2 documents"},
		"three times":     {func(w *witness.Log) { w.Effect("c"); w.Effect("c"); w.Effect("c"); w.Acked("c", x) }, `{"a":"a","b":"b","c":"x"}`, "three times"},
		"too many in air": {func(w *witness.Log) { again(w, "c", "d", "e") }, `{"a":"a","b":"b","c":"x","d":"x","e":"x"}`, "only the 2 under way"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &demo{parallel: 2, dir: t.TempDir()}
			w, err := witness.Open(d.path("witness.log"))
			if err != nil {
				t.Fatal(err)
			}
			w.Effect("a")
			w.Acked("a", a)
			w.Effect("b")
			w.Acked("b", b)
			tc.log(w)
			w.Close()
			if err := os.WriteFile(d.path("results.json"), []byte(tc.results), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = d.prove(strings.Count(tc.results, ":"))
			if fmt.Sprint(err) == "<nil>" != (tc.want == "") || tc.want != "" && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}

	d := &demo{dir: t.TempDir()}
	other := t.TempDir()
	os.WriteFile(d.path("report.md"), []byte("one"), 0o600)
	os.WriteFile(other+"/report.md", []byte("two"), 0o600)
	if err := d.proveSameReport(other); err == nil {
		t.Error("two reports passed as one")
	}
	w, err := witness.Open(d.path("witness.log"))
	if err != nil {
		t.Fatal(err)
	}
	w.Effect("a")
	w.Close()
	if err := d.proveNothingNew(proof{effects: 0}); err == nil {
		t.Error("a new analysis was not seen")
	}
}

func again(w *witness.Log, keys ...string) {
	for _, k := range keys {
		w.Effect(k)
		w.Effect(k)
		w.Acked(k, []byte(`"x"`))
	}
}
