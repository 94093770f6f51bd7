package rank

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	got := Words("The WAL’s check-point isn't A 4096-byte page; sqlite3_step() x 日誌 " + strings.Repeat("f", 50))
	want := []string{"wal", "check", "point", "byte", "page", "sqlite3_step", "日", "誌"}
	if !slices.Equal(got, want) {
		t.Errorf("Words = %q, want %q", got, want)
	}
}

// TestTextRankByHand compares with scores solved by hand. Three sentences of
// three content words: a–b share two, b–c share one, a–c none, all edges have
// the same denominator, so b splits its vote 2:1.
func TestTextRankByHand(t *testing.T) {
	got := TextRank([]string{"Red green blue.", "The red and green sky.", "Sky cloud rain."}, 3)
	// a = .15+.85·(2/3)b, c = .15+.85·(1/3)b, b = .15+.85(a+c) ⇒ b = .405/(1-.7225)
	b := .405 / (1 - .7225)
	want := []Ranked{{1, b}, {0, .15 + .85*2/3*b}, {2, .15 + .85/3*b}}
	for i, w := range want {
		if got[i].Index != w.Index || math.Abs(got[i].Score-w.Score) > 1e-3 {
			t.Errorf("place %d: %+v, want %+v", i+1, got[i], w)
		}
	}
}

func TestTextRankEdges(t *testing.T) {
	if got := TextRank(nil, 5); len(got) != 0 {
		t.Errorf("no sentences: %v", got)
	}
	// Sentences alike have equal scores and keep their order; one that shares
	// nothing, or has one word only, stays at 1-d.
	got := TextRank([]string{"Lonely words here differ.", "Log page crash.", "Page log crash.", "Crash."}, 9)
	if len(got) != 4 || got[0].Index != 1 || got[1].Index != 2 || got[0].Score != got[1].Score || got[3] != (Ranked{3, .15}) {
		t.Errorf("alike and lonely: %v", got)
	}
}

// TestTextRankProperties: on random texts, scores add up to the number of
// sentences less what lonely ones do not pass on, every call gives the same
// answer, and the order of the sentences does not matter to the scores.
func TestTextRankProperties(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	vocabulary := strings.Fields("log page crash disk sync lock write read file index query table cache")
	for range 50 {
		var text []string
		for range 2 + rnd.IntN(30) {
			var s []string
			for range 2 + rnd.IntN(8) {
				s = append(s, vocabulary[rnd.IntN(len(vocabulary))])
			}
			text = append(text, strings.Join(s, " ")+".")
		}
		first := TextRank(text, len(text))
		for range 5 {
			if again := TextRank(text, len(text)); !slices.Equal(first, again) {
				t.Fatalf("two answers for %q", text)
			}
		}
		perm := rnd.Perm(len(text))
		shuffled := make([]string, len(text))
		for i, j := range perm {
			shuffled[i] = text[j]
		}
		byIndex := map[int]float64{}
		sum := 0.0
		for _, r := range first {
			byIndex[r.Index] = r.Score
			sum += r.Score
		}
		if sum > float64(len(text))+1e-3 {
			t.Errorf("scores of %d sentences add up to %f", len(text), sum)
		}
		for _, r := range TextRank(shuffled, len(text)) {
			if math.Abs(r.Score-byIndex[perm[r.Index]]) > 1e-3 {
				t.Errorf("sentence %q: %f, shuffled %f", shuffled[r.Index], byIndex[perm[r.Index]], r.Score)
			}
		}
	}
}

func TestTFIDF(t *testing.T) {
	a, na := Counts("log log page the a", 10)
	b, _ := Counts("page crash", 10)
	df := Frequencies([]map[string]int{a, b})
	got := TFIDF(a, na, df, 2, 5)
	// "page" is in both, so ln(2/2) = 0 and it says nothing; "log" is 2/3·ln 2.
	if len(got) != 1 || got[0].Word != "log" || math.Abs(got[0].Weight-2./3*math.Ln2) > 1e-6 {
		t.Errorf("TFIDF = %v", got)
	}
	if got := TFIDF(a, na, Frequencies([]map[string]int{a}), 1, 5); len(got) != 2 || got[0].Word != "log" {
		t.Errorf("a single document: %v", got)
	}
	if got := TFIDF(nil, 0, nil, 0, 5); len(got) != 0 {
		t.Errorf("nothing: %v", got)
	}
	c, total := Counts("dd dd cc cc bb aa", 3)
	if total != 6 || len(c) != 3 || c["dd"] != 2 || c["cc"] != 2 || c["aa"] != 1 {
		t.Errorf("bounded counts: %v of %d", c, total)
	}
}
