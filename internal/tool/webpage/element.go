package webpage

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// kept maps the elements that are kept to their names in the tree. Of other
// elements only the content is kept.
var kept = map[string]string{
	"p": "p", "dt": "p", "dd": "p",
	"div": "div", "section": "div", "article": "div", "main": "div", "header": "div", "footer": "div", "nav": "div",
	"aside": "div", "address": "div", "figure": "div", "figcaption": "div", "details": "div", "summary": "div",
	"center": "div", "fieldset": "div", "form": "div", "dialog": "div", "dl": "div", "legend": "div",
	"h1": "h1", "h2": "h2", "h3": "h3", "h4": "h4", "h5": "h5", "h6": "h6",
	"ul": "ul", "menu": "ul", "ol": "ol", "li": "li", "blockquote": "blockquote", "pre": "pre", "hr": "hr", "br": "br",
	"table": "table", "tr": "tr", "td": "td", "th": "th", "caption": "div",
	"a": "a", "img": "img", "b": "strong", "strong": "strong", "i": "em", "em": "em",
	"code": "code", "kbd": "code", "samp": "code", "tt": "code",
}

var (
	// dropped are elements whose content is invisible or not text.
	dropped = set("head script style noscript template iframe object svg math canvas audio video select textarea button noembed noframes")
	// void are elements without an end tag.
	void = set("br hr img wbr input meta link area base col embed source track param")

	blocks = set("p div h1 h2 h3 h4 h5 h6 ul ol li blockquote pre hr table tr td th")
	cells  = set("td th")
	lists  = set("ul ol")
	walls  = set("table td th") // end tags do not close elements across these
)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// implied lists, for a start tag, the open elements that it closes and the
// elements across which it does not.
var implied = map[string]struct{ names, limits map[string]bool }{
	"li": {set("li"), set("ul ol table")},
	"tr": {set("tr"), set("table")},
	"td": {cells, set("tr table")},
	"th": {cells, set("tr table")},
	"a":  {set("a"), blocks},
}

// paragraph is the element that every block element closes.
var paragraph, inline = set("p"), set("div h1 h2 h3 h4 h5 h6 ul ol li blockquote pre table tr td th")

// element is a start tag.
type element struct {
	tag                          string
	href, src, alt, class, start string
	hidden                       bool
}

// unseen matches styles that hide text from people, but not from a model.
var unseen = regexp.MustCompile(`(?i)display\s*:\s*none|visibility\s*:\s*hidden|(font-size|opacity)\s*:\s*0(\.0*)?(px|em|rem|pt|%)?\s*(;|!|$)`)

func readElement(z *html.Tokenizer) element {
	tag, more := z.TagName()
	e := element{tag: string(tag)}
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "href":
			e.href = string(value)
		case "src":
			e.src = string(value)
		case "alt":
			e.alt = string(value)
		case "class":
			e.class = string(value)
		case "start":
			e.start = string(value)
		case "hidden":
			e.hidden = true
		case "aria-hidden":
			e.hidden = e.hidden || string(value) == "true"
		case "style":
			e.hidden = e.hidden || unseen.Match(value)
		}
	}
	return e
}

func (b *builder) start(e element) {
	switch e.tag {
	case "title":
		b.head = b.title == ""
		return
	case "body": // closes a head that was left open
		b.closeUp(set("head"), nil)
		return
	case "base":
		if base, err := b.base.Parse(e.href); err == nil && base.Host != "" {
			b.base = base
		}
		return
	}
	name := kept[e.tag]
	if i, ok := implied[name]; ok {
		b.closeUp(i.names, i.limits)
	} else if blocks[name] {
		b.closeUp(paragraph, inline)
	}
	switch {
	case void[e.tag] && (name == "" || e.hidden):
		return
	case dropped[e.tag] || e.hidden:
		b.push(frame{node: &html.Node{Type: html.ElementNode, Data: "div"}, tag: e.tag, name: cmp.Or(name, e.tag)}, false)
		return
	case name == "":
		return
	}
	node, ok := b.node(e, name)
	switch {
	case !ok:
	case void[e.tag]:
		b.flush()
		b.nodes++
		b.at().AppendChild(node)
	default:
		b.count(name)
		b.push(frame{node: node, tag: e.tag, name: name}, true)
	}
}

// node returns the node of an element with the attributes that matter. It
// reports false for a link or an image without a target.
func (b *builder) node(e element, name string) (*html.Node, bool) {
	n := &html.Node{Type: html.ElementNode, Data: name}
	attr := func(key, value string) { n.Attr = append(n.Attr, html.Attribute{Key: key, Val: value}) }
	switch name {
	case "a":
		attr("href", b.link(e.href))
		return n, n.Attr[0].Val != ""
	case "img":
		attr("src", b.link(e.src))
		attr("alt", strings.Join(strings.Fields(e.alt), " "))
		return n, n.Attr[0].Val != "" && n.Attr[1].Val != ""
	case "pre", "code":
		if len(e.class) < 100 {
			attr("class", e.class)
		}
	case "ol":
		if start, err := strconv.Atoi(e.start); err == nil && start >= 0 && start < 10_000 {
			attr("start", strconv.Itoa(start))
		}
	}
	if (lists[name] || name == "blockquote") && b.indents() >= maxIndents {
		n.Data = "div"
	}
	return n, true
}

// link makes a URL absolute. It returns "" for URLs that cannot be opened.
func (b *builder) link(ref string) string {
	ref = strings.TrimSpace(ref)
	if ref == "" || ref[0] == '#' || len(ref) > maxLink || b.links > maxLinks {
		return ""
	}
	u, err := b.base.Parse(ref)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
		return ""
	}
	link := linkEscapes.Replace(u.String())
	if b.links += len(link); b.links > maxLinks || len(link) > maxLink {
		return ""
	}
	return link
}

// linkEscapes escapes characters that would end a link in Markdown.
var linkEscapes = strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E")

// indents returns how many lists and quotes are open.
func (b *builder) indents() (n int) {
	for _, f := range b.open {
		if lists[f.name] || f.name == "blockquote" {
			n++
		}
	}
	return n
}

// count updates the size of the innermost table.
func (b *builder) count(name string) {
	if name != "tr" && !cells[name] {
		return
	}
	for i := len(b.open) - 1; i > 0; i-- {
		f := &b.open[i]
		switch {
		case f.name != "table":
			continue
		case name == "tr":
			f.rows, f.width = f.rows+1, 0
		default:
			f.width++
			f.widest = max(f.widest, f.width)
		}
		if (f.rows+1)*f.widest > maxCells {
			f.node.Data = "div"
		}
		return
	}
}
