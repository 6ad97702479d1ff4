package dialog

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// The sections of a permission prompt that are treated specially.
const (
	sectionChange = "Change"       // a diff
	sectionParts  = "Parts"        // the segments of a command
	sectionReason = "Reason"       // why it asks
	sectionInput  = "Input"        // the rest of the input
	sectionAlways = "Always allow" // how the name of the section with the rules begins
)

// section is a part of the text of a permission prompt. Text of the model begins with a
// bar, a warning with "  ! ".
type section struct {
	name  string // "" for the command, which directly follows the title
	lines []string
}

// The beginnings of lines in the text of a permission prompt.
const (
	textBar     = "  | "
	textWarning = "  ! "
	textNote    = "    " // about a segment
)

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

// reasonText returns the notes about the segments of a command, and the reason.
func reasonText(reason string, list []section) string {
	var notes []string
	for _, part := range list {
		for _, line := range part.lines {
			switch note, ok := strings.CutPrefix(line, textNote); {
			case part.name == sectionParts && ok && !strings.Contains(reason, note) && !slices.Contains(notes, note):
				notes = append(notes, note)
			case part.name == sectionReason && reason == "":
				notes = append(notes, strings.TrimSpace(line))
			}
		}
	}
	return strings.Join(append(notes, reason), " ")
}

// body returns what the call would do: the command or the diff, and what else the user must know. The
// details have the rest.
func (p *permission) body(width int) []string {
	a := p.asking.Ask
	title, list := sections(sanitize.Marked(a.Text))
	var lines []string
	if ansi.StringWidth(p.title()) > width/2 { // it may not fit in the frame
		lines = append(wrapText(p.title(), width), "")
	}
	for _, line := range commandLines(a.Command) {
		lines = append(lines, p.line(textBar+line, true, width)...)
	}
	for _, part := range list {
		switch {
		case part.name == "":
			lines = append(lines, p.command(part, a.Command != "", width)...)
		case part.name == sectionParts, part.name == sectionReason, strings.HasPrefix(part.name, sectionAlways):
		case part.name == sectionInput && (a.Command != "" || hasChange(list)):
		default:
			lines = append(lines, p.section(part, len(lines) > 0, width)...)
		}
	}
	if len(lines) == 0 {
		lines = wrapText(title, width)
	}
	if p.small {
		lines = append(lines, p.why(width)...)
		for _, pattern := range patterns(p.offer) {
			lines = append(lines, wrapText("  "+sectionAlways+": "+pattern, width)...)
		}
	}
	return lines
}

func commandLines(command string) []string {
	if command == "" {
		return nil
	}
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(command, "\n"), "\n") {
		lines = append(lines, sanitize.Line(line))
	}
	return lines
}

func hasChange(list []section) bool {
	return slices.ContainsFunc(list, func(s section) bool { return s.name == sectionChange })
}

// command renders the section of the command; if the command is shown already, only its warnings.
func (p *permission) command(part section, shown bool, width int) []string {
	var lines []string
	for _, line := range part.lines {
		if !shown || strings.HasPrefix(line, textWarning) {
			lines = append(lines, p.line(line, true, width)...)
		}
	}
	return lines
}

// section renders the name of a section and its lines. A section with one short line needs only one.
func (p *permission) section(part section, gap bool, width int) []string {
	s := p.shared.Styles
	var lines []string
	if gap {
		lines = append(lines, "")
	}
	if text := strings.TrimPrefix(strings.Join(part.lines, "\n"), textBar); len(part.lines) == 1 && part.name != sectionChange && ansi.StringWidth(part.name+text)+2 <= width {
		return append(lines, s.Muted.Render(part.name)+"  "+s.Text.Render(text))
	}
	if part.name != sectionChange {
		for _, line := range wrapText(part.name, width) {
			lines = append(lines, s.Muted.Render(line))
		}
	}
	return append(lines, p.part(part, width)...)
}

// details returns everything about the call: the segments, the rules and the raw input.
func (p *permission) details(width int) []string {
	_, list := sections(sanitize.Marked(p.asking.Ask.Text))
	var lines []string
	for _, part := range list {
		if strings.HasPrefix(part.name, sectionAlways) {
			continue
		}
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		for _, line := range wrapText(part.name, width) {
			if line != "" {
				lines = append(lines, p.shared.Styles.Muted.Render(line))
			}
		}
		lines = append(lines, p.part(part, width)...)
	}
	return append(lines, p.always(width)...)
}

// part renders the lines of a section: diffs are colored.
func (p *permission) part(part section, width int) []string {
	painter := newPainter(p.shared.Styles)
	var lines []string
	for _, line := range part.lines {
		if text, barred := strings.CutPrefix(line, textBar); barred && part.name == sectionChange {
			lines = append(lines, painter.paint(strings.ReplaceAll(text, "\t", "    "), width)...)
			continue
		}
		lines = append(lines, p.line(line, part.name == "", width)...)
	}
	return lines
}

// line renders a line of the text: the command and warnings stand out.
func (p *permission) line(line string, command bool, width int) []string {
	s := p.shared.Styles
	sgr := layout.SGROf(s.Text)
	switch {
	case strings.HasPrefix(line, textWarning):
		sgr = layout.SGROf(s.Bad)
	case command:
		sgr = layout.SGROf(s.Bold)
	}
	if text, barred := strings.CutPrefix(line, textBar); barred {
		line = bar + text
	}
	var lines []string
	for _, piece := range wrapText(line, width) {
		if text, barred := strings.CutPrefix(piece, bar); barred {
			lines = append(lines, s.Muted.Render(bar)+layout.Render(layout.Span{Text: text, SGR: sgr}))
			continue
		}
		lines = append(lines, layout.Render(layout.Span{Text: piece, SGR: sgr}))
	}
	return lines
}

// always returns the rules that "always allow" would add, word for word.
func (p *permission) always(width int) []string {
	s := p.shared.Styles
	switch {
	case len(p.asking.Ask.Offer) == 0:
		return []string{"", s.Muted.Render(sectionAlways + " is not available for this call.")}
	case len(p.offer) == 0:
		return []string{"", s.Muted.Render(sectionAlways + " adds nothing: all rules were removed.")}
	}
	lines := []string{"", s.Muted.Render(sectionAlways + " adds")}
	for _, rule := range p.offer {
		for _, line := range wrapText("  "+sanitize.Line(string(rule)), width) {
			lines = append(lines, s.Accent.Render(line))
		}
	}
	return lines
}
