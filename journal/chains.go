package journal

// chain is lines that continue each other, in the order of the file.
type chain struct {
	lines       []int // indexes of the candidates
	first, last *candidate
	header      bool // begins with a first record
	begins      bool // no line of the run stands before it
	ends        bool // none stands behind it
}

// chainsOf joins the lines of a run that continue each other. A line that is there twice in a
// row is taken once.
func chainsOf(found []candidate, own []int) []chain {
	var chains []chain
	for n, i := range own {
		c := &found[i]
		if len(chains) > 0 {
			ch := &chains[len(chains)-1]
			if c.seq == ch.last.seq && c.crc == ch.last.crc {
				continue
			}
			if c.seq == ch.last.seq+1 && c.prev == ch.last.crc && !c.header {
				ch.lines, ch.last = append(ch.lines, i), c
				ch.ends = n == len(own)-1
				continue
			}
		}
		chains = append(chains, chain{lines: []int{i}, first: c, last: c, header: c.header, begins: n == 0, ends: n == len(own)-1})
	}
	return chains
}

// maxChains bounds the work of comparing each chain with every one before it: a journal
// with more is in pieces, and the chains are taken as they come.
const maxChains = 4000

// bestChains chooses the chains that hold the most records together, of those that can
// follow each other.
func bestChains(chains []chain, tagged bool) []chain {
	best := make([]int, len(chains)) // records of the best choice that ends with this chain
	before := make([]int, len(chains))
	last, total := -1, 0
	for i := range chains {
		total += len(chains[i].lines)
	}
	for i := range chains {
		ch := &chains[i]
		before[i] = -1
		if !tagged && len(ch.lines) == 1 && !ch.begins && !ch.ends && !ch.header {
			best[i] = -1 // unless it continues one, below
		}
		for j := max(0, i-maxChains); j < i; j++ {
			if best[j] <= 0 {
				continue
			}
			if ok, linked := follows(&chains[j], ch); ok && (best[i] >= 0 || linked) && best[j] >= max(best[i], 1) {
				best[i], before[i] = best[j], j
			}
		}
		if best[i] < 0 {
			continue
		}
		best[i] += len(ch.lines)
		if ch.header {
			// Whose journal it is counts more than anything that contradicts it, and of two
			// incarnations the newer one.
			best[i] += total * int(min(max(ch.first.inc, 1), 1<<20))
		}
		if last < 0 || best[i] > best[last] {
			last = i
		}
	}
	var chosen []chain
	for ; last >= 0; last = before[last] {
		chosen = append(chosen, chains[last])
	}
	return chosen
}

// follows reports whether a chain can stand behind another one, and whether it continues
// it: then something foreign stands in between.
func follows(a, b *chain) (ok, linked bool) {
	switch {
	case b.header, b.first.seq <= a.last.seq:
		return false, false
	case b.first.seq == a.last.seq+1:
		linked = b.first.prev == a.last.crc
		return linked, linked
	}
	return true, false
}
