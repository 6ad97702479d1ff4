package dialog

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// The sections of a permission prompt that are treated specially.
const (
	sectionChange = "Change"       // a diff
	sectionAlways = "Always allow" // how the name of the section with the rules begins
)

// section is a part of the text of a permission prompt. Text of the model begins with a
// bar, a warning with "  ! ".
type section struct {
	name  string // "" for the command, which directly follows the title
	lines []string
}

// sections splits the text of a permission prompt into its title and sections. The name
// of a section is at the beginning of a line; all other lines are indented. It accepts
// any text, and drops nothing but trailing newlines.
func sections(text string) (title string, list []section) {
	title, rest, more := strings.Cut(strings.TrimRight(text, "\n"), "\n")
	if !more {
		return title, nil
	}
	for line := range strings.SplitSeq(rest, "\n") {
		switch {
		case !strings.HasPrefix(line, " "):
			list = append(list, section{name: line})
		case len(list) == 0:
			list = append(list, section{lines: []string{line}})
		default:
			last := &list[len(list)-1]
			last.lines = append(last.lines, line)
		}
	}
	return title, list
}

// text returns all that the user decides about, wrapped to the width. The rules that
// "always allow" would add are shown as they would be sent. A title that may
// not fit in the frame is repeated.
func (p *permission) text(width int) []string {
	s := p.shared.Styles
	title, list := sections(sanitize.Marked(p.asking.Ask.Text))
	var lines []string
	if ansi.StringWidth(title) > width/2 {
		lines = wrapText(title, width)
	}
	for _, part := range list {
		if strings.HasPrefix(part.name, sectionAlways) {
			continue
		}
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		for _, line := range wrapText(part.name, width) {
			if line != "" {
				lines = append(lines, s.Muted.Render(line))
			}
		}
		lines = append(lines, p.part(part, width)...)
	}
	return append(lines, p.always(width)...)
}

// part renders a section: the command and warnings stand out, diffs are colored.
func (p *permission) part(part section, width int) []string {
	s := p.shared.Styles
	painter, own, command, warning := newPainter(s), layout.SGROf(s.Text), layout.SGROf(s.Bold), layout.SGROf(s.Bad)
	var lines []string
	for _, line := range part.lines {
		text, barred := strings.CutPrefix(line, bar)
		if barred && part.name == sectionChange {
			lines = append(lines, painter.paint(strings.ReplaceAll(text, "\t", "    "), width)...)
			continue
		}
		sgr := own
		switch {
		case strings.HasPrefix(line, "  ! "):
			sgr = warning
		case part.name == "":
			sgr = command
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
	name := sectionAlways + " adds"
	switch {
	case len(p.asking.Ask.Offer) == 0:
		return []string{"", s.Muted.Render(sectionAlways + " is not available for this call.")}
	case len(p.offer) == 0:
		return []string{"", s.Muted.Render(sectionAlways + " adds nothing: all rules were removed.")}
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
