package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/examples/research/internal/llm/llmtest"
	"github.com/pawlgo/pawl/pawltest/witness"
)

// job is a research job in a directory of its own.
type job struct {
	t   *testing.T
	dir string
}

func newJob(t *testing.T) job { return job{t, t.TempDir()} }

func (j job) path(name string) string { return filepath.Join(j.dir, name) }

// args are the flags that put everything into the job's directory.
func (j job) args(more ...string) []string {
	return append([]string{
		"-store", j.path("store"), "-out", j.path("report.md"), "-results", j.path("results.json"),
		"-witness", j.path("witness.log"), "-progress", "plain",
	}, more...)
}

// run runs the program in this process and wants the exit code.
func (j job) run(code int, more ...string) (stderr string) {
	j.t.Helper()
	var out, errs bytes.Buffer
	if got := run(j.t.Context(), j.args(more...), &out, &errs); got != code {
		j.t.Fatalf("exit code %d, want %d\n%s%s", got, code, &out, &errs)
	}
	return errs.String()
}

func (j job) write(name, content string) {
	j.t.Helper()
	p := j.path(filepath.Join("docs", name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		j.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		j.t.Fatal(err)
	}
}

func (j job) read(name string) string {
	j.t.Helper()
	b, err := os.ReadFile(j.path(name))
	if err != nil {
		j.t.Fatal(err)
	}
	return string(b)
}

// judge checks the witness against the results and returns it.
func (j job) judge() *witness.Report {
	j.t.Helper()
	w, err := witness.Check(j.path("witness.log"))
	if err != nil {
		j.t.Fatal(err)
	}
	if err := w.Err(); err != nil {
		j.t.Fatal(err)
	}
	return w
}

// missing lists what was acknowledged and is not in the results.
func (j job) missing(w *witness.Report) []string {
	j.t.Helper()
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(j.read("results.json")), &raw); err != nil {
		j.t.Fatal(err)
	}
	final := map[string][]byte{}
	for k, v := range raw {
		final[k] = v
	}
	return w.Missing(final)
}

func TestCorpusReport(t *testing.T) {
	j := newJob(t)
	stderr := j.run(0)
	if golden, err := os.ReadFile("internal/report/testdata/corpus.golden.md"); err != nil || j.read("report.md") != string(golden) {
		t.Errorf("the report is not the recorded one (%v)", err)
	}
	w := j.judge()
	if w.Keys < 60 || w.Effects != w.Keys || len(w.AckedKeys()) != w.Keys || len(j.missing(w)) > 0 {
		t.Errorf("witness: %+v, missing %v", w, j.missing(w))
	}
	if !strings.Contains(stderr, "90 of 90 documents\n") {
		t.Errorf("progress: %s", stderr)
	}

	// A complete run returns its record and analyses nothing.
	if err := os.Remove(j.path("report.md")); err != nil {
		t.Fatal(err)
	}
	report := j.read("results.json")
	if stderr := j.run(0); !strings.Contains(stderr, "is complete; this is its recorded result") || strings.Contains(stderr, "since then") {
		t.Errorf("second start: %s", stderr)
	}
	if j.read("results.json") != report || j.judge().Effects != w.Effects {
		t.Error("the complete run gave another result or worked again")
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), j.args("-out", "-", "-results", ""), &out, &errs); code != 0 || !strings.HasPrefix(out.String(), "# Research report: the shipped corpus\n") {
		t.Errorf("to standard output: %d, %.100s, %s", code, &out, &errs)
	}
}

// TestFolderChanges: a start that failed is followed by one over a folder in
// which a document is new, one has changed and one is gone. Only what is new
// or changed is analysed.
func TestFolderChanges(t *testing.T) {
	j := newJob(t)
	j.write("keep.txt", "Keep\n\nThis document stays as it is.")
	j.write("change.md", "# Change\n\nThis document is going to change.")
	j.write("gone.html", "<title>Gone</title><p>This document is going to be deleted.")
	j.write("fails.txt", "Fails\n\nThe model does not like this document.")
	// One at a time, in the order of paths: the second fails.
	s := llmtest.New(llmtest.OK, llmtest.Status(400, "", `{"error":{"message":"no"}}`))
	defer s.Close()
	flags := []string{"-docs", j.path("docs"), "-endpoint", s.URL, "-model", "m1", "-parallel", "1"}
	stderr := j.run(exitFailed, flags...)
	if !strings.Contains(stderr, "analyse fails.txt: model m1 at ") || !strings.Contains(stderr, "400 Bad Request: no") || !strings.Contains(stderr, "the same command goes on from there") {
		t.Errorf("error: %s", stderr)
	}
	before := j.judge()

	j.write("change.md", "# Changed\n\nThis document has changed by now.")
	j.write("sub/new.txt", "New\n\nThis document was not there before.")
	if err := os.Remove(j.path("docs/gone.html")); err != nil {
		t.Fatal(err)
	}
	j.run(0, flags...)
	report := j.read("report.md")
	for _, want := range []string{"# Research report: docs", "4 documents", "It is about Changed.", "It is about New.", "It is about Keep.", "It is about Fails.", "by the model m1"} {
		if !strings.Contains(report, want) {
			t.Errorf("report lacks %q", want)
		}
	}
	if strings.Contains(report, "Gone") || strings.Contains(report, "going to change") {
		t.Errorf("report has what is no more:\n%s", report)
	}
	after := j.judge()
	prompts, _ := s.Requests()
	if after.Effects != len(prompts)-1 || len(after.Repeated) > 0 || before.Effects == 0 {
		t.Errorf("%d requests, %d analyses before and %d after, repeated %v", len(prompts), before.Effects, after.Effects, after.Repeated)
	}

	// The complete run keeps its report, and says what it lacks.
	j.write("later.txt", "Later\n\nThis document came when all was done.")
	if stderr := j.run(0, flags...); !strings.Contains(stderr, "since then 1 documents were added, changed or removed") {
		t.Errorf("after completion: %s", stderr)
	}
	if again, _ := s.Requests(); len(again) != len(prompts) {
		t.Error("the complete run asked the model again")
	}
}

