package docs

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

// markdown renders to HTML, raw HTML included, because nobody looks at the
// result: the HTML reader takes it apart again. One reader decides what is
// text, whatever the source.
var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))

func readMarkdown(data []byte) (page, error) {
	var out bytes.Buffer
	if err := markdown.Convert([]byte(withoutFrontMatter(decode(data, nil))), &out); err != nil {
		return page{}, fmt.Errorf("as Markdown: %w", err)
	}
	return parseHTML(out.String())
}

// withoutFrontMatter drops the YAML block that many site generators want at
// the top; Markdown would take it for a heading.
func withoutFrontMatter(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	rest, ok := strings.CutPrefix(s, "---\n")
	if !ok {
		return s
	}
	if _, body, ok := strings.Cut(rest, "\n---\n"); ok {
		return body
	}
	return s
}
