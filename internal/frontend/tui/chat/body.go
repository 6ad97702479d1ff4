package chat

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/diff"
	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/markdown"
	"github.com/pawl-dev/pawl/internal/frontend/tui/syntax"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// Limits of a card that is not opened, in lines.
const (
	runningLines = 5    // of a running call
	runningBytes = 4000 // of its output, in bytes
	failureMax   = 4    // of a failed call
	diffLines    = 16   // of a patch or a plan

	userCommandLines = 16 // of a shell command of the user
)

// maxOutput bounds the lines of an open card, from the end.
const maxOutput = 1000

var margin = layout.Span{Text: "  "}

// body returns the lines below a card's head.
func (v *View) body(e *Entry) []layout.Line {
	in, open := parseInput(e), v.isOpen(e)
	var lines []layout.Line
	switch tool := e.Call.Tool; {
	case tool == "bash" && open:
		lines = v.command(in.text("command"))
	case tool == "todowrite":
		return v.todoList(in)
	case tool == "question":
		return append(v.questions(e, in), v.failureLines(e, open)...)
	case tool == "plan_exit":
		return append(v.plan(e, in, open), v.failureLines(e, open)...)
	case open && !inputInHead(tool) && !hasPatches(e):
		lines = v.inputLines(in)
	}
	lines = append(lines, v.subagentLines(e)...)
	lines = append(lines, v.patchLines(e, open)...)
	lines = append(lines, v.outputLines(e, open)...)
	return append(lines, v.extraLines(e)...)
}

// inputInHead reports whether the head of the tool's card shows its whole input.
func inputInHead(tool string) bool {
	switch tool {
	case "bash", "read", "list", "glob", "grep", "webfetch", "skill":
		return true
	}
	return false
}

// hasPatches reports whether a call shows what it changed.
func hasPatches(e *Entry) bool {
	_, _, files := countPatches(e.Call.Result.Display)
	return files > 0
}

// command shows a whole command line.
func (v *View) command(text string) []layout.Line {
	lexer := syntax.For("bash")
	palette := syntax.NewPalette(v.styles)
	var lines []layout.Line
	for i, line := range strings.Split(sanitize.Marked(strings.TrimRight(text, "\n")), "\n") {
		prompt := "$ "
		if i > 0 {
			prompt = "  "
		}
		frame := layout.Frame{First: []layout.Span{margin, {Text: prompt, SGR: v.sgr.muted}}, Rest: []layout.Span{margin, margin}}
		lines = append(lines, layout.Chop(lexer.Line(layout.Tabs(line), palette, ""), v.textWidth(), frame)...)
	}
	return lines
}

// inputLines shows the input of a call, one key per line.
func (v *View) inputLines(in input) []layout.Line {
	var lines []layout.Line
	for _, k := range in.keys() {
		text := in.text(k)
		if text == "" {
			data, _ := json.Marshal(in[k]) // it was decoded from JSON
			text = string(data)
		}
		spans := []layout.Span{{Text: sanitize.Line(k) + ": ", SGR: v.sgr.muted}, {Text: layout.Tabs(sanitize.Marked(text)), SGR: v.sgr.text}}
		lines = append(lines, layout.Wrap(spans, v.textWidth(), layout.Same(margin))...)
	}
	return lines
}

func (v *View) todoList(in input) []layout.Line {
	var lines []layout.Line
	for _, t := range in.todos() {
		mark, sgr := "☐ ", v.sgr.text
		switch t.status {
		case pawl.TodoCompleted:
			mark, sgr = "☑ ", v.sgr.muted
		case pawl.TodoInProgress:
			mark, sgr = "▸ ", v.sgr.accent
		case pawl.TodoCanceled:
			mark, sgr = "☒ ", v.sgr.muted
		case pawl.TodoPending:
		}
		frame := layout.Frame{First: []layout.Span{margin, {Text: mark, SGR: sgr}}, Rest: []layout.Span{margin, margin}}
		lines = append(lines, layout.Wrap([]layout.Span{{Text: sanitize.Line(t.text), SGR: sgr}}, v.textWidth(), frame)...)
	}
	return lines
}

