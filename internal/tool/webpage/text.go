package webpage

import (
	"strings"

	"golang.org/x/net/html"
)

// plain writes the text of a tree, one line per block.
func plain(n *html.Node, out *strings.Builder, pre bool) {
	if n.Type == html.TextNode {
		if !pre {
			writeWords(n.Data, out)
			return
		}
		out.WriteString(n.Data)
		return
	}
	block := blocks[n.Data] && !cells[n.Data] || n.Data == "br"
	if block {
		newline(out)
	}
	if n.Data == "img" {
		writeWords(n.Attr[1].Val, out)
	}
	for c := range n.ChildNodes() {
		plain(c, out, pre || n.Data == "pre")
	}
	switch {
	case block:
		newline(out)
	case cells[n.Data] && n.NextSibling != nil:
		out.WriteString("\t")
	}
}

// writeWords writes text with single spaces between its words.
func writeWords(text string, out *strings.Builder) {
	words := strings.Join(strings.Fields(text), " ")
	so := out.String()
	begun := so != "" && !strings.HasSuffix(so, " ") && !strings.HasSuffix(so, "\n") && !strings.HasSuffix(so, "\t")
	if begun && isBlank(text[:1]) {
		out.WriteString(" ")
	}
	out.WriteString(words)
	if words != "" && isBlank(text[len(text)-1:]) {
		out.WriteString(" ")
	}
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

func newline(out *strings.Builder) {
	if so := out.String(); so != "" && !strings.HasSuffix(so, "\n") {
		out.WriteString("\n")
	}
}
