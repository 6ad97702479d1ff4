package chat

import (
	"encoding/json"
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/plain"
)

// render makes the lines of an entry. All that a stranger wrote goes through
// package plain here, and nowhere later.
func (v *View) render(e *Entry) []string {
	var lines []string
	switch e.Kind {
	case User:
		lines = v.user(e)
	case Reply:
		lines = v.wrap(plain.Text(e.text()), "")
	case Reasoning:
		lines = v.reasoning(e)
	case Call:
		lines = v.call(e)
	case Note:
		lines = v.note(e)
	}
	if e == v.selected {
		for i := range lines {
			lines[i] = v.styles.Accent.Render("▌") + lines[i]
		}
	} else {
		for i := range lines {
			lines[i] = " " + lines[i]
		}
	}
	return append(lines, "")
}

// wrap breaks text to the width, behind a prefix on each line.
func (v *View) wrap(text, prefix string) []string {
	width := max(1, v.width-lipgloss.Width(prefix)-2)
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		for part := range strings.SplitSeq(ansi.Wrap(line, width, ""), "\n") {
			lines = append(lines, prefix+part)
		}
	}
	return lines
}

func (v *View) user(e *Entry) []string {
	lines := v.wrap(plain.Text(e.Text), v.styles.User.Render("┃ "))
	for _, f := range e.Files {
		lines = append(lines, v.styles.User.Render("┃ ")+v.styles.Muted.Render("+ "+plain.Line(f.Name)))
	}
	if e.Waiting {
		lines = append(lines, v.styles.User.Render("┃ ")+v.styles.Muted.Render("waits"))
	}
	return lines
}

func (v *View) reasoning(e *Entry) []string {
	text := plain.Text(e.text())
	if !v.isOpen(e) && !e.Growing {
		first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		return []string{v.styles.Muted.Render(ansi.Truncate("thought: "+first, v.width-2, "…"))}
	}
	lines := v.wrap(text, "")
	if e.Growing && len(lines) > 6 {
		lines = lines[len(lines)-6:]
	}
	for i := range lines {
		lines[i] = v.styles.Muted.Render(lines[i])
	}
	return lines
}

func (v *View) note(e *Entry) []string {
	style := map[Tone]lipgloss.Style{Quiet: v.styles.Muted, Good: v.styles.Good, Warn: v.styles.Warn, Bad: v.styles.Bad}[e.Tone]
	lines := v.wrap(plain.Text(e.Text), "· ")
	for i := range lines {
		lines[i] = style.Render(lines[i])
	}
	return lines
}

func (v *View) call(e *Entry) []string {
	c := e.Call
	mark, style := "●", v.styles.Muted
	switch {
	case c.Asking != nil:
		mark, style = "?", v.styles.Warn
	case c.Status == "":
		mark, style = "◌", v.styles.Accent
	case c.Status == pawl.CallDone && !c.Result.IsError:
		style = v.styles.Good
	default:
		style = v.styles.Bad
	}
	head := fmt.Sprintf("%s %s %s", style.Render(mark), v.styles.Bold.Render(plain.Line(c.Tool)), v.styles.Muted.Render(plain.Line(subject(c.Input))))
	lines := []string{ansi.Truncate(head, v.width-2, "…")}
	text := c.Result.Content
	if c.Status == "" {
		text = c.Output.String()
	}
	body := v.wrap(plain.Text(text), "  ")
	if !v.isOpen(e) && len(body) > 4 {
		body = append(body[len(body)-4:len(body):len(body)], v.styles.Muted.Render(fmt.Sprintf("  … %d lines", len(body))))
	}
	return append(lines, body...)
}

// subject is what a call is about: the first of the usual keys of its input.
func subject(input json.RawMessage) string {
	var keys map[string]any
	if json.Unmarshal(input, &keys) != nil {
		return ""
	}
	for _, k := range []string{"command", "path", "file_path", "pattern", "query", "url", "description", "name"} {
		if text, ok := keys[k].(string); ok {
			return text
		}
	}
	return ""
}
