package rank

import (
	"cmp"
	"math"
	"slices"
)

// Constants of TextRank as published.
const (
	damping    = 0.85
	tolerance  = 1e-4
	iterations = 100 // convergence takes about 30; this only bounds it
)

// Ranked is one sentence's place.
type Ranked struct {
	Index int     // into the sentences given
	Score float64 // rounded to six decimals
}

// TextRank returns the n most central sentences, the best first and equals in
// the order of the text: R. Mihalcea and P. Tarau, "TextRank: Bringing Order
// into Text", EMNLP 2004. Sentences are the nodes of a graph, edges weigh the
// words two of them share, normalised by their lengths, and a weighted
// PageRank finds the sentences that the others recommend.
func TextRank(sentences []string, n int) []Ranked {
	g := similarity(sentences)
	scores := pagerank(g)
	out := make([]Ranked, 0, len(scores))
	for i, s := range scores {
		out = append(out, Ranked{i, math.Round(s*1e6) / 1e6})
	}
	slices.SortFunc(out, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Index, b.Index))
	})
	return out[:min(n, len(out))]
}

// edge leads to a similar sentence.
type edge struct {
	to     int
	weight float64
}

// similarity builds the graph: |a ∩ b| / (log|a| + log|b|) over the distinct
// content words of two sentences. Sentences of one word have no edges, as
// their logarithm is zero.
func similarity(sentences []string) [][]edge {
	where := map[string][]int{} // word → sentences with it, ascending
	sets := make([][]string, len(sentences))
	for i, s := range sentences {
		sets[i] = Words(s)
		slices.Sort(sets[i])
		sets[i] = slices.Compact(sets[i])
		for _, w := range sets[i] {
			where[w] = append(where[w], i)
		}
	}
	g := make([][]edge, len(sentences))
	shared := make([]int, len(sentences))
	for i, set := range sets {
		clear(shared)
		for _, w := range set {
			for _, j := range where[w] {
				shared[j]++
			}
		}
		for j, n := range shared {
			if j == i || n == 0 || len(set) < 2 || len(sets[j]) < 2 {
				continue
			}
			g[i] = append(g[i], edge{j, float64(n) / (math.Log(float64(len(set))) + math.Log(float64(len(sets[j]))))})
		}
	}
	return g
}

// pagerank iterates WS(i) = (1-d) + d·Σⱼ w(j,i)/Σₖ w(j,k)·WS(j) until no score
// moves by more than the tolerance. The graph is symmetric, so the edges that
// leave i are also those that enter it.
func pagerank(g [][]edge) []float64 {
	out := make([]float64, len(g)) // sum of the weights that leave a node
	score := make([]float64, len(g))
	for i, es := range g {
		score[i] = 1
		for _, e := range es {
			out[i] += e.weight
		}
	}
	next := make([]float64, len(g))
	for range iterations {
		moved := 0.0
		for i, es := range g {
			sum := 0.0
			for _, e := range es {
				sum += float64(e.weight / out[e.to] * score[e.to])
			}
			next[i] = (1 - damping) + float64(damping*sum)
			moved = max(moved, math.Abs(next[i]-score[i]))
		}
		score, next = next, score
		if moved < tolerance {
			break
		}
	}
	return score
}
