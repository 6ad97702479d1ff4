package chat

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/humanize"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/markdown"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Limits of entries that are not opened.
const (
	userLines      = 24
	reasoningLines = 4    // while it is streamed
	reasoningBytes = 2000 // of its text
)

// render renders an entry. All untrusted text is sanitized here or in the packages
// that render it.
func (v *View) render(e *Entry) []layout.Line {
	switch e.Kind {
	case User:
		return v.user(e)
	case Reply:
		return v.reply(e)
	case Reasoning:
		return v.reasoning(e)
	case Call:
		return v.card(e)
	case Note:
		return v.note(e)
	}
	return []layout.Line{{}}
}

// wrap wraps text to the width, after a frame.
func (v *View) wrap(text string, sgr layout.SGR, frame ...layout.Span) []layout.Line {
	text = layout.Tabs(strings.Trim(sanitize.Text(text), "\n"))
	return layout.Wrap([]layout.Span{{Text: text, SGR: sgr}}, v.textWidth(), layout.Same(frame...))
}

// line returns a single, truncated line.
func (v *View) line(spans ...layout.Span) layout.Line {
	return layout.Line{Text: layout.Cut(v.textWidth(), spans...)}
}

func (v *View) user(e *Entry) []layout.Line {
	bar := layout.Span{Text: "┃ ", SGR: v.sgr.user}
	var lines []layout.Line
	if e.Text != "" {
		lines = v.wrap(e.Text, v.sgr.text, bar)
	}
	if len(lines) > userLines && !v.isOpen(e) {
		more := layout.Span{Text: "… " + humanize.Plural(len(lines)-userLines, "more line"), SGR: v.sgr.muted}
		lines = append(lines[:userLines:userLines], v.line(bar, more))
	}
	for _, f := range e.Files {
		lines = append(lines, v.line(bar, layout.Span{Text: "+ " + attachment(f), SGR: v.sgr.muted}))
	}
	if mark := userMark(e); mark != "" {
		lines = append(lines, v.line(bar, layout.Span{Text: mark, SGR: v.sgr.muted}))
	}
	if len(lines) == 0 {
		lines = append(lines, v.line(bar, layout.Span{Text: "(earlier message)", SGR: v.sgr.muted}))
	}
	return lines
}

// userMark describes the state of a prompt.
func userMark(e *Entry) string {
	switch {
	case e.Waiting && e.Queued:
		return "queued: runs after this turn"
	case e.Waiting && e.Steered:
		return "steering: read at the next step"
	case e.Waiting:
		return "waiting"
	case e.Steered:
		return "steered"
	}
	return ""
}

// attachment describes a file.
func attachment(f pawl.File) string {
	name := sanitize.Line(f.Name)
	if name == "" {
		name = "file"
	}
	return fmt.Sprintf("%s (%s, %s)", name, sanitize.Line(f.MediaType), humanize.Bytes(len(f.Data)))
}

// reply renders a reply incrementally.
func (v *View) reply(e *Entry) []layout.Line {
	text := e.text()
	s := &e.rendered
	if s.doc == nil || s.written > len(text) {
		s.doc, s.written = markdown.New(v.markdown, v.textWidth()), 0
	}
	s.doc.Write(text[s.written:])
	s.written = len(text)
	lines := s.doc.Lines()
	if len(lines) == 0 {
		lines = []layout.Line{{}}
	}
	return lines
}

func (v *View) reasoning(e *Entry) []layout.Line {
	text := e.text()
	head := "Thought"
	if e.Took > 0 {
		head += " for " + humanize.Took(e.Took)
	}
	switch {
	case e.Streaming && e.Took == 0 && !v.isOpen(e):
		lines := v.wrap(tailOf(text, reasoningBytes), v.sgr.muted, layout.Span{Text: "  "})
		lines = lines[max(0, len(lines)-reasoningLines):]
		return append([]layout.Line{v.line(layout.Span{Text: "▾ Thinking", SGR: v.sgr.muted})}, lines...)
	case !v.isOpen(e):
		first, _, _ := strings.Cut(strings.TrimSpace(text[:min(len(text), reasoningBytes)]), "\n")
		return []layout.Line{v.line(layout.Span{Text: "▸ " + head + " · " + sanitize.Line(strings.Trim(first, "*# ")), SGR: v.sgr.muted})}
	}
	return append([]layout.Line{v.line(layout.Span{Text: "▾ " + head, SGR: v.sgr.muted})}, v.wrap(text, v.sgr.muted, layout.Span{Text: "  "})...)
}

// tailOf returns about the last n bytes of a text, from the beginning of a line or
// word.
func tailOf(text string, n int) string {
	if len(text) <= n {
		return text
	}
	text = text[len(text)-n:]
	for text != "" && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	if i := strings.IndexAny(text, " \n"); i >= 0 {
		text = text[i+1:]
	}
	return text
}

func (v *View) note(e *Entry) []layout.Line {
	sgr := map[Tone]layout.SGR{Quiet: v.sgr.muted, Good: v.sgr.good, Warn: v.sgr.warn, Bad: v.sgr.bad}[e.Tone]
	mark := map[Tone]string{Quiet: "· ", Good: "✓ ", Warn: "! ", Bad: "✗ "}[e.Tone]
	text := e.Text
	if left := e.Until.Sub(v.now); left > 0 {
		text += fmt.Sprintf(", in %d s", int(math.Ceil(left.Seconds())))
	}
	frame := layout.Frame{First: []layout.Span{{Text: mark, SGR: sgr}}, Rest: []layout.Span{{Text: "  "}}}
	lines := layout.Wrap([]layout.Span{{Text: layout.Tabs(sanitize.Text(text)), SGR: sgr}}, v.textWidth(), frame)
	if e.Next != "" {
		lines = append(lines, v.wrap(e.Next, v.sgr.text, layout.Span{Text: "  "})...)
	}
	return lines
}

// elapsed returns the time since t by the view's clock.
func (v *View) elapsed(t time.Time) time.Duration { return max(0, v.now.Sub(t)) }
