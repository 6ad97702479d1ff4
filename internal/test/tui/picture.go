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
	p := &picture{theme: t}
	p.screen(s)
	return p.svg(p.body.String(), "")
}

// Frame is a screen of an animation.
type Frame struct {
	Screen  Screen
	Seconds float64 // how long it is shown
}

// Animate draws the frames as an SVG image that repeats them with CSS alone. Where
// animations are turned off, it shows the last frame.
func Animate(t theme.Theme, frames []Frame) string {
	p := &picture{theme: t}
	total := 0.0
	for _, f := range frames {
		total += f.Seconds
	}
	var body, css strings.Builder
	fmt.Fprintf(&css, ".f{visibility:hidden}.f:last-of-type{visibility:visible}@media (prefers-reduced-motion:no-preference){.f{animation:%gs step-end infinite}}", total)
	begin := 0.0
	for i, f := range frames {
		p.body.Reset()
		p.screen(f.Screen)
		fmt.Fprintf(&body, "<g class=\"f\" style=\"animation-name:f%d\">\n%s</g>\n", i, p.body.String())
		end := begin + f.Seconds
		fmt.Fprintf(&css, "@keyframes f%d{0%%{visibility:%s}", i, visible(begin == 0))
		if begin > 0 {
			fmt.Fprintf(&css, "%.2f%%{visibility:visible}", 100*begin/total)
		}
		if i < len(frames)-1 {
			fmt.Fprintf(&css, "%.2f%%{visibility:hidden}", 100*end/total)
		}
		fmt.Fprintf(&css, "to{visibility:%s}}", visible(i == len(frames)-1))
		begin = end
	}
	return p.svg(body.String(), css.String())
}

func visible(yes bool) string {
	if yes {
		return "visible"
	}
	return "hidden"
}

// picture is an SVG that is being written.
type picture struct {
	theme         theme.Theme
	width, height int // of the largest screen, in cells
	styles        []Style
	body          strings.Builder
}

// screen draws a screen.
func (p *picture) screen(s Screen) {
	p.height = max(p.height, len(s))
	for y, row := range s {
		p.width = max(p.width, len(row))
		p.row(y, row)
	}
}

// svg returns the whole image with a body, and rules in addition to those of the styles.
func (p *picture) svg(body, rules string) string {
	w, h := float64(p.width)*cellWidth+2*edge, p.height*cellHeight+2*edge
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, "<style>text{font:%dpx ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",\"Liberation Mono\",monospace;white-space:pre}", fontSize)
	for i, style := range p.styles {
		fmt.Fprintf(&b, ".s%d{%s}", i, p.css(style))
	}
	fmt.Fprintf(&b, "%s</style>\n<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"%s\"/>\n", rules, p.theme.Colors.Screen)
	b.WriteString(body)
	b.WriteString("</svg>\n")
	return b.String()
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
