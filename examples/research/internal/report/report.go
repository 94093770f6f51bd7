// Package report compiles the analyses of many documents into one Markdown
// report with its sources. The same analyses give the same bytes: no clock, no
// order of arrival, nothing of the machine goes into it.
package report

import (
	"fmt"
	"strings"

	"github.com/pawlgo/pawl/examples/research/internal/analysis"
	"github.com/pawlgo/pawl/examples/research/internal/docs"
	"github.com/pawlgo/pawl/examples/research/internal/rank"
)

const (
	docTerms    = 8  // terms named for each document
	themes      = 12 // terms named for the collection
	themeQuotes = 3  // documents quoted for a theme
)

// Item is a document with its analysis.
type Item struct {
	Ref      docs.Ref          `json:"ref"`
	Analysis analysis.Analysis `json:"analysis"`
}

// Input is everything that a report is made of.
type Input struct {
	Folder  string // as the reader of the report knows it
	Method  string
	Items   []Item // in the order of their paths
	Skipped []docs.Skip
}

// Markdown writes the report. Numbers in brackets, such as [7], are sources.
func Markdown(in Input) string {
	c := weigh(in.Items)
	var b strings.Builder
	total := 0
	for _, it := range in.Items {
		total += it.Analysis.Words
	}
	fmt.Fprintf(&b, "# Research report: %s\n\n", escape(in.Folder))
	fmt.Fprintf(&b, "%s, %s. Method: %s. Quoted sentences are the documents' own words; a number in brackets is the source.\n",
		count(len(in.Items), "document"), count(total, "content word"), escape(in.Method))
	if len(in.Items) > 1 {
		writeThemes(&b, in.Items, c)
	}
	b.WriteString("\n## Documents\n")
	for i, it := range in.Items {
		writeDocument(&b, i, it, c.terms[i])
	}
	b.WriteString("\n## Sources\n\n")
	for i, it := range in.Items {
		fmt.Fprintf(&b, "- [%d] %s: %s, SHA-256 `%s`\n", i+1, escape(it.Analysis.Title), code(it.Ref.Path), it.Ref.SHA256)
	}
	if len(in.Skipped) > 0 {
		b.WriteString("\n## Not analysed\n\n")
		for _, s := range in.Skipped {
			fmt.Fprintf(&b, "- %s: %s\n", code(s.Path), escape(s.Reason))
		}
	}
	return b.String()
}

func writeDocument(b *strings.Builder, i int, it Item, terms []rank.Term) {
	a := it.Analysis
	fmt.Fprintf(b, "\n### [%d] %s\n\n", i+1, escape(a.Title))
	fmt.Fprintf(b, "Source: %s, %s.", code(it.Ref.Path), count(a.Words, "content word"))
	if len(terms) > 0 {
		b.WriteString(" Terms: " + join(terms) + ".")
	}
	if a.Cut {
		b.WriteString(" Only its beginning was read for sentences: it is too long.")
	}
	b.WriteString("\n")
	if a.Summary != "" {
		fmt.Fprintf(b, "\nThe model's summary, not a quotation: %s\n", escape(a.Summary))
	}
	if len(a.Sentences) == 0 {
		b.WriteString("\nNo sentences were found in it.\n")
		return
	}
	b.WriteString("\n")
	for _, s := range inOrder(a.Sentences) {
		fmt.Fprintf(b, "- %s (sentence %d)\n", escape(s.Text), s.N)
	}
}

func writeThemes(b *strings.Builder, items []Item, c collection) {
	b.WriteString("\n## Themes\n")
	if len(c.themes) == 0 {
		b.WriteString("\nNo term that only some of the documents have stands in their key sentences.\n")
	}
	for _, th := range c.themes {
		fmt.Fprintf(b, "\n**%s**, in %s, most in %s.\n\n", escape(th.Word), count(c.df[th.Word], "document"), cite(th.docs))
		for _, q := range th.quotes {
			fmt.Fprintf(b, "- %s [%d]\n", escape(q.text), q.doc+1)
		}
	}
}

// count says "1 document" or "12,345 documents".
func count(n int, what string) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if n != 1 {
		what += "s"
	}
	return digits + " " + what
}

func cite(docs []int) string {
	var s []string
	for _, d := range docs {
		s = append(s, fmt.Sprintf("[%d]", d+1))
	}
	return strings.Join(s, " ")
}

func join(terms []rank.Term) string {
	var s []string
	for _, t := range terms {
		s = append(s, escape(t.Word))
	}
	return strings.Join(s, ", ")
}
