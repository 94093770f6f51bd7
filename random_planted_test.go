package pawl_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// planted is a bug of the engine: pieces of the code changed so that they are wrong when
// PLANTED is true.
type planted struct {
	name  string
	edits []planting
}

type planting struct{ file, from, to string }

// one is a bug in one place.
func one(name, file, from, to string) planted {
	return planted{name, []planting{{file, from, to}}}
}

var plantedBugs = []planted{
	{"the result is returned from memory", []planting{
		{"step.go", "var out, zero T\n\tvar c stepConfig", "var out, zero T\n\tvar live *T\n\tvar c stepConfig"},
		{"step.go", "return fn(ctx)\n\t\t},\n\t}\n\tfull", "v, err := fn(ctx)\n\t\t\tif PLANTED {\n\t\t\t\tlive = &v\n\t\t\t}\n\t\t\treturn v, err\n\t\t},\n\t}\n\tfull"},
		{"step.go", "return zero, err\n\t}\n\treturn out, nil", "return zero, err\n\t}\n\tif live != nil {\n\t\treturn *live, nil\n\t}\n\treturn out, nil"},
	}},
	one("nested keys are not cleared on a new try", "claim.go", "r.askAnew(key) // a new try", "if !PLANTED {\n\t\t\tr.askAnew(key)\n\t\t} // a new try"),
	one("an epoch keeps what is recorded inside", "journal/steps.go", "for k := range f.Inside(key) {\n\t\tf.drop(k)", "for k := range f.Inside(key) {\n\t\tif PLANTED {\n\t\t\tbreak\n\t\t}\n\t\tf.drop(k)"),
	one("an epoch keeps states", "journal/steps.go", "delete(f.Saved, key)", "if !PLANTED {\n\t\tdelete(f.Saved, key)\n\t}"),
	one("the fingerprint of items is ignored", "map.go", "f.Text, f.Outline = nil, nil", "if PLANTED {\n\t\t\t\tf.Digest = \"\"\n\t\t\t}\n\t\t\tf.Text, f.Outline = nil, nil"),
	one("a changed input is not seen", "step_answer.go", "return input != nil && st.InputDiffers", "return !PLANTED && input != nil && st.InputDiffers"),
	one("a changed input of the run is not seen", "run.go", "case input.Digest != \"\" &&", "case !PLANTED && input.Digest != \"\" &&"),
	one("a state is saved before it was loaded", "run_state.go", "if blind {", "if blind && !PLANTED {"),
	one("no start record", "step_record.go", "\terr = r.record(b.Bytes(), c.once || c.maxCrashes > 0, s.alive, func(", "\tif PLANTED {\n\t\tr.mu.Lock()\n\t\tt.live = r.begun(key)\n\t\tr.mu.Unlock()\n\t\treturn t, nil\n\t}\n\terr = r.record(b.Bytes(), c.once || c.maxCrashes > 0, s.alive, func("),
	one("a failure is recorded as a result", "failure.go", "line.NewBody(journal.KindFail, key,", "line.NewBody(map[bool]string{true: journal.KindStep, false: journal.KindFail}[PLANTED], key,"),
	one("tries are counted anew on each start", "step_record.go", "t.n = st.Tries\n", "if t.n = st.Tries; PLANTED && st.Seq < r.log.Durable() {\n\t\t\tt.n = 0\n\t\t}\n"),
	one("AtMostOnce runs again", "step_record.go", "inDoubt := st != nil", "inDoubt := !PLANTED && st != nil"),
	one("a changed input hides what is in doubt", "input.go", "if doubtful != \"\" {", "if doubtful != \"\" && !PLANTED {"),
	one("a changed input hides what was under way", "input.go", "if open && !c.rerun {", "if open && !c.rerun && !(PLANTED && st.Status == journal.StepRunning) {"),
	one("the context of a try that has ended still writes", "live.go", "s.run.live[sc.step] != sc.live {", "s.run.live[sc.step] != sc.live && !PLANTED {"),
	one("a cancellation is recorded as a failure", "failure.go", "if s.interrupted(err) ||", "if s.interrupted(err) && !PLANTED ||"),
	one("a cancellation loses a finished step", "try.go", "\tif encodeErr != nil {\n", "\tif PLANTED && s.base.Err() != nil {\n\t\treturn false, r.stopped(s, key)\n\t}\n\tif encodeErr != nil {\n"),
	one("a panic is swallowed", "try.go", "if p != nil {\n\t\t\tpanic(p)", "if p != nil && !PLANTED {\n\t\t\tpanic(p)"),
	one("a done key may be asked again", "claim.go", "switch r.asked[key] {\n\tcase stepRunning", "if PLANTED && r.asked[key] == stepDone {\n\t\tdelete(r.asked, key)\n\t}\n\tswitch r.asked[key] {\n\tcase stepRunning"),
	one("a Map does not wait for the others", "map.go", "wg.Wait()", "if !PLANTED || !m.stopped() {\n\t\twg.Wait()\n\t}"),
	one("a Map goes on after a failure", "map.go", "m.stop = m.stop || err != nil && ", "m.stop = m.stop || !PLANTED && err != nil && "),
	one("a Map begins with what failed", "map.go", "case rec != nil && rec.Status == journal.StepFailed:", "case rec != nil && rec.Status == journal.StepFailed && !PLANTED:"),
	one("the first note counts", "journal/state.go", "if span.Seq > newest.Seq {", "if span.Seq > newest.Seq && !(known && PLANTED) {"),
	one("a compacted journal lacks the newest note", "journal/keep.go", "keep[n.Seq] = true", "keep[n.Seq] = !PLANTED"),
	one("a compacted journal lacks older results", "journal/keep.go", "keep[s.Seq] = true", "keep[s.Seq] = !PLANTED || s.Seq > f.attemptSeq"),
	one("a compacted journal lacks where an idempotency key comes from", "journal/keep.go", "for _, seq := range pins {", "for _, seq := range pins {\n\t\t\tif PLANTED {\n\t\t\t\tbreak\n\t\t\t}"),
	one("the idempotency key is without epochs", "journal/alias.go", "n > 0 {\n\t\t\tfmt.Fprintf", "n > 0 && !PLANTED {\n\t\t\tfmt.Fprintf"),
	one("a panic of AtMostOnce counts as a failure", "try.go", "if !c.once {\n\t\t\tr.recordFailure", "if !c.once || PLANTED {\n\t\t\tr.recordFailure"),
	{"an alias overwrites", []planting{
		{"alias.go", "if r.known(key) {", "if r.known(key) && !PLANTED {"},
		{"journal/alias.go", "s != nil && f.Steps[now] == nil {", "s != nil && (f.Steps[now] == nil || PLANTED) {"},
	}},
	one("a complete run runs again", "run.go", "if fold.Status == journal.Complete {\n\t\treturn r.finishedAlready()", "if fold.Status == journal.Complete && !PLANTED {\n\t\treturn r.finishedAlready()"),
	one("a resolution is none", "resolve.go", "line.NewBody(journal.KindStep, key,", "line.NewBody(map[bool]string{true: journal.KindFail, false: journal.KindStep}[PLANTED], key,"),
	one("a step that is to run again takes what is inside with it", "journal/fold.go", "if r.Bool(\"alone\") {", "if r.Bool(\"alone\") && !PLANTED {"),
	one("a step that is to run again changes the idempotency keys inside", "journal/alias.go", "if end < len(key) {", "if end < len(key) && !PLANTED {"),
	one("a step that is to run again keeps its note", "journal/steps.go", "delete(f.Notes, key)", "if !PLANTED {\n\t\tdelete(f.Notes, key)\n\t}"),
	one("what was said of a step cannot be corrected", "resolve.go", "journal.StepDone && !said:", "journal.StepDone && (!said || PLANTED):"),
	one("an item in doubt comes before the others", "map.go", "inDoubtAt(m.run.fold, it.key) != \"\":", "inDoubtAt(m.run.fold, it.key) != \"\" && !PLANTED:"),
	one("another input hides a state of a step that failed", "input.go", "|| r.fold.Saved[k] != nil {", "|| r.fold.Saved[k] != nil && !PLANTED {"),
	one("another input hides a note of a step that failed", "input.go", "return noted\n", "return noted && !PLANTED\n"),
	one("an input that was ignored is not recorded", "step.go", "r.store.inputOf(c.input, c.ignoreInput); err != nil {", "r.store.inputOf(c.input, c.ignoreInput); PLANTED && c.ignoreInput {\n\t\t\tinput = nil\n\t\t} else if err != nil {"),
	one("a second try saves what it has not loaded", "claim.go", "r.unload(key)", "if !PLANTED {\n\t\tr.unload(key)\n\t}"),
	one("a try that has ended reads the newest note", "current.go", "err = s.alive() // the", "if !PLANTED {\n\t\t\terr = s.alive()\n\t\t} // the"),
	one("another input of the run passes where it must not", "options.go", "func (ignoreInput) applyRun(c *runConfig)   { c.ignoreInput = true }", "func (ignoreInput) applyRun(c *runConfig)   { c.ignoreInput = !PLANTED }"),
	one("the run stays open to others while it is worked on", "run.go", "if r.lock, err = r.store.dir.Acquire(r.id); err == nil {", "if r.lock, err = r.store.dir.Acquire(r.id); err == nil {\n\t\tif PLANTED {\n\t\t\tr.lock.Release()\n\t\t}"),
}

