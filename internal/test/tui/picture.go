package tui

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
)

// Dimensions of a picture, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18
	fontSize   = 14
	edge       = 14 // around the screen
)

// SVG draws the screen as an SVG image, with the colors of a theme where cells have
// none.
func (s Screen) SVG(t theme.Theme) string {
	width := 0
	for _, row := range s {
		width = max(width, len(row))
	}
	p := &picture{theme: t}
	for y, row := range s {
		p.row(y, row)
	}
	w, h := float64(width)*cellWidth+2*edge, len(s)*cellHeight+2*edge
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, "<style>text{font:%dpx ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",\"Liberation Mono\",monospace;white-space:pre}", fontSize)
	for i, style := range p.styles {
		fmt.Fprintf(&b, ".s%d{%s}", i, p.css(style))
	}
	fmt.Fprintf(&b, "</style>\n<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"%s\"/>\n", t.Colors.Screen)
	b.WriteString(p.body.String())
	b.WriteString("</svg>\n")
	return b.String()
}

// picture is an SVG that is being written.
type picture struct {
	theme  theme.Theme
	styles []Style
	body   strings.Builder
}

// row draws a line in runs of cells of the same style.
func (p *picture) row(y int, row []Cell) {
	for from := 0; from < len(row); {
		to := from + 1
		for to < len(row) && row[to].Style == row[from].Style {
			to++
		}
		p.run(from, y, row[from:to])
		from = to
	}
}

func (p *picture) run(x, y int, cells []Cell) {
	left, top, width := edge+float64(x)*cellWidth, edge+y*cellHeight, float64(len(cells))*cellWidth
	style := cells[0].Style
	if _, back := p.colors(style); back != "" {
		fmt.Fprintf(&p.body, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", left, top, width, cellHeight, back)
	}
	text := strings.TrimRight(textOf(cells), " ")
	blanks := len(text) - len(strings.TrimLeft(text, " "))
	if text = text[blanks:]; text == "" {
		return
	}
	left += float64(blanks) * cellWidth
	n := 0 // number of cells of the text
	for _, c := range cells[blanks:] {
		if n++; strings.TrimRight(textOf(cells[blanks:blanks+n]), " ") == text && c.Text != "" {
			break
		}
	}
	fmt.Fprintf(&p.body, "<text class=\"s%d\" x=\"%.1f\" y=\"%d\" textLength=\"%.1f\">%s</text>\n",
		p.class(style), left, top+cellHeight-5, float64(n)*cellWidth, html.EscapeString(text))
}

// class returns the number of a style.
func (p *picture) class(s Style) int {
	if i := slices.Index(p.styles, s); i >= 0 {
		return i
	}
	p.styles = append(p.styles, s)
	return len(p.styles) - 1
}

// colors returns the colors of a style; back is "" for the screen's own.
func (p *picture) colors(s Style) (fore, back string) {
	fore, back = s.Fore, s.Back
	if !strings.HasPrefix(fore, "#") {
		fore = p.theme.Colors.Text
	}
	if s.Reverse {
		if back == "" {
			back = p.theme.Colors.Screen
		}
		return back, fore
	}
	return fore, back
}

func (p *picture) css(s Style) string {
	fore, _ := p.colors(s)
	css := "fill:" + fore
	if s.Bold {
		css += ";font-weight:bold"
	}
	if s.Italic {
		css += ";font-style:italic"
	}
	if s.Faint {
		css += ";opacity:.6"
	}
	if s.Underline {
		css += ";text-decoration:underline"
	}
	if s.Hidden {
		css += ";text-decoration:line-through"
	}
	return css
}