// questions shows the questions to the user and the answers.
func (v *View) questions(e *Entry, in input) []layout.Line {
	asked, _ := in["questions"].([]any)
	answer := v.answer(e)
	var lines []layout.Line
	for i, q := range asked {
		m, _ := q.(map[string]any)
		lines = append(lines, v.wrap(input(m).text("question"), v.sgr.text, margin)...)
		if i < len(answer.Answers) {
			lines = append(lines, v.answerLines(strings.Join(answer.Answers[i], ", "))...)
		}
	}
	return append(lines, v.answerLines(answer.Text)...)
}

// answer returns the user's answer to the last ask of a call.
func (v *View) answer(call *Entry) pawl.Answer {
	if ask := v.Log.asks[call.Call.ID]; ask != nil && ask.Ask.Answer != nil {
		return *ask.Ask.Answer
	}
	return pawl.Answer{}
}

// answerLines shows an answer of the user.
func (v *View) answerLines(text string) []layout.Line {
	if text == "" {
		return nil
	}
	return v.wrap(text, v.sgr.user, margin, layout.Span{Text: "→ ", SGR: v.sgr.user})
}

// plan shows the model's plan and the user's answer.
func (v *View) plan(e *Entry, in input, open bool) []layout.Line {
	lines := v.headUnlessOpen(indented(markdown.Render(v.markdown, v.textWidth()-2, in.text("plan"))), open)
	answer := v.answer(e)
	for _, chosen := range answer.Answers {
		lines = append(lines, v.answerLines(strings.Join(chosen, ", "))...)
	}
	return append(lines, v.answerLines(answer.Text)...)
}

// failureLines shows why a call failed.
func (v *View) failureLines(e *Entry, open bool) []layout.Line {
	if e.State != transcript.StateFailed {
		return nil
	}
	return v.tailUnlessOpen(v.output(e.Call.Result.Content, v.sgr.muted), failureMax, open)
}

// subagentLines shows the subagents of a call and whether they are done.
func (v *View) subagentLines(e *Entry) []layout.Line {
	var lines []layout.Line
	for _, it := range v.Log.subagents[e.Call.ID] {
		mark, sgr, state := "◌", v.sgr.accent, "working"
		subagent := it.Subagent
		if subagent.Background {
			state = "working in the background"
		}
		if it.State == transcript.StateDone {
			mark, sgr, state = "●", v.sgr.good, "done"
		}
		lines = append(lines, v.line(margin, layout.Span{Text: mark + " ", SGR: sgr}, layout.Span{Text: sanitize.Line(subagent.Agent), SGR: v.sgr.bold},
			layout.Span{Text: " " + sanitize.Line(subagent.Title), SGR: v.sgr.text}, layout.Span{Text: " · " + state, SGR: v.sgr.muted}))
	}
	return lines
}

// patchLines shows what a call changed.
func (v *View) patchLines(e *Entry, open bool) []layout.Line {
	var lines []layout.Line
	display := e.Call.Result.Display
	_, _, files := countPatches(display)
	for _, p := range display {
		switch p := p.(type) {
		case pawl.Patch:
			if files > 1 {
				lines = append(lines, v.line(margin, layout.Span{Text: sanitize.Line(p.Path), SGR: v.sgr.bold}))
			}
			lines = append(lines, indented(diff.Render(v.diff, v.textWidth()-2, p.Path, p.Diff))...)
		case pawl.File:
			lines = append(lines, v.line(margin, layout.Span{Text: attachment(p), SGR: v.sgr.muted}))
		case pawl.Text:
			lines = append(lines, v.output(p.Text, v.sgr.text)...)
		case pawl.Reasoning, pawl.ToolCall, pawl.ToolResult:
		}
	}
	return v.headUnlessOpen(lines, open)
}

// headUnlessOpen returns the first lines, or all if open.
func (v *View) headUnlessOpen(lines []layout.Line, open bool) []layout.Line {
	if open || len(lines) <= diffLines {
		return lines
	}
	return append(lines[:diffLines:diffLines], v.line(margin, layout.Span{Text: "… " + humanize.Plural(len(lines)-diffLines, "more line"), SGR: v.sgr.muted}))
}

