package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawlgo/pawl/pawltest/witness"
)

// proof is what the witness says once the run is complete.
type proof struct {
	effects  int // analyses in all
	repeated int // documents analysed more than once, none of them acknowledged before
	again    int // acknowledged documents analysed again: zero, or it is no proof
	missing  int // acknowledged documents without their result: zero, too
}

func (p proof) String() string {
	return fmt.Sprintf("The witness saw %d analyses in all, none of a document that was acknowledged.", p.effects)
}

// prove judges the run from the witness file and the results, and from nothing
// that pawl says about itself.
func (d *demo) prove(total int) (proof, error) {
	w, err := witness.Check(d.path("witness.log"))
	if err != nil {
		return proof{}, err
	}
	final, err := results(d.path("results.json"))
	if err != nil {
		return proof{}, err
	}
	p := proof{effects: w.Effects, repeated: len(w.Repeated), again: len(w.Violations)}
	if err := w.Err(); err != nil {
		return p, err
	}
	missing := w.Missing(final)
	if p.missing = len(missing); p.missing > 0 {
		return p, fmt.Errorf("acknowledged, but not in the final results: %s", strings.Join(missing, ", "))
	}
	switch {
	case len(final) != total:
		return p, fmt.Errorf("results of %d documents, not of %d", len(final), total)
	case len(w.AckedKeys()) != total || w.Keys != total:
		return p, fmt.Errorf("the witness saw %d documents analysed and %d acknowledged, not %d", w.Keys, len(w.AckedKeys()), total)
	case p.repeated > d.parallel:
		return p, fmt.Errorf("%d documents were analysed twice; only the %d under way at the kill may be", p.repeated, d.parallel)
	case w.Effects != w.Keys+p.repeated:
		return p, fmt.Errorf("%d analyses of %d documents, %d of them repeated: one was analysed three times", w.Effects, w.Keys, p.repeated)
	}
	return p, nil
}

// proveNothingNew checks that the witness saw no analysis since p.
func (d *demo) proveNothingNew(p proof) error {
	w, err := witness.Check(d.path("witness.log"))
	if err != nil {
		return err
	}
	if w.Effects != p.effects {
		return fmt.Errorf("the complete run analysed %d documents again", w.Effects-p.effects)
	}
	return nil
}

// proveSameReport compares with the report in dir.
func (d *demo) proveSameReport(dir string) error {
	interrupted, err := os.ReadFile(d.path("report.md"))
	if err != nil {
		return err
	}
	whole, err := os.ReadFile(filepath.Join(dir, "report.md"))
	if err != nil {
		return err
	}
	if len(whole) == 0 || !bytes.Equal(interrupted, whole) {
		return errors.New("the report of the killed run differs from that of an uninterrupted one")
	}
	return nil
}

// results reads the analyses by document, each with its exact bytes.
func results(path string) (map[string][]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	final := map[string][]byte{}
	for k, v := range raw {
		final[k] = v
	}
	return final, nil
}
