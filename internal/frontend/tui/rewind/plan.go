package rewind

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/humanize"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/diff"
	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// maxFiles bounds how many files are listed.
const maxFiles = 200

// summary returns the lines that describe a plan.
func summary(s *theme.Styles, p pawl.UndoPlan, width int) []string {
	verb := "Undo"
	if p.Redo != 0 {
		verb = "Redo"
	}
	var lines []string
	switch {
	case !p.Scope.Conversation():
		lines = append(lines, s.Muted.Render("Keep the conversation"))
	default:
		lines = append(lines, s.Text.Render(verb+" "+humanize.Plural(p.Messages, "message")))
	}
	switch {
	case !p.Scope.Files():
		return append(lines, s.Muted.Render("Keep the files"))
	case len(p.Files) == 0:
		lines = append(lines, s.Muted.Render("Change no files"))
	default:
		lines = append(lines, s.Text.Render("Change "+humanize.Plural(len(p.Files), "file")))
	}
	if n := len(p.Blind); n > 0 {
		text := fmt.Sprintf("Cannot undo %s: no snapshot was taken", humanize.Plural(n, "call"))
		lines = append(lines, s.Warn.Render(text))
	}
	for i, f := range p.Files {
		if i == maxFiles {
			return append(lines, s.Muted.Render(fmt.Sprintf("  … %d more", len(p.Files)-i)))
		}
		lines = append(lines, fileLine(s, f, width))
	}
	return lines
}

// fileLine describes the change of a file; the path gets the remaining space.
func fileLine(s *theme.Styles, f pawl.FileChange, width int) string {
	head := fmt.Sprintf("  %-7s", sanitize.Line(f.Kind))
	counts := fmt.Sprintf("+%d -%d", f.Added, f.Deleted)
	path := sanitize.Line(f.Path)
	available := max(8, width-ansi.StringWidth(head)-len(counts)-3)
	if over := ansi.StringWidth(path) - available; over > 0 {
		path = ansi.TruncateLeft(path, over+1, "…")
	}
	line := s.Muted.Render(head) + " " + s.Text.Render(path) + "  " + s.Good.Render(fmt.Sprintf("+%d", f.Added)) + " " + s.Bad.Render(fmt.Sprintf("-%d", f.Deleted))
	if f.Conflict != "" {
		line += "  " + s.Warn.Render(sanitize.Line(f.Conflict))
	}
	return ansi.Truncate(line, width, "…")
}

// patch renders the changes of the files.
func patch(s *theme.Styles, text string, width int) []string {
	var lines []string
	styles := diff.NewStyles(s)
	for _, part := range split(text) {
		path, body := part.path, part.text
		lines = append(lines, "", s.Bold.Render(ansi.Truncate(sanitize.Line(path), width, "…")))
		for _, l := range diff.Render(styles, width, path, body) {
			lines = append(lines, l.Text)
		}
	}
	return lines
}

// filePatch is the part of a patch about one file.
type filePatch struct{ path, text string }

// split splits a patch by file, without the lines that name the file.
func split(text string) []filePatch {
	var parts []filePatch
	body := false // lines of the file follow
	for line := range strings.Lines(text) {
		name, begins := strings.CutPrefix(line, "diff --git a/")
		switch {
		case begins:
			parts = append(parts, filePatch{path: half(strings.TrimRight(name, "\n"))})
			body = false
			continue
		case len(parts) == 0:
			parts = append(parts, filePatch{})
		case !body && strings.HasPrefix(line, "index "):
			continue
		case strings.HasPrefix(line, "@@ "):
			body = true
		}
		parts[len(parts)-1].text += line
	}
	return parts
}

// half returns the path of what follows "diff --git a/": path, a space, b/path.
func half(names string) string {
	n := (len(names) - len(" b/")) / 2
	if n > 0 && names[n:] == " b/"+names[:n] {
		return names[:n]
	}
	return names
}

// rule returns a horizontal line.
func rule(s *theme.Styles, width int) string {
	return layout.Render(layout.Span{Text: strings.Repeat("─", width), SGR: layout.SGROf(s.Border)})
}
