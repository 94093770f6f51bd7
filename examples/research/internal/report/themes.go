package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/examples/research/internal/analysis"
	"github.com/pawlgo/pawl/examples/research/internal/rank"
)

// collection is what only all documents together tell.
type collection struct {
	df     map[string]int
	terms  [][]rank.Term // per document
	themes []theme
}

// theme is a term that weighs much over several documents.
type theme struct {
	rank.Term
	docs   []int // where it weighs most, the first first
	quotes []quote
}

type quote struct {
	doc  int
	text string
}

func weigh(items []Item) collection {
	counts := make([]map[string]int, len(items))
	for i, it := range items {
		counts[i] = it.Analysis.Counts
	}
	c := collection{df: rank.Frequencies(counts)}
	weights := make([]map[string]float64, len(items))
	sum := map[string]float64{}
	for i, it := range items {
		all := rank.TFIDF(it.Analysis.Counts, it.Analysis.Words, c.df, len(items), len(it.Analysis.Counts))
		c.terms = append(c.terms, all[:min(docTerms, len(all))])
		weights[i] = map[string]float64{}
		for _, t := range all { // in the order of documents, so that sums are repeatable
			weights[i][t.Word] = t.Weight
			sum[t.Word] += t.Weight
		}
	}
	var shared []rank.Term
	for _, w := range slices.Sorted(maps.Keys(sum)) {
		if c.df[w] > 1 {
			shared = append(shared, rank.Term{Word: w, Weight: sum[w]})
		}
	}
	rank.SortTerms(shared)
	for _, t := range shared {
		if len(c.themes) == themes {
			break
		}
		// A theme that no key sentence names is a word of tables and listings.
		if th := newTheme(t, items, weights); len(th.quotes) > 0 {
			c.themes = append(c.themes, th)
		}
	}
	return c
}

// newTheme finds the documents in which a term weighs most and the first key
// sentence of each that names it.
func newTheme(t rank.Term, items []Item, weights []map[string]float64) theme {
	th := theme{Term: t}
	for i := range items {
		if weights[i][t.Word] > 0 {
			th.docs = append(th.docs, i)
		}
	}
	slices.SortStableFunc(th.docs, func(a, b int) int {
		return cmp.Compare(weights[b][t.Word], weights[a][t.Word])
	})
	for _, d := range th.docs {
		for _, s := range items[d].Analysis.Sentences {
			if slices.Contains(rank.Words(s.Text), t.Word) {
				th.quotes = append(th.quotes, quote{d, s.Text})
				break
			}
		}
		if len(th.quotes) == themeQuotes {
			break
		}
	}
	th.docs = th.docs[:min(themeQuotes, len(th.docs))]
	return th
}

// inOrder puts key sentences in the order of the document, in which they read
// best.
func inOrder(s []analysis.Sentence) []analysis.Sentence {
	s = slices.Clone(s)
	slices.SortStableFunc(s, func(a, b analysis.Sentence) int { return cmp.Compare(a.N, b.N) })
	return s
}

// escaper covers what means something in Markdown inside a line; what means
// something only at its beginning cannot stand there, except in a list, and
// numbers with a full stop are caught by the backslash before it.
var escaper = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "|", `\|`, "#", `\#`, "~", `\~`, "$", `\$`)

// escape makes text of a document, or of a model, stand for itself: nothing in
// it can become a link, an image, HTML or a heading of the report.
func escape(s string) string {
	s = escaper.Replace(strings.Join(strings.Fields(s), " "))
	if s != "" && strings.ContainsRune("-+=", rune(s[0])) {
		s = `\` + s
	}
	if i := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }); i > 0 && (s[i] == '.' || s[i] == ')') {
		s = s[:i] + `\` + s[i:]
	}
	return s
}

// code sets s as inline code, with a fence longer than any run of backticks
// in it.
func code(s string) string {
	longest, run := 0, 0
	for _, r := range s {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if longest > 0 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}
