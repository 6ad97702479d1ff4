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
	"github.com/pawl-dev/pawl/internal/transcript"
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
	case transcript.KindUser:
		return v.user(e)
	case transcript.KindText:
		return v.reply(e)
	case transcript.KindReasoning:
		return v.reasoning(e)
	case transcript.KindCall:
		return v.card(e)
	case transcript.KindNote, transcript.KindMission, transcript.KindTurnEnd:
		return v.note(e)
	case transcript.KindAsk, transcript.KindTodos, transcript.KindSubagent: // not entries of their own
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
	switch waiting := e.State == transcript.StateWaiting; {
	case waiting && e.Queued:
		return "queued: runs after this turn"
	case waiting && e.Steered:
		return "steering: read at the next step"
	case waiting:
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
	if f.MediaType == "text/plain" {
		return fmt.Sprintf("%s · %s", name, humanize.Bytes(len(f.Data)))
	}
	return fmt.Sprintf("%s (%s, %s)", name, sanitize.Line(f.MediaType), humanize.Bytes(len(f.Data)))
}

// reply renders a reply incrementally.
func (v *View) reply(e *Entry) []layout.Line {
	s := e.rendered
	if s.doc == nil || !strings.HasPrefix(e.Text, s.written) {
		s.doc, s.written = markdown.New(v.markdown, v.textWidth()), ""
	}
	s.doc.Write(e.Text[len(s.written):])
	s.written = e.Text
	lines := s.doc.Lines()
	if len(lines) == 0 {
		lines = []layout.Line{{}}
	}
	return lines
}

func (v *View) reasoning(e *Entry) []layout.Line {
	text := e.Text
	head := "Thought"
	if e.Took > 0 {
		head += " for " + humanize.Took(e.Took)
	}
	switch {
	case e.State == transcript.StateStreaming && e.Took == 0 && !v.isOpen(e):
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

// note renders what happened: a retry, a step of a mission, the end of a turn.
func (v *View) note(e *Entry) []layout.Line {
	mark, sgr := v.levelMark(e.Level)
	frame := layout.Frame{First: []layout.Span{{Text: mark, SGR: sgr}}, Rest: []layout.Span{{Text: "  "}}}
	lines := layout.Wrap([]layout.Span{{Text: layout.Tabs(sanitize.Text(v.noteText(e))), SGR: sgr}}, v.textWidth(), frame)
	if folds(e) && v.isOpen(e) {
		lines = append(lines, v.wrap(e.More, v.sgr.muted, margin)...)
	}
	if e.Next != "" {
		lines = append(lines, v.wrap(e.Next, v.sgr.text, margin)...)
	}
	return lines
}

func (v *View) levelMark(l transcript.Level) (string, layout.SGR) {
	switch l {
	case transcript.LevelGood:
		return "✓ ", v.sgr.good
	case transcript.LevelWarn:
		return "! ", v.sgr.warn
	case transcript.LevelBad:
		return "✗ ", v.sgr.bad
	case transcript.LevelQuiet:
	}
	return "· ", v.sgr.muted
}

// folds reports whether the details of a note are shown only if it is open. Texts that
// were added to the conversation are short, except for the reports of subagents, and
// the user must know why a mission is blocked.
func folds(e *Entry) bool {
	return e.More != "" && e.Next == "" && (e.Source == "" || e.Source == "task")
}

// noteText returns the text of a note, with what is counted and the time.
func (v *View) noteText(e *Entry) string {
	text := e.Text
	if left := e.Until.Sub(v.now); left > 0 {
		text += fmt.Sprintf(", in %d s", int(math.Ceil(left.Seconds())))
	}
	switch {
	case e.More == "" || folds(e):
	case e.Mission != "":
		text = string(e.Mission) + ": " + e.More
	default:
		text += ": " + e.More
	}
	if e.End == nil {
		return text
	}
	if e.End.Steps > 0 {
		text += " · " + humanize.Plural(e.End.Steps, "step")
	}
	if n := e.End.Usage.Tokens(); n > 0 {
		text += fmt.Sprintf(" · %s tokens", humanize.Short(n))
	}
	if e.End.Usage.Cost > 0 {
		text += " · " + humanize.Dollars(e.End.Usage.Cost)
	}
	if e.Took > 0 {
		text += " · " + humanize.Took(e.Took)
	}
	return text
}

// elapsed returns the time since t by the view's clock.
func (v *View) elapsed(t time.Time) time.Duration { return max(0, v.now.Sub(t)) }
