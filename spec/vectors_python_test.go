package spec_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawlgo/pawl/spec"
)

const reader = "reader.py"

// report is what reader.py prints for a file, in JSON. A member is null where the
// verdict gives it no meaning.
type report struct {
	Verdict   string            `json:"verdict"`
	Records   *int64            `json:"records"`
	End       *int64            `json:"end"`
	Torn      *int64            `json:"torn"`
	NoNewline bool              `json:"no_newline"`
	Offset    *int64            `json:"offset"`
	Seq       *int64            `json:"seq"`
	Status    string            `json:"status"`
	Attempts  *int64            `json:"attempts"`
	Steps     map[string]string `json:"steps"`
	Result    *string           `json:"result"` // exact text, null if there is none
	State     *string           `json:"state"`  // the same, or "refused"

	States      map[string]string   `json:"states"`
	Notes       map[string]string   `json:"notes"`
	Maps        map[string][]string `json:"maps"`
	Once        []string            `json:"once"`
	Idempotency map[string]string   `json:"idempotency"` // of all steps
	Labels      map[string]string   `json:"labels"`

	Final     []string                      `json:"final"`
	Troubles  map[string]spec.Trouble       `json:"troubles"`
	Used      map[string]float64            `json:"used"`
	UsedBy    map[string]map[string]float64 `json:"used_by"`
	UsedSince map[string]map[string]float64 `json:"used_since"`
	Deadline  *string                       `json:"deadline"`
	Within    *int64                        `json:"within"`
	Budget    map[string]float64            `json:"budget"`
	Wake      *string                       `json:"wake"`
	Cancel    map[string]string             `json:"cancel"`
	Died      *[]string                     `json:"died"` // null if no process died
}

