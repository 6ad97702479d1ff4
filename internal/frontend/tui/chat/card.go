package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/diff"
	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// card shows a call: a head line with its outcome, and the body below it.
func (v *View) card(e *Entry) []layout.Line {
	lines := []layout.Line{v.head(e)}
	if v.isFolded(e) {
		return lines
	}
	return append(lines, v.body(e)...)
}

// head returns the first line of a card.
func (v *View) head(e *Entry) layout.Line {
	in := parseInput(e)
	mark, sgr := v.statusMark(e)
	spans := []layout.Span{{Text: mark + " ", SGR: sgr}, {Text: toolName(e), SGR: v.sgr.bold}}
	tail := v.outcome(e, in)
	if s := in.subject(e); s != "" {
		available := v.textWidth() - layout.Width(spans) - 1 - layout.Width(tail)
		spans = append(spans, layout.Span{Text: " "}, layout.Span{Text: ansi.Truncate(s, max(available, 10), "…"), SGR: v.sgr.text})
	}
	return v.line(append(spans, tail...)...)
}

// statusMark returns a symbol for the state of a call, which is clear without colors
// too.
func (v *View) statusMark(e *Entry) (string, layout.SGR) {
	switch c := e.Call; {
	case c.Ask != "":
		return "?", v.sgr.warn
	case e.State == transcript.StateRunning:
		return "◌", v.sgr.accent
	case c.Status == "":
		return "○", v.sgr.muted
	case c.Status == pawl.CallDenied:
		return "⊘", v.sgr.warn
	case c.Status == pawl.CallCanceled:
		return "■", v.sgr.warn
	case e.State == transcript.StateFailed:
		return "✗", v.sgr.bad
	}
	return "●", v.sgr.good
}

// toolName returns the displayed name of a tool: for MCP tools with the server.
func toolName(e *Entry) string {
	c := e.Call
	name := c.Tool
	if c.User {
		return "!"
	}
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		name = strings.Replace(rest, "__", " · ", 1)
	} else if s := c.Result.Meta["server"]; s != "" && c.Result.Meta["tool"] != "" {
		name = s + " · " + c.Result.Meta["tool"]
	}
	if name == "" {
		name = "tool call"
	}
	return sanitize.Line(name)
}

// outcome describes the result of a call in a few words.
func (v *View) outcome(e *Entry, in input) []layout.Span {
	var spans []layout.Span
	say := func(text string, sgr layout.SGR) {
		if text != "" {
			spans = append(spans, layout.Span{Text: " · ", SGR: v.sgr.muted}, layout.Span{Text: text, SGR: sgr})
		}
	}
	c := e.Call
	switch {
	case c.Ask != "":
		say("waiting for you", v.sgr.warn)
	case c.User && e.State == transcript.StateWaiting:
		say("waiting for the turn to end", v.sgr.muted)
	case c.Status == "":
	case c.Status == pawl.CallDenied:
		say("denied", v.sgr.warn)
	case c.Status == pawl.CallCanceled:
		say("canceled", v.sgr.warn)
	case c.Status == pawl.CallRefused:
		say("not run", v.sgr.bad)
	case c.Status == pawl.CallUnknown:
		say("outcome unknown", v.sgr.bad)
	default:
		v.doneOutcome(e, in, say)
	}
	if e.State == transcript.StateRunning {
		if d := v.elapsed(c.Started); d.Seconds() >= 1 {
			say(humanize.Took(d.Truncate(1e9)), v.sgr.muted)
		}
	} else if e.Took.Milliseconds() >= 100 {
		say(humanize.Took(e.Took), v.sgr.muted)
	}
	if c.Unsafe != "" {
		say("cannot be undone", v.sgr.warn)
	}
	return spans
}

// doneOutcome describes the result of a call that ran.
func (v *View) doneOutcome(e *Entry, in input, say func(string, layout.SGR)) {
	r := e.Call.Result
	sgr := v.sgr.muted
	if r.IsError {
		sgr = v.sgr.bad
	}
	if added, removed, files := countPatches(r.Display); files > 0 {
		if files > 1 {
			say(humanize.Plural(files, "file"), v.sgr.muted)
		}
		say(fmt.Sprintf("+%d", added), v.sgr.good)
		say(fmt.Sprintf("-%d", removed), v.sgr.bad)
		return
	}
	switch meta := r.Meta; {
	case meta["timeout"] == "true":
		say("timed out", sgr)
	case meta["signal"] != "":
		say("signal "+sanitize.Line(meta["signal"]), sgr)
	case meta["exit_code"] != "":
		say("exit "+sanitize.Line(meta["exit_code"]), sgr)
	case meta["job"] != "":
		say("running as job "+sanitize.Line(meta["job"]), sgr)
	case meta["outcome"] != "":
		say(sanitize.Line(meta["outcome"]), sgr)
	case meta["status"] != "":
		say(sanitize.Line(meta["status"]), sgr)
	case r.IsError:
		say("failed", sgr)
	case len(r.Files) == 0:
		say(in.count(e), sgr)
	}
}

