package acp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// kinds maps a tool to the kind of icon that the editor shows; tools not listed are
// "other".
var kinds = map[string]string{
	"read": "read", "skill": "read", "diagnostics": "read",
	"list": "search", "glob": "search", "grep": "search", "codesearch": "search",
	"edit": "edit", "write": "edit", "apply_patch": "edit",
	"bash": "execute", "bash_output": "execute", "bash_kill": "execute",
	"webfetch": "fetch", "websearch": "fetch",
	"todoread": "think", "todowrite": "think",
	"plan_exit": "switch_mode",
}

// newCall returns a call that has not started.
func newCall(dir string, it transcript.Item) call {
	c := it.Call
	shown := call{id: string(c.ID), dir: dir, title: title(*c), kind: cmp.Or(kinds[c.Tool], "other"), status: "pending"}
	if path := inputs(*c)["path"]; path != "" && !strings.Contains(path, ":") {
		shown.locations = []location{{path: absPath(dir, path)}}
	}
	if len(c.Input) <= maxRaw {
		shown.input = c.Input
	}
	return shown
}

// inputs returns the string fields of a call's input.
func inputs(c transcript.Call) map[string]string {
	var all map[string]any
	if json.Unmarshal(c.Input, &all) != nil {
		return nil
	}
	texts := map[string]string{}
	for name, value := range all {
		if text, ok := value.(string); ok {
			texts[name] = text
		}
	}
	return texts
}

// title describes a call in one line.
func title(c transcript.Call) string {
	in := inputs(c)
	if c.Tool == "bash" && in["command"] != "" {
		return line(in["command"])
	}
	for _, name := range []string{"pattern", "path", "url", "query", "description", "name"} {
		if in[name] != "" {
			return line(c.Tool + " " + in[name])
		}
	}
	return line(c.Tool)
}

// line returns a text on one line, truncated, without Markdown code marks: text from a
// model must be shown literally.
func line(text string) string {
	text = strings.ReplaceAll(sanitize.Line(text), "`", "'")
	if utf8.RuneCountInString(text) > maxTitle {
		text = string([]rune(text)[:maxTitle-1]) + "…"
	}
	return text
}

// callState returns the state of a call: its output so far, or its result, with patches
// as editor diffs and anything else as text.
func callState(dir string, it transcript.Item) call {
	shown := call{id: string(it.Call.ID), status: statuses[it.State]}
	if kind := kinds[it.Call.Tool]; kind == "read" || kind == "edit" {
		for _, target := range it.Call.Targets {
			shown.locations = append(shown.locations, location{path: absPath(dir, target)})
		}
	}
	if it.Text != "" {
		shown.content = output(it.Call.ID, it.Text).content
	}
	result := it.Call.Result
	for _, part := range result.Display {
		switch p := part.(type) {
		case pawl.Patch:
			shown.addPatch(dir, p)
		case pawl.Text:
			shown.content = append(shown.content, content{text: codeBlock(sanitize.Text(p.Text))})
		default: // for the model only
		}
	}
	if len(shown.content) == 0 && result.Content != "" {
		shown.content = []content{{text: codeBlock(sanitize.Text(result.Content))}}
	}
	for _, f := range result.Files {
		shown.content = append(shown.content, content{text: fmt.Sprintf("(%s, %d bytes)", line(f.MediaType), len(f.Data))})
	}
	return shown
}

// statuses maps the state of a call to its status in the protocol.
var statuses = map[transcript.State]string{
	transcript.StateWaiting: "pending", transcript.StateRunning: "in_progress", transcript.StateDone: "completed", transcript.StateFailed: "failed",
}

func (c *call) addPatch(dir string, p pawl.Patch) {
	list, rest := changes(dir, p)
	if len(list) > 0 {
		c.locations = nil
	}
	for _, change := range list {
		c.content = append(c.content, content{change: &change})
		c.locations = append(c.locations, location{change.path, change.line})
	}
	if rest != "" {
		c.content = append(c.content, content{text: codeBlock(sanitize.Text(rest))})
	}
}

// output returns the update for the output of a running command: its end.
func output(id pawl.CallID, text string) call {
	if len(text) > maxOutput {
		text = strings.ToValidUTF8(text[len(text)-maxOutput:], "")
	}
	return call{id: string(id), content: []content{{text: codeBlock(sanitize.Text(text))}}}
}

// codeBlock returns text as a Markdown code block. Its code fence is longer than any run of backticks in the text,
// so that the text cannot close the block.
func codeBlock(text string) string {
	mark := "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return mark + "\n" + text + mark
}
