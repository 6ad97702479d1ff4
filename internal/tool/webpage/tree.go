package webpage

import (
	"context"
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

const (
	maxNodes   = 100_000 // nodes of a page; the rest is left out
	maxDepth   = 200     // nesting of elements; deeper ones are flattened
	maxIndents = 8       // nesting of lists and quotes, each of which lengthens all of its lines
	maxCells   = 50_000  // cells of a table, including the empty ones that fill its rows; larger tables become blocks
	maxLink    = 2000    // bytes of a URL; longer ones are left out
	maxLinks   = 2 << 20 // bytes of all URLs of a page
	maxTitle   = 300     // bytes of a title
)

// tree is a page reduced to the elements that matter.
type tree struct {
	title string
	body  *html.Node
	cut   bool // the page has more
}

// frame is an open element.
type frame struct {
	node *html.Node
	tag  string // name in the page
	name string // name to keep; the node may have another because of the limits

	rows, width, widest int // of a table: its rows, the cells of the current row and of the longest
}

// builder builds a tree from tokens. The parser of golang.org/x/net/html
// follows the standard, by which elements can be copied without bound; this
// one creates at most one node per token.
type builder struct {
	tree
	base  *url.URL
	open  []frame
	over  int // open elements beyond maxDepth
	nodes int
	links int // bytes of the URLs so far
	text  strings.Builder
	head  bool // the next text is the title
}

// parse parses the page with the URL base. It checks the context regularly.
func parse(ctx context.Context, source string, base *url.URL) (tree, error) {
	body := &html.Node{Type: html.ElementNode, Data: "div"}
	b := &builder{tree: tree{body: body}, base: base, open: []frame{{node: body}}}
	z := html.NewTokenizer(strings.NewReader(source))
	for n := 0; b.nodes < maxNodes; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return tree{}, context.Cause(ctx)
		}
		switch z.Next() {
		case html.ErrorToken: // the end: reading a string has no other error
			b.leave(1)
			return b.tree, nil
		case html.TextToken:
			if b.head {
				b.title = strings.Join(strings.Fields(string(z.Text())), " ")
				b.title = strings.ToValidUTF8(b.title[:min(len(b.title), maxTitle)], "")
				b.head = false
			} else {
				b.text.Write(z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			b.start(readElement(z))
		case html.EndTagToken:
			name, _ := z.TagName()
			b.end(string(name))
		default:
		}
	}
	b.leave(1)
	b.cut = true
	return b.tree, nil
}

// at returns the innermost open element.
func (b *builder) at() *html.Node { return b.open[len(b.open)-1].node }

// flush adds the collected text to the tree.
func (b *builder) flush() {
	if b.text.Len() == 0 {
		return
	}
	b.nodes++
	text := b.text.String()
	b.text.Reset()
	if b.indents() > 0 { // in code, every line gets the indentation
		kept := 0
		for line := range strings.Lines(text) {
			if kept += len(line); b.nodes < maxNodes {
				b.nodes++
			} else {
				text = text[:kept]
				break
			}
		}
	}
	b.at().AppendChild(&html.Node{Type: html.TextNode, Data: text})
}

// push opens an element. If it is not seen, neither it nor its content is
// added to the tree.
func (b *builder) push(f frame, seen bool) {
	if len(b.open) > maxDepth {
		b.over++
		return
	}
	b.flush()
	b.nodes++
	if seen {
		b.at().AppendChild(f.node)
	}
	b.open = append(b.open, f)
}

// closeUp closes the innermost open element that is in names, and everything
// within it, unless an element of limits is in between.
func (b *builder) closeUp(names, limits map[string]bool) {
	for i := len(b.open) - 1; i > 0; i-- {
		switch name := b.open[i].name; {
		case names[name]:
			b.leave(i)
			return
		case limits[name]:
			return
		}
	}
}

// leave closes the open elements from the i-th on.
func (b *builder) leave(i int) {
	b.flush()
	b.open = b.open[:i]
	b.over = 0
}

// end handles an end tag. It ignores one that closes nothing.
func (b *builder) end(tag string) {
	switch {
	case tag == "title":
		b.head = false
		return
	case void[tag]:
		return
	case b.over > 0:
		b.over--
		return
	}
	for i := len(b.open) - 1; i > 0; i-- {
		if b.open[i].tag == tag {
			b.leave(i)
			return
		}
		if walls[b.open[i].name] && !walls[kept[tag]] && tag != "tr" {
			return
		}
	}
}