// TestPlantedEngineBugs builds the package with all of these bugs, each asleep, and wakes
// one at a time: random programs must find it, in as many programs as make test runs.
func TestPlantedEngineBugs(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the package anew")
	}
	t.Parallel()
	bin := buildPlanted(t)
	run := func(t *testing.T, name, programs string) (string, time.Duration) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, bin, "-test.run=^TestRandomPrograms$", "-test.timeout=90s")
		cmd.Env = append(os.Environ(), "PAWL_PLANTED="+name, "PAWL_PROGRAMS="+programs, "PAWL_SEED=1") // the same programs always: whether these find a bug must not be a matter of luck
		begin := time.Now()
		out, _ := cmd.CombinedOutput() // fails, one hopes
		return string(out), time.Since(begin)
	}
	if out, _ := run(t, "", "600"); !strings.Contains(out, "\nPASS") && !strings.HasPrefix(out, "PASS") {
		t.Fatalf("without a bug there is one:\n%s", out)
	}
	found := regexp.MustCompile(`PAWL_SEED=\d+ after \d+ events: .{0,150}`)
	ran := regexp.MustCompile(`(\d+) programs,`)
	for _, b := range plantedBugs {
		t.Run(b.name, func(t *testing.T) {
			out, took := run(t, b.name, "600")
			if why := found.FindString(out); why != "" && strings.Contains(out, "--- FAIL: TestRandomPrograms") {
				t.Logf("found three times in %s (%v): %s", ran.FindString(out), took.Round(time.Millisecond), why)
				return
			}
			t.Errorf("not found:\n%s", out[:min(len(out), 3000)])
		})
	}
}

