package acp

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
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

// newCall returns a call as the model has requested it.
func newCall(dir string, c pawl.ToolCall) call {
	shown := call{id: string(c.ID), title: title(c), kind: kinds[c.Name], status: "pending"}
	if shown.kind == "" {
		shown.kind = "other"
	}
	if path := inputs(c)["path"]; path != "" && !strings.Contains(path, ":") {
		shown.locations = []location{{path: absPath(dir, path)}}
	}
	if len(c.Input) <= maxRaw {
		shown.input = c.Input
	}
	return shown
}

// inputs returns the string fields of a call's input.
func inputs(c pawl.ToolCall) map[string]string {
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
func title(c pawl.ToolCall) string {
	in := inputs(c)
	if c.Name == "bash" && in["command"] != "" {
		return line(in["command"])
	}
	for _, name := range []string{"pattern", "path", "url", "query", "description", "name"} {
		if in[name] != "" {
			return line(c.Name + " " + in[name])
		}
	}
	return line(c.Name)
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

// startedCall returns the update for a call that runs now, with the files that it
// accesses.
func startedCall(dir string, b pawl.CallStarted) call {
	shown := call{id: string(b.Call), status: "in_progress"}
	seen := map[string]bool{}
	for _, a := range b.Access {
		switch a.Kind {
		case pawl.AccessRead, pawl.AccessWrite:
			if path := absPath(dir, a.Target); !seen[path] {
				seen[path] = true
				shown.locations = append(shown.locations, location{path: path})
			}
		case pawl.AccessExec, pawl.AccessEscape, pawl.AccessNet, pawl.AccessMCP, pawl.AccessSkill: // not a file
		}
	}
	return shown
}

// finishedCall returns the update for a call's result: patches as editor diffs,
// anything else as text.
func finishedCall(dir string, b pawl.CallFinished) call {
	shown := call{id: string(b.Call), status: "completed"}
	if b.Status != pawl.CallDone || b.Result.IsError {
		shown.status = "failed"
	}
	for _, part := range b.Result.Display {
		switch p := part.(type) {
		case pawl.Patch:
			shown.addPatch(dir, p)
		case pawl.Text:
			shown.content = append(shown.content, content{text: codeBlock(sanitize.Text(p.Text))})
		default: // for the model only
		}
	}
	if len(shown.content) == 0 && b.Result.Content != "" {
		shown.content = []content{{text: codeBlock(sanitize.Text(b.Result.Content))}}
	}
	for _, f := range b.Result.Files {
		shown.content = append(shown.content, content{text: fmt.Sprintf("(%s, %d bytes)", line(f.MediaType), len(f.Data))})
	}
	return shown
}

func (c *call) addPatch(dir string, p pawl.Patch) {
	list, rest := changes(dir, p)
	for _, change := range list {
		c.content = append(c.content, content{change: &change})
		c.locations = append(c.locations, location{change.path, change.line})
	}
	if rest != "" {
		c.content = append(c.content, content{text: codeBlock(sanitize.Text(rest))})
	}
}

// output returns the update for the output of a running command.
func output(id pawl.CallID, tail string) call {
	return call{id: string(id), content: []content{{text: codeBlock(sanitize.Text(tail))}}}
}

// tail appends text and keeps the last maxOutput bytes.
func tail(before, text string) string {
	all := before + text
	if len(all) <= maxOutput {
		return all
	}
	return strings.ToValidUTF8(all[len(all)-maxOutput:], "")
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
