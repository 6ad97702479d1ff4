package webpage

import (
	"context"
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

const (
	maxNodes   = 100_000 // of a page; the rest is left out
	maxDepth   = 200     // elements within each other; deeper ones are flattened
	maxIndents = 8       // lists and quotes within each other, each of which lengthens all of its lines
	maxCells   = 50_000  // of a table, with the empty ones that make its rows equal; a larger one is made of blocks
	maxLink    = 2000    // bytes of an address; a longer one is left out
	maxLinks   = 2 << 20 // bytes of all addresses of a page
	maxTitle   = 300     // bytes
)

// tree is a page, made of the elements that matter.
type tree struct {
	title string
	body  *html.Node
	cut   bool // there is more of the page
}

// frame is an open element.
type frame struct {
	node *html.Node
	tag  string // as the page has it
	name string // as it is kept; its node may have another, for the sake of the bounds

	rows, width, widest int // of a table: its rows, and the cells of this one and of the longest
}

// builder makes a tree of tokens. The parser of the library follows the
// standard, by which a page can have elements copied without end; this one
// makes at most one node of a token.
type builder struct {
	tree
	base  *url.URL
	open  []frame
	over  int // open elements beyond maxDepth
	nodes int
	links int // bytes of the addresses
	text  strings.Builder
	head  bool // the text that comes is the title's
}

// parse reads a page whose address is base. It looks at the context all along.
func parse(ctx context.Context, source string, base *url.URL) (tree, error) {
	body := &html.Node{Type: html.ElementNode, Data: "div"}
	b := &builder{tree: tree{body: body}, base: base, open: []frame{{node: body}}}
	z := html.NewTokenizer(strings.NewReader(source))
	for n := 0; b.nodes < maxNodes; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return tree{}, context.Cause(ctx)
		}
		switch z.Next() {
		case html.ErrorToken: // the end: a string has no other error
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

// at is the innermost open element.
func (b *builder) at() *html.Node { return b.open[len(b.open)-1].node }

// flush puts the text that has come into the tree.
func (b *builder) flush() {
	if b.text.Len() == 0 {
		return
	}
	b.nodes++
	text := b.text.String()
	b.text.Reset()
	if b.indents() > 0 { // in code, each line gets longer
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

// push makes an element the innermost one. What is not seen is no part of the
// tree, and so is nothing within it.
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

// closeUp ends the innermost open element that is one of names, and all within
// it, unless one of limits is in between.
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

// leave ends the open elements from the i-th on.
func (b *builder) leave(i int) {
	b.flush()
	b.open = b.open[:i]
	b.over = 0
}

// end handles an end tag. One that ends nothing is passed over.
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
