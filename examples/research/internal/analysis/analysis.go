// Package analysis is what a method, offline or by a model, makes of one
// document: the value that is recorded per document and that reports are
// compiled from.
package analysis

import (
	"context"
	"math"

	"github.com/pawlgo/pawl/examples/research/internal/docs"
	"github.com/pawlgo/pawl/examples/research/internal/rank"
)

const (
	// KeySentences is how many sentences stand for a document.
	KeySentences = 5
	// MaxCounts is how many different words of a document are kept.
	MaxCounts = 3000
)

// Sentence is one that was found important, in the document's own words.
type Sentence struct {
	N     int     `json:"n"` // number in the document, from 1
	Text  string  `json:"text"`
	Score float64 `json:"score,omitempty"` // of the method; a model gives none
}

// Analysis is the result for one document. It holds word counts and no TF-IDF
// weights: those depend on the other documents, of which more may come while
// finished analyses stay as they are recorded.
type Analysis struct {
	Method    string         `json:"method"`
	Title     string         `json:"title"`
	Summary   string         `json:"summary,omitempty"` // a model's own words, never the document's
	Sentences []Sentence     `json:"sentences"`         // the most important first
	Words     int            `json:"words"`             // content words in all
	Counts    map[string]int `json:"counts"`            // of at most MaxCounts of them
	Cut       bool           `json:"cut,omitempty"`     // too long: only the beginning was ranked
}

// Analyzer is a method. It must be safe for concurrent use.
type Analyzer interface {
	// Name says which method it is, exactly enough that results of equal name
	// may stand in one report.
	Name() string
	// Analyze reads one document.
	Analyze(ctx context.Context, text docs.Text) (Analysis, error)
}

// Base is the part of an analysis that is the same for all methods.
func Base(method string, text docs.Text) Analysis {
	counts, total := rank.Counts(text.Words, MaxCounts)
	return Analysis{Method: method, Title: text.Title, Sentences: []Sentence{}, Words: total, Counts: counts, Cut: text.Cut}
}

// Offline is the built-in method: TextRank for sentences and word counts for
// TF-IDF. The same document gives the same bytes on every machine.
type Offline struct{}

// Name implements [Analyzer].
func (Offline) Name() string {
	return "TextRank sentences (Mihalcea and Tarau 2004), TF-IDF terms (Spärck Jones 1972)"
}

// Analyze implements [Analyzer].
func (o Offline) Analyze(ctx context.Context, text docs.Text) (Analysis, error) {
	if err := ctx.Err(); err != nil {
		return Analysis{}, err
	}
	a := Base(o.Name(), text)
	for _, r := range rank.TextRank(text.Sentences, KeySentences) {
		a.Sentences = append(a.Sentences, Sentence{r.Index + 1, text.Sentences[r.Index], math.Round(r.Score*1e4) / 1e4})
	}
	return a, nil
}