// countPatches counts the changed lines and files of patches.
func countPatches(parts pawl.Parts) (added, removed, files int) {
	for _, p := range parts {
		if patch, ok := p.(pawl.Patch); ok {
			a, r := diff.Count(patch.Diff)
			added, removed, files = added+a, removed+r, files+1
		}
	}
	return added, removed, files
}

// input is the input of a call.
type input map[string]any

func parseInput(e *Entry) input {
	var in input
	_ = json.Unmarshal(e.Call.Input, &in) // anything but an object has no keys
	return in
}

func (in input) text(key string) string {
	s, _ := in[key].(string)
	return s
}

// subject describes what a call is about on one line.
func (in input) subject(e *Entry) string {
	c := e.Call
	switch c.Tool {
	case "apply_patch":
		var paths []string
		for _, p := range c.Result.Display {
			if patch, ok := p.(pawl.Patch); ok {
				paths = append(paths, patch.Path)
			}
		}
		return sanitize.Line(strings.Join(paths, ", "))
	case "grep", "glob":
		if path := in.text("path"); path != "" {
			return sanitize.Line(in.text("pattern") + " in " + path)
		}
	case "skill":
		if source := in.text("source"); source != "" {
			return sanitize.Line(strings.TrimSpace(in.text("name") + " from " + source))
		}
	case "question", "todowrite", "todoread", "plan_exit":
		return ""
	}
	for _, k := range []string{"command", "path", "file_path", "pattern", "query", "url", "description", "name", "job"} {
		if text := in.text(k); text != "" {
			first, _, more := strings.Cut(strings.TrimSpace(text), "\n")
			if more {
				first += " …"
			}
			return sanitize.Line(first)
		}
	}
	if len(in) == 0 {
		return ""
	}
	return sanitize.Line(string(c.Input))
}

// count describes how much a call found.
func (in input) count(e *Entry) string {
	content := strings.TrimRight(e.Call.Result.Content, "\n")
	switch e.Call.Tool {
	case "grep":
		if n := matches(content); n > 0 {
			return humanize.Plural(n, "matching line")
		}
		if strings.HasPrefix(content, "(no match") || content == "" {
			return "no matches"
		}
		return humanize.Plural(lineCount(content), "line")
	case "read", "list", "glob", "webfetch", "websearch", "codesearch", "skill":
		return humanize.Plural(lineCount(content), "line")
	case "todowrite":
		done, all := 0, 0
		for _, t := range in.todos() {
			all++
			if t.status == pawl.TodoCompleted || t.status == pawl.TodoCanceled {
				done++
			}
		}
		return fmt.Sprintf("%d/%d", done, all)
	}
	return ""
}

func lineCount(s string) int {
	if s == "" {
		return 0
	}
	return strings.Count(s, "\n") + 1
}

// matches counts the matching lines of a search result: those with a number and a
// colon.
func matches(content string) int {
	n := 0
	for line := range strings.SplitSeq(content, "\n") {
		line = strings.TrimLeft(line, " ")
		if i := strings.IndexFunc(line, func(r rune) bool { return r < '0' || r > '9' }); i > 0 && line[i] == ':' {
			n++
		}
	}
	return n
}

// todo is an item of a todo list.
type todo struct {
	status pawl.TodoStatus
	text   string
}

func (in input) todos() []todo {
	items, _ := in["items"].([]any)
	var list []todo
	for _, item := range items {
		m, _ := item.(map[string]any)
		list = append(list, todo{pawl.TodoStatus(input(m).text("status")), input(m).text("content")})
	}
	return list
}

// keys returns the keys of the input, sorted.
func (in input) keys() []string {
	var keys []string
	for k := range in {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// copyCall returns a call as text: its input and result.
func copyCall(e *Entry) string {
	in := parseInput(e)
	given := string(e.Call.Input)
	if command := in.text("command"); command != "" {
		given = command
	}
	return strings.TrimSpace(given + "\n" + e.Text + e.Call.Result.Content) // one of them is empty
}
