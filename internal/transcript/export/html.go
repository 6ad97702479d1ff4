package export

import (
	"bufio"
	_ "embed" // the page
	"encoding/base64"
	"html/template"
	"io"
	"slices"
	"strings"
)

//go:embed head.html
var headText string

//go:embed page.html
var pageText string

// Page parses the template of a page. It may call "head" with the page's title, which
// writes everything up to the body: the styles, and the content security policy that
// forbids scripts, links and external resources.
func Page(text string, funcs template.FuncMap) *template.Template {
	return template.Must(template.Must(template.New("page").Funcs(funcs).Parse(headText)).Parse(text))
}

var page = Page(pageText, template.FuncMap{"text": text, "diff": diffLines, "left": excerpt.leftOut})

// HTML writes a session as one page without scripts, links or external resources; its
// content security policy forbids them.
func HTML(w io.Writer, d Document) error {
	p := &htmlPage{Writer: bufio.NewWriter(w)}
	if err := write(p, d); err != nil {
		return err
	}
	return p.Flush()
}

type htmlPage struct {
	*bufio.Writer
	images int // bytes of the images so far
}

func (p *htmlPage) begin(h header) error { return page.ExecuteTemplate(p, "begin", h) }
func (p *htmlPage) end() error           { return page.ExecuteTemplate(p, "end", nil) }

func (p *htmlPage) block(b block) error {
	name := map[kind]string{turnBlock: "turn", sayBlock: "say", foldBlock: "fold", noteBlock: "note"}[b.Kind]
	view := struct {
		block
		Summary string
		Shown   []picture
	}{b, b.summary(), nil}
	for _, f := range b.Files {
		view.Shown = append(view.Shown, p.picture(f))
	}
	return page.ExecuteTemplate(p, name, view)
}

// picture is an attachment of the page.
type picture struct {
	file
	Source template.URL // "" if it is not shown
}

// imageTypes are the embedded image types: none that can contain a script.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// picture embeds a file if it is an image and not too large.
func (p *htmlPage) picture(f file) picture {
	size := len(f.Data)
	if !slices.Contains(imageTypes, f.MediaType) || size == 0 || size > maxImage || p.images+size > maxImages {
		return picture{file: f}
	}
	p.images += size
	return picture{f, template.URL("data:" + f.MediaType + ";base64," + base64.StdEncoding.EncodeToString(f.Data))} //nolint:gosec // a type of the list and base64
}

// text returns a text that the template always escapes.
func text(s string) any {
	return s
}

// diffLine is a line of a diff and its class.
type diffLine struct{ Class, Text string }

func diffLines(diff string) []diffLine {
	var lines []diffLine
	for s := range strings.SplitSeq(diff, "\n") {
		class := "same"
		switch {
		case strings.HasPrefix(s, "+++"), strings.HasPrefix(s, "---"), strings.HasPrefix(s, "@@"):
			class = "hunk"
		case strings.HasPrefix(s, "+"):
			class = "add"
		case strings.HasPrefix(s, "-"):
			class = "del"
		}
		lines = append(lines, diffLine{class, s})
	}
	return lines
}