// TestEndpointFaults: the job as a whole survives what endpoints do.
func TestEndpointFaults(t *testing.T) {
	j := newJob(t)
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		j.write(name, name+"\n\nThis is what stands in "+name+". And here is one more sentence.")
	}
	half := `{"summary":"half","sentences":[1]}`
	s := llmtest.New(llmtest.Status(429, "0.1", ""), llmtest.Status(503, "", ""), llmtest.CutOff(half), llmtest.Say(half, ""), llmtest.Hang(half), llmtest.Say("no JSON", "stop"))
	defer s.Close()
	j.run(0, "-docs", j.path("docs"), "-endpoint", s.URL, "-model", "m1", "-timeout", "500ms")
	report := j.read("report.md")
	if strings.Contains(report, "half") || strings.Count(report, "The model's summary, not a quotation: It is about ") != 3 {
		t.Errorf("report:\n%s", report)
	}
	if w := j.judge(); w.Effects != 3 || len(j.missing(w)) > 0 {
		t.Errorf("witness: %+v", w)
	}
	// The store has what was paid: also the answer that came whole but was no good.
	store, err := pawl.Open(j.path("store"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	info, err := store.Inspect(t.Context(), "research")
	if err != nil {
		t.Fatal(err)
	}
	if whole := info.Spent["input_tokens"] / llmtest.PromptTokens; whole != 4 || info.Spent["output_tokens"] != whole*llmtest.CompletionTokens || info.Spent["words"] == 0 || info.Spent["usd"] != 0 {
		t.Errorf("spent %v", info.Spent)
	}
}

func TestRefusals(t *testing.T) {
	j := newJob(t)
	j.write("a.txt", "A\n\nThis is a document with a sentence.")
	j.run(0, "-docs", j.path("docs"))
	report := j.read("report.md")
	if stderr := j.run(exitFailed); !strings.Contains(stderr, `run "research" is about another folder or method`) || !strings.Contains(stderr, "-run") {
		t.Errorf("another folder: %s", stderr)
	}
	if j.read("report.md") != report {
		t.Error("the refused start wrote a report")
	}
	j.run(0, "-docs", j.path("docs"), "-run", "other") // another ID is other work

	// A report among the documents is no document.
	own := []string{"-docs", j.path("docs"), "-run", "own", "-out", j.path("docs/report.md")}
	j.run(0, own...)
	if stderr := j.run(0, own...); strings.Contains(stderr, "since then") {
		t.Errorf("the report became a document: %s", stderr)
	}

	if stderr := j.run(exitFailed, "-docs", j.path("absent")); !strings.Contains(stderr, "absent") {
		t.Errorf("absent folder: %s", stderr)
	}
	if err := os.Mkdir(j.path("none"), 0o755); err != nil {
		t.Fatal(err)
	}
	if stderr := j.run(exitFailed, "-docs", j.path("none")); !strings.Contains(stderr, "holds no documents") {
		t.Errorf("empty folder: %s", stderr)
	}
	for _, args := range [][]string{
		{"-nonsense"}, {"folder"}, {"-parallel", "0"}, {"-model", "m"}, {"-progress", "loud"}, {"-pace", "-1s"}, {"-price", "-1"}, {"-timeout", "0"},
	} {
		j.run(exitUsage, args...)
	}
	j.run(0, "-help")
	if stderr := j.run(exitFailed, "-endpoint", "nowhere", "-model", "m"); !strings.Contains(stderr, "http") {
		t.Errorf("bad endpoint: %s", stderr)
	}
	if stderr := j.run(exitFailed, "-run", "r2", "-out", j.path("no/such/folder/report.md")); !strings.Contains(stderr, "write ") {
		t.Errorf("unwritable report: %s", stderr)
	}
}
