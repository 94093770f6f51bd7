// Package rank says what matters in a text: its sentences by TextRank and its
// terms by TF-IDF.
//
// Both are written here because no Go library was found that is kept up and
// repeatable: the two implementations of TextRank (DavidBelicza/TextRank,
// joshleeb/textrank) show no work since 2021, and the former weighs sentences
// by their phrases instead of ranking a graph of sentences; PageRank in gonum,
// which is kept up, starts from random numbers, so the same text would be
// recorded with other scores on every run. Words are found by Unicode's rules
// (UAX #29) with clipperhouse/uax29.
//
// Nothing here depends on the order of a map or of goroutines, and sums run in
// a fixed order with each product rounded, so that processors with a fused
// multiply-add give the same numbers.
package rank

import (
	_ "embed"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

//go:embed stopwords.txt
var stopwordList string

// stopwords are English function words, which say nothing about the subject.
var stopwords = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(stopwordList) {
		m[w] = true
	}
	return m
}()

// maxWordBytes bounds what counts as a word: longer ones are hashes and
// encoded data.
const maxWordBytes = 40

// Words returns the content words of s in order, in lower case: no stop words,
// no numbers, no single letters (but single ideographs).
func Words(s string) []string {
	var out []string
	for it := words.FromString(s); it.Next(); {
		w := strings.ToLower(it.Value())
		w = strings.TrimSuffix(strings.ReplaceAll(w, "’", "'"), "'s")
		if len(w) > maxWordBytes || stopwords[w] || !strings.ContainsFunc(w, unicode.IsLetter) {
			continue
		}
		if r, size := utf8.DecodeRuneInString(w); size == len(w) && !unicode.Is(unicode.Ideographic, r) {
			continue
		}
		out = append(out, w)
	}
	return out
}