// buildPlanted builds the tests with all planted bugs.
func buildPlanted(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(".")
	ckNil(t, err)
	tmp := t.TempDir()
	texts := map[string]string{"journal/planted.go": "package journal\n\nimport \"os\"\n\nvar planted = os.Getenv(\"PAWL_PLANTED\")\n\n// Planted reports whether a bug is awake.\nfunc Planted(name string) bool { return planted == name }\n"}
	for _, b := range plantedBugs {
		for _, e := range b.edits {
			text := texts[e.file]
			if text == "" {
				raw, err := os.ReadFile(e.file)
				ckNil(t, err)
				text = string(raw)
			}
			if n := strings.Count(text, e.from); n != 1 {
				t.Fatalf("%s: %q is there %d times: change this table with the code", e.file, e.from, n)
			}
			call := "journal.Planted"
			if strings.HasPrefix(e.file, "journal/") {
				call = "Planted"
			}
			texts[e.file] = strings.Replace(text, e.from, strings.ReplaceAll(e.to, "PLANTED", call+`("`+b.name+`")`), 1)
		}
	}
	replace := map[string]string{}
	for file, text := range texts {
		if strings.Contains(text, "journal.Planted") && !strings.Contains(text, "pawl/journal\"\n") {
			text = strings.Replace(text, "import (\n", "import (\n\t\"github.com/pawlgo/pawl/journal\"\n", 1)
		}
		name := filepath.Join(tmp, strings.ReplaceAll(file, "/", "-"))
		ckNil(t, os.WriteFile(name, []byte(text), 0o600))
		replace[filepath.Join(root, filepath.FromSlash(file))] = name
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	ckNil(t, err)
	overlay, bin := filepath.Join(tmp, "overlay.json"), filepath.Join(tmp, "planted.test.exe")
	ckNil(t, os.WriteFile(overlay, list, 0o600))
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", bin, ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building with the bugs: %v\n%s", err, out)
	}
	return bin
}
