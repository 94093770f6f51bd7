package docs

import (
	"bytes"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
	"github.com/clipperhouse/uax29/v2/words"
)

// Limits on what one document may bring into an analysis. The graph of
// sentences grows with their square.
const (
	MaxSentences     = 1000
	maxSentenceBytes = 600
	minSentenceWords = 5
)

// Text is a document as the analyses see it.
type Text struct {
	Title     string
	Sentences []string // in the order of the document, each one once
	Words     string   // the whole text, for counting words; includes headings and tables
	Cut       bool     // it had more than MaxSentences
}

// page is what a reader of one format delivers: blocks of running text, such
// as paragraphs, list items and table cells. A sentence never spans two.
type page struct {
	title  string
	blocks []string
}

// text splits the blocks into sentences. Fragments (menus, table cells,
// captions) and overlong runs without a full stop are no sentences; they still
// count as words.
func (pg page) text(p string) Text {
	t := Text{Title: squeeze(pg.title), Words: strings.Join(pg.blocks, "\n")}
	if t.Title == "" {
		t.Title = path.Base(p)
	}
	seen := map[string]bool{}
	for _, b := range pg.blocks {
		for it := sentences.FromString(squeeze(b)); it.Next(); {
			s := strings.TrimSpace(it.Value())
			if seen[s] || len(s) > maxSentenceBytes || !atLeastWords(s, minSentenceWords) || !endsSentence(s) {
				continue
			}
			if len(t.Sentences) == MaxSentences {
				t.Cut = true
				return t
			}
			seen[s] = true
			t.Sentences = append(t.Sentences, s)
		}
	}
	return t
}

// atLeastWords counts words by Unicode's rules, as not every script has spaces.
func atLeastWords(s string, n int) bool {
	for it := words.FromString(s); n > 0 && it.Next(); {
		if strings.ContainsFunc(it.Value(), unicode.IsLetter) {
			n--
		}
	}
	return n == 0
}

// endsSentence tells a sentence from a heading or a caption by its full stop.
// A closing quote or bracket may follow it.
func endsSentence(s string) bool {
	s = strings.TrimRightFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Pe, unicode.Pf) || r == '"' || r == '\''
	})
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.Is(unicode.Sentence_Terminal, r)
}

// readText takes blank lines as the borders of blocks and the first line as
// the title, as long as it looks like one.
func readText(data []byte) (page, error) {
	s := strings.ReplaceAll(decode(data, nil), "\r\n", "\n")
	var pg page
	var block []string
	flush := func() {
		if len(block) > 0 {
			pg.blocks = append(pg.blocks, strings.Join(block, "\n"))
			block = nil
		}
	}
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if line == "" {
			flush()
			continue
		}
		if pg.title == "" {
			pg.title = truncate(line, 120)
		}
		block = append(block, line)
	}
	flush()
	return pg, nil
}

// decode returns data as valid UTF-8. What is none gets its format's own
// fallback, if it has one; bytes still invalid after that become U+FFFD.
func decode(data []byte, fallback func([]byte) ([]byte, error)) string {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) && fallback != nil {
		if d, err := fallback(data); err == nil {
			data = d
		}
	}
	return strings.ToValidUTF8(string(data), "�")
}

// squeeze makes every run of white space one space and drops control
// characters, which have no business in a report or on a terminal.
func squeeze(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// truncate cuts s to at most n bytes at a rune's border.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

func hasNUL(b []byte) bool { return bytes.IndexByte(b, 0) >= 0 }
