package dialog

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// section is a part of the text of a permission prompt. Its name is at the beginning
// of a line; everything else is indented, and text of the model follows a bar.
type section struct {
	name  string
	lines []string
}

// sections parses the text. It omits the rules that "always allow" would add: they are
// shown as they would be sent.
func sections(text string) (title string, list []section) {
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		switch {
		case i == 0:
			title = line
		case !strings.HasPrefix(line, " ") || len(list) == 0:
			list = append(list, section{name: line})
		default:
			last := &list[len(list)-1]
			last.lines = append(last.lines, line)
		}
	}
	list = slices.DeleteFunc(list, func(s section) bool { return strings.HasPrefix(strings.ToLower(s.name), "always") })
	why := slices.IndexFunc(list, func(s section) bool { return strings.EqualFold(s.name, "why") })
	if why > 0 { // the reason comes first
		reason := list[why]
		list = slices.Insert(slices.Delete(list, why, why+1), 0, reason)
	}
	return title, list
}

// text returns all that the user decides about, wrapped to the width.
func (p *permission) text(width int) []string {
	s := p.shared.Styles
	title, list := sections(sanitize.Marked(p.asking.Ask.Text))
	var lines []string
	for _, line := range wrapText(title, width) {
		lines = append(lines, s.Bold.Render(line))
	}
	for _, part := range list {
		lines = append(lines, "", s.Muted.Render(part.name))
		lines = append(lines, p.part(part, width)...)
	}
	return append(lines, p.always(width)...)
}

// part renders a section: warnings stand out, diffs are colored.
func (p *permission) part(part section, width int) []string {
	s := p.shared.Styles
	painter, own, warning := newPainter(s), layout.SGROf(s.Text), layout.SGROf(s.Bad)
	var lines []string
	for _, line := range part.lines {
		text, barred := strings.CutPrefix(line, bar)
		if barred && strings.EqualFold(part.name, "change") {
			lines = append(lines, painter.paint(strings.ReplaceAll(text, "\t", "    "), width)...)
			continue
		}
		sgr := own
		if strings.HasPrefix(line, "  ! ") {
			sgr = warning
		}
		for _, piece := range wrapText(line, width) {
			lines = append(lines, layout.Render(layout.Span{Text: piece, SGR: sgr}))
		}
	}
	return lines
}

// always returns the rules that "always allow" would add, word for word.
func (p *permission) always(width int) []string {
	s := p.shared.Styles
	name := "always allow adds"
	switch {
	case len(p.asking.Ask.Offer) == 0:
		return []string{"", s.Muted.Render("always allow is not available for this")}
	case len(p.offer) == 0:
		return []string{"", s.Muted.Render("always allow adds nothing: all rules were removed")}
	case p.edited:
		name += ", as edited"
	}
	lines := []string{"", s.Muted.Render(name)}
	for _, rule := range p.offer {
		for _, line := range wrapText("  "+sanitize.Line(string(rule)), width) {
			lines = append(lines, s.Accent.Render(line))
		}
	}
	return lines
}