// TestPythonReader lets a reader that was written from the page, by somebody who had
// not seen pawl's code, read all vectors.
func TestPythonReader(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("SKIPPED: there is no python3, so the second reader of the format was not tried")
	}
	if _, err := os.Stat(reader); err != nil {
		t.Skipf("SKIPPED: spec/%s is missing, so the second reader of the format was not tried", reader)
	}
	vectors := spec.Vectors()
	args := []string{reader}
	dir := t.TempDir()
	for _, v := range vectors {
		name := filepath.Join(dir, v.Name+".jsonl")
		if err := os.WriteFile(name, v.Journal, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), python, args...)
	cmd.Env = append(os.Environ(), "PYTHONUTF8=1", "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// It may exit with a status that tells of damage: what it prints decides.
	if err := cmd.Run(); err != nil && stdout.Len() == 0 {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	dec := json.NewDecoder(&stdout)
	for _, v := range vectors {
		var r report
		if err := dec.Decode(&r); err != nil {
			t.Fatalf("%s: %v\n%s", v.Name, err, &stderr)
		}
		if wrong := r.compare(v); len(wrong) > 0 {
			t.Errorf("%s\n%s\n%s (section %s)", v.Name, strings.Join(wrong, "\n"), v.Comment, v.Section)
		}
	}
	if dec.Decode(&report{}) != io.EOF {
		t.Errorf("%s prints more than one report for a file", reader)
	}
}

// compare returns what differs from the vector.
func (r *report) compare(v spec.Vector) (wrong []string) {
	differ := func(what string, got, want any) {
		wrong = append(wrong, fmt.Sprintf("%s: %v, want %v", what, got, want))
	}
	number := func(what string, got *int64, want int64) {
		switch {
		case want < 0:
		case got == nil:
			differ(what, "none", want)
		case *got != want:
			differ(what, *got, want)
		}
	}
	if r.Verdict != string(v.Expect) {
		differ("verdict", r.Verdict, v.Expect)
		return wrong
	}
	number("records", r.Records, v.Records)
	number("end", r.End, v.End)
	number("torn", r.Torn, v.Torn)
	number("offset", r.Offset, v.Offset)
	number("seq", r.Seq, v.Seq)
	number("attempts", r.Attempts, v.Attempts)
	if readable := v.Expect == spec.Clean || v.Expect == spec.Torn; readable && r.NoNewline != v.NoNewline {
		differ("no_newline", r.NoNewline, v.NoNewline)
	}
	if v.Status != "" && r.Status != v.Status {
		differ("status", r.Status, v.Status)
	}
	if v.Steps != nil && !maps.Equal(r.Steps, v.Steps) {
		differ("steps", r.Steps, v.Steps)
	}
	if v.Notes != nil && !maps.Equal(r.Notes, v.Notes) {
		differ("notes", r.Notes, v.Notes)
	}
	if v.Maps != nil && !maps.EqualFunc(r.Maps, v.Maps, slices.Equal) {
		differ("maps", r.Maps, v.Maps)
	}
	if v.Once != nil && !slices.Equal(r.Once, v.Once) {
		differ("once", r.Once, v.Once)
	}
	if v.Labels != nil && !maps.Equal(r.Labels, v.Labels) {
		differ("labels", r.Labels, v.Labels)
	}
	for key, want := range v.Idempotency {
		if got := r.Idempotency[key]; got != want {
			differ("idempotency key of "+key, got, want)
		}
	}
	if v.States != nil && len(r.States) != len(v.States) {
		differ("states", r.States, v.States)
	}
	for key, want := range v.States {
		got, ok := r.States[key]
		if err := want.Check([]byte(got), got == "refused"); err != nil || !ok {
			differ("state of "+key, got, want)
		}
	}
	wrong = append(wrong, r.compareTroubles(v)...)
	for name, text := range map[string]struct {
		got  *string
		want spec.Text
	}{"result": {r.Result, v.Result}, "state": {r.State, v.State}} {
		var got []byte
		refused := text.got != nil && *text.got == "refused"
		if text.got != nil {
			got = []byte(*text.got)
		}
		if err := text.want.Check(got, refused); err != nil {
			wrong = append(wrong, name+": "+err.Error())
		}
	}
	return wrong
}

// compareTroubles compares what is known of failures, sleeps, deaths, use, terms and
// cancellation.
func (r *report) compareTroubles(v spec.Vector) (wrong []string) {
	differ := func(what string, got, want any) {
		wrong = append(wrong, fmt.Sprintf("%s: %v, want %v", what, got, want))
	}
	if v.Final != nil && !slices.Equal(r.Final, v.Final) {
		differ("final", r.Final, v.Final)
	}
	if v.Troubles != nil && !maps.Equal(r.Troubles, v.Troubles) {
		differ("troubles", r.Troubles, v.Troubles)
	}
	if v.Used != nil && !maps.Equal(r.Used, v.Used) {
		differ("used", r.Used, v.Used)
	}
	if v.UsedBy != nil && !maps.EqualFunc(r.UsedBy, v.UsedBy, maps.Equal) {
		differ("used by", r.UsedBy, v.UsedBy)
	}
	if v.UsedSince != nil && !maps.EqualFunc(r.UsedSince, v.UsedSince, maps.Equal) {
		differ("used since", r.UsedSince, v.UsedSince)
	}
	if v.Budget != nil && !maps.Equal(r.Budget, v.Budget) {
		differ("budget", r.Budget, v.Budget)
	}
	if v.Cancel != nil && !maps.Equal(r.Cancel, v.Cancel) {
		differ("cancel", r.Cancel, v.Cancel)
	}
	time := func(what string, got *string, want string) {
		switch {
		case want == "":
		case got == nil && want != spec.Nothing:
			differ(what, spec.Nothing, want)
		case got != nil && *got != want:
			differ(what, *got, want)
		}
	}
	time("deadline", r.Deadline, v.Deadline)
	time("wake", r.Wake, v.Wake)
	if v.Within >= 0 && (r.Within == nil && v.Within > 0 || r.Within != nil && *r.Within != v.Within) {
		differ("within", r.Within, v.Within)
	}
	switch {
	case v.Death.Presence == spec.Unstated:
	case (r.Died != nil) != (v.Death.Presence == spec.Exact):
		differ("a process died", r.Died != nil, v.Death.Presence == spec.Exact)
	case r.Died != nil && !slices.Equal(*r.Died, v.Death.Steps):
		differ("under way", *r.Died, v.Death.Steps)
	}
	return wrong
}