// outputLines shows the output or the result of a call, and changes that were not
// applied.
func (v *View) outputLines(e *Entry, open bool) []layout.Line {
	lines := v.resultLines(e, open)
	for _, text := range e.Call.Result.Refused {
		lines = append(lines, v.wrap("! "+text, v.sgr.warn, margin)...)
	}
	return lines
}

func (v *View) resultLines(e *Entry, open bool) []layout.Line {
	switch c := e.Call; {
	case c.Status == "" && open:
		return v.tailLines(v.output(e.Text, v.sgr.muted), maxOutput)
	case c.Status == "":
		lines := v.output(tailOf(e.Text, runningBytes), v.sgr.muted)
		return lines[max(0, len(lines)-runningLines):]
	case c.User:
		return v.tailUnlessOpen(v.output(resultText(c.Result), v.sgr.text), userCommandLines, open)
	case e.State == transcript.StateFailed:
		return v.tailUnlessOpen(v.output(resultText(c.Result), v.sgr.muted), failureMax, open)
	case hasPatches(e):
		return v.diagnosticLines(c.Result)
	case open:
		return v.tailLines(v.output(resultText(c.Result), v.sgr.muted), maxOutput)
	}
	return nil
}

// resultText returns a result's text without the exit code, which the head shows.
func resultText(r pawl.Result) string {
	text := strings.TrimRight(r.Content, "\n")
	if code := r.Meta["exit_code"]; code != "" {
		text = strings.TrimSuffix(text, "(exit code "+code+")")
	}
	return text
}

// diagnosticLines shows what the result of a change says besides the patch:
// diagnostics of the file.
func (v *View) diagnosticLines(r pawl.Result) []layout.Line {
	if len(r.Display) != 1 {
		return nil
	}
	p, ok := r.Display[0].(pawl.Patch)
	rest, found := strings.CutPrefix(r.Content, p.Diff)
	if !ok || !found || strings.TrimSpace(rest) == "" {
		return nil
	}
	return v.wrap(rest, v.sgr.warn, margin)
}

// output renders output literally.
func (v *View) output(text string, sgr layout.SGR) []layout.Line {
	text = strings.Trim(sanitize.Text(text), "\n")
	if text == "" {
		return nil
	}
	var lines []layout.Line
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, layout.Chop([]layout.Span{{Text: layout.Tabs(line), SGR: sgr}}, v.textWidth(), layout.Same(margin))...)
	}
	return lines
}

// tailLines returns the last n lines, and says how many are omitted.
func (v *View) tailLines(lines []layout.Line, n int) []layout.Line {
	if len(lines) <= n {
		return lines
	}
	more := v.line(margin, layout.Span{Text: "… " + humanize.Plural(len(lines)-n, "earlier line"), SGR: v.sgr.muted})
	return append([]layout.Line{more}, lines[len(lines)-n:]...)
}

// tailUnlessOpen returns the last n lines, or up to maxOutput if open.
func (v *View) tailUnlessOpen(lines []layout.Line, n int, open bool) []layout.Line {
	if open {
		n = maxOutput
	}
	return v.tailLines(lines, n)
}

// extraLines shows attachments and the size of the full output.
func (v *View) extraLines(e *Entry) []layout.Line {
	var lines []layout.Line
	for _, f := range e.Call.Result.Files {
		lines = append(lines, v.line(margin, layout.Span{Text: attachment(f), SGR: v.sgr.muted}))
	}
	if s := e.Call.Result.Full; s != nil {
		lines = append(lines, v.line(margin, layout.Span{Text: fmt.Sprintf("full output: %s, press o to open it", humanize.Bytes(s.Size)), SGR: v.sgr.muted}))
	}
	return lines
}

// indented indents lines.
func indented(lines []layout.Line) []layout.Line {
	for i := range lines {
		lines[i].Text, lines[i].Frame = "  "+lines[i].Text, lines[i].Frame+2
	}
	return lines
}
