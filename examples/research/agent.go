package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/examples/research/internal/analysis"
	"github.com/pawlgo/pawl/examples/research/internal/docs"
	"github.com/pawlgo/pawl/examples/research/internal/report"
	"github.com/pawlgo/pawl/meter"
	"github.com/pawlgo/pawl/pawltest/witness"
)

// input is what the whole run depends on. pawl keeps it with the run: the same
// run ID with another folder or method is refused instead of mixing two jobs
// in one report.
type input struct {
	Folder string `json:"folder"`
	Method string `json:"method"`
}

// outcome is what the run returns, and what pawl returns in its place once the
// run is complete.
type outcome struct {
	Report string        `json:"report"`
	Items  []report.Item `json:"items"`
}

// agent holds what the analysis of one document needs.
type agent struct {
	fsys    fs.FS
	method  analysis.Analyzer
	pace    time.Duration
	price   float64      // of a thousand words, in dollars, as a paid model would have one
	witness *witness.Log // nil without -witness
}

// research is the main job.
func research(ctx context.Context, set settings, stdout, stderr io.Writer) (err error) {
	method, err := set.method()
	if err != nil {
		return err
	}
	fsys, folder, closer, err := set.folder()
	if err != nil {
		return err
	}
	defer closer.Close()
	// The folder is listed outside the run's steps, so every start finds new
	// documents.
	listing, err := docs.List(fsys)
	if err != nil {
		return fmt.Errorf("documents: %w", err)
	}
	listing.Docs = slices.DeleteFunc(listing.Docs, func(d docs.Ref) bool { return d.Path == set.ownReport(folder) })
	if len(listing.Docs) == 0 {
		return fmt.Errorf("%s holds no documents (.txt, .md, .html); %d files skipped, %d of other kinds", folder, len(listing.Skipped), listing.Other)
	}
	a := &agent{fsys: fsys, method: method, pace: set.pace, price: set.price}
	if set.witness != "" {
		if a.witness, err = witness.Open(set.witness); err != nil {
			return fmt.Errorf("witness: %w", err)
		}
		defer a.witness.Close()
	}
	store, err := pawl.Open(set.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()

	progress := newGauge(stderr, set.progress)
	worked := false
	out, err := pawl.Do(ctx, store, set.run, func(ctx context.Context) (outcome, error) {
		worked = true
		if r := pawl.Resumed(ctx); r.Attempt > 1 {
			fmt.Fprintf(stderr, "research: going on with run %s, start %d; %s\n", set.run, r.Attempt, skipped(r))
		}
		items, err := pawl.Map(ctx, "documents", listing.Docs, byPath, a.document,
			pawl.Parallel(set.parallel), pawl.RerunOnChange())
		if err != nil {
			return outcome{}, err
		}
		return outcome{report.Markdown(report.Input{
			Folder: filepath.Base(folder), Method: method.Name(), Items: items, Skipped: listing.Skipped,
		}), items}, nil
	}, pawl.RunInput(input{folder, method.Name()}), pawl.OnProgress(progress.update))
	progress.finish()
	if err != nil {
		return explain(err, set)
	}
	if !worked {
		fmt.Fprintf(stderr, "research: run %s is complete; this is its recorded result\n", set.run)
		if n := differing(listing.Docs, out.Items); n > 0 {
			fmt.Fprintf(stderr, "research: since then %d documents were added, changed or removed; -run with another ID makes a new report\n", n)
		}
	}
	return deliver(set, out, stdout)
}

// byPath is a document's key: its path, which stays when the content changes.
// Keys have a limit that paths do not have.
func byPath(d docs.Ref) string {
	if len(d.Path) > 800 {
		return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(d.Path)))
	}
	return d.Path
}

// document analyses one document. The inner step is what is acknowledged: once
// it has returned, no later start analyses this version of the document again.
func (a *agent) document(ctx context.Context, ref docs.Ref) (report.Item, error) {
	found, err := pawl.Step(ctx, "analyze", func(ctx context.Context) (analysis.Analysis, error) {
		return a.analyze(ctx, ref)
	})
	if err != nil {
		return report.Item{}, err
	}
	if a.witness != nil {
		b, err := json.Marshal(found)
		if err != nil {
			return report.Item{}, err
		}
		if err := a.witness.Acked(ref.ID(), b); err != nil {
			return report.Item{}, fmt.Errorf("witness: %w", err)
		}
	}
	return report.Item{Ref: ref, Analysis: found}, nil
}

// analyze is the work that costs.
func (a *agent) analyze(ctx context.Context, ref docs.Ref) (analysis.Analysis, error) {
	text, err := docs.Read(a.fsys, ref)
	if err != nil {
		return analysis.Analysis{}, err
	}
	select {
	case <-time.After(a.pace):
	case <-ctx.Done():
		return analysis.Analysis{}, ctx.Err()
	}
	found, err := a.method.Analyze(ctx, text)
	if err != nil {
		return analysis.Analysis{}, fmt.Errorf("analyse %s: %w", ref.Path, err)
	}
	if err := a.account(ctx, found); err != nil {
		return analysis.Analysis{}, err
	}
	if a.witness != nil {
		if err := a.witness.Effect(ref.ID()); err != nil {
			return analysis.Analysis{}, fmt.Errorf("witness: %w", err)
		}
	}
	return found, nil
}

// account meters what an analysis took; a model meters its tokens itself.
func (a *agent) account(ctx context.Context, found analysis.Analysis) error {
	err := meter.Add(ctx, "words", float64(found.Words))
	if a.price > 0 {
		err = errors.Join(err, meter.Add(ctx, "usd", a.price*float64(found.Words)/1000))
	}
	return err
}

// differing counts the documents that a complete run's result does not have as
// they are now.
func differing(now []docs.Ref, then []report.Item) int {
	n := 0
	old := map[string]string{}
	for _, it := range then {
		old[it.Ref.Path] = it.Ref.SHA256
	}
	for _, d := range now {
		if old[d.Path] != d.SHA256 {
			n++
		}
	}
	for _, it := range then {
		if !slices.ContainsFunc(now, func(d docs.Ref) bool { return d.Path == it.Ref.Path }) {
			n++
		}
	}
	return n
}

// explain adds what to do to errors that have one obvious cause here.
func explain(err error, set settings) error {
	switch {
	case errors.Is(err, pawl.ErrInputChanged):
		return fmt.Errorf("run %q is about another folder or method and was left alone; choose another ID with -run: %w", set.run, err)
	case errors.Is(err, pawl.ErrLocked):
		return fmt.Errorf("run %q is being worked on; wait for that process, or choose another ID with -run: %w", set.run, err)
	case errors.Is(err, docs.ErrChanged):
		return err // says to start again itself
	}
	return fmt.Errorf("%w\nWhat was finished is recorded; the same command goes on from there", err)
}
