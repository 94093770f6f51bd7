package rank

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Counts returns how often each content word occurs in text, for at most limit
// words; of more, the rarest are left out. The total counts all of them.
func Counts(text string, limit int) (counts map[string]int, total int) {
	counts = map[string]int{}
	for _, w := range Words(text) {
		counts[w]++
		total++
	}
	if len(counts) > limit {
		rarest := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
			return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(b, a))
		})
		for _, w := range rarest[:len(counts)-limit] {
			delete(counts, w)
		}
	}
	return counts, total
}

// Term is a word and what it weighs.
type Term struct {
	Word   string
	Weight float64 // rounded to six decimals
}

// Frequencies returns in how many of the documents each word occurs.
func Frequencies(docs []map[string]int) map[string]int {
	df := map[string]int{}
	for _, counts := range docs {
		for w := range counts {
			df[w]++
		}
	}
	return df
}

// TFIDF returns the n terms that set a document with these counts apart from
// the others, the heaviest first and equals in alphabetical order. The weight
// is the share of the word in its document times ln(N/df), where df of all N
// documents have the word: K. Spärck Jones, "A statistical interpretation of
// term specificity and its application in retrieval", Journal of Documentation
// 28 (1972); G. Salton and C. Buckley, "Term-weighting approaches in automatic
// text retrieval", IPM 24 (1988). In a collection of one document nothing sets
// it apart, and the share alone counts.
func TFIDF(counts map[string]int, total int, df map[string]int, docs, n int) []Term {
	terms := make([]Term, 0, len(counts))
	for w, c := range counts {
		weight := float64(c) / float64(max(total, 1))
		if docs > 1 {
			weight *= math.Log(float64(docs) / float64(df[w]))
		}
		if weight = math.Round(weight*1e6) / 1e6; weight > 0 {
			terms = append(terms, Term{w, weight})
		}
	}
	SortTerms(terms)
	return terms[:min(n, len(terms))]
}

// SortTerms puts the heaviest first and equals in alphabetical order.
func SortTerms(terms []Term) {
	slices.SortFunc(terms, func(a, b Term) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Word, b.Word))
	})
}
