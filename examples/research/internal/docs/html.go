package docs

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// unread holds elements whose text is not the document's: code that runs,
// controls, and what surrounds a page on every page. Listings are left out
// too, since program text makes poor sentences.
var unread = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Svg: true,
	atom.Form: true, atom.Button: true, atom.Select: true, atom.Textarea: true,
	atom.Nav: true, atom.Footer: true, atom.Pre: true,
}

// inline holds elements that do not end a block. All others do, so an unknown
// element cannot glue two paragraphs together.
var inline = map[atom.Atom]bool{
	atom.A: true, atom.Abbr: true, atom.B: true, atom.Bdi: true, atom.Bdo: true, atom.Cite: true,
	atom.Code: true, atom.Data: true, atom.Del: true, atom.Dfn: true, atom.Em: true, atom.Font: true,
	atom.I: true, atom.Img: true, atom.Ins: true, atom.Kbd: true, atom.Mark: true, atom.Q: true, atom.S: true,
	atom.Samp: true, atom.Small: true, atom.Span: true, atom.Strong: true, atom.Sub: true,
	atom.Sup: true, atom.Time: true, atom.Tt: true, atom.U: true, atom.Var: true, atom.Wbr: true,
}

func readHTML(data []byte) (page, error) {
	return parseHTML(decode(data, declaredCharset))
}

// declaredCharset decodes data as a browser would: by the encoding the page
// names, else as windows-1252.
func declaredCharset(data []byte) ([]byte, error) {
	enc, _, _ := charset.DetermineEncoding(data, "text/html")
	return enc.NewDecoder().Bytes(data)
}

func parseHTML(s string) (page, error) {
	root, err := html.Parse(strings.NewReader(s))
	if err != nil {
		return page{}, fmt.Errorf("as HTML: %w", err)
	}
	var c collector
	c.walk(root)
	c.flush()
	if c.title == "" {
		c.title = c.heading
	}
	return page{c.title, c.blocks}, nil
}

// collector gathers the text of a tree block by block. html.Parse bounds the
// depth of what it accepts, so the recursion is bounded too.
type collector struct {
	title, heading string
	blocks         []string
	block          strings.Builder
}

func (c *collector) walk(n *html.Node) {
	switch {
	case n.Type == html.TextNode:
		c.block.WriteString(n.Data)
		return
	case n.Type != html.ElementNode:
		// the document and its doctype: only their children matter
	case n.DataAtom == atom.Title && c.title == "":
		c.title = squeeze(textOf(n))
		return
	case unread[n.DataAtom] || hidden(n):
		c.flush()
		return
	case n.DataAtom == atom.H1 && c.heading == "":
		c.heading = squeeze(textOf(n))
	}
	if n.Type == html.ElementNode && !inline[n.DataAtom] {
		c.flush()
		defer c.flush()
	}
	c.children(n)
}

func (c *collector) children(n *html.Node) {
	for k := range n.ChildNodes() {
		c.walk(k)
	}
}

func (c *collector) flush() {
	if s := strings.TrimSpace(c.block.String()); s != "" {
		c.blocks = append(c.blocks, s)
	}
	c.block.Reset()
}

func textOf(n *html.Node) string {
	var b bytes.Buffer
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			io.WriteString(&b, d.Data)
		}
	}
	return b.String()
}

func hidden(n *html.Node) bool {
	for _, a := range n.Attr {
		if a.Key == "hidden" || a.Key == "aria-hidden" && a.Val == "true" {
			return true
		}
	}
	return false
}
