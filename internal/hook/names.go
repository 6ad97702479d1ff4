package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
)

// tools maps our tools to the names that other agents have for them. A command
// written for them gets the first; a matcher may use any.
var tools = map[string][]string{
	"bash":        {"Bash"},
	"bash_output": {"BashOutput"},
	"bash_kill":   {"KillShell", "KillBash"},
	"edit":        {"Edit", "MultiEdit"},
	"write":       {"Write"},
	"read":        {"Read"},
	"grep":        {"Grep"},
	"glob":        {"Glob"},
	"list":        {"LS"},
	"webfetch":    {"WebFetch"},
	"websearch":   {"WebSearch"},
	"task":        {"Task", "Agent"},
	"todowrite":   {"TodoWrite"},
	"todoread":    {"TodoRead"},
	"question":    {"AskUserQuestion"},
	"plan_exit":   {"ExitPlanMode"},

	// A patch does what edits and writes do: a guard of those guards it too.
	"apply_patch": {"apply_patch", "Edit", "MultiEdit", "Write"},
}

// fields maps the fields of a tool's input to their names in other agents,
// where they differ.
var fields = map[string]map[string]string{
	"bash":      {"background": "run_in_background"},
	"edit":      {"path": "file_path", "old": "old_string", "new": "new_string", "all": "replace_all"},
	"write":     {"path": "file_path"},
	"read":      {"path": "file_path"},
	"grep":      {"include": "glob"},
	"task":      {"agent": "subagent_type"},
	"todowrite": {"items": "todos"},
}

// modes maps our permission modes to their names in other agents.
var modes = map[string]string{"ask": "default", "guard": "acceptEdits", "yolo": "bypassPermissions"}

// toolNames returns all names of a tool, ours first.
func toolNames(tool string) []string { return append([]string{tool}, tools[tool]...) }

// spell translates a name, or returns it unchanged.
func spell(names map[string]string, name string) string {
	if other, ok := names[name]; ok {
		return other
	}
	return name
}

// theirInput returns an input with the field names of other agents and with an
// absolute file path, which their commands expect.
func theirInput(tool, dir string, input json.RawMessage) (json.RawMessage, error) {
	return renamed(input, func(values map[string]json.RawMessage) error {
		for ours, theirs := range fields[tool] {
			value, ok := values[ours]
			if !ok {
				continue
			}
			delete(values, ours)
			var path string
			if theirs == "file_path" && json.Unmarshal(value, &path) == nil && path != "" && !filepath.IsAbs(path) {
				value, _ = json.Marshal(filepath.Join(dir, path)) // a string cannot fail
			}
			values[theirs] = value
		}
		return nil
	})
}

// ourInput converts an input with the field names of other agents to ours.
// Values that the command has not changed stay as the model wrote them.
func ourInput(tool string, given, original, input json.RawMessage) (json.RawMessage, error) {
	var before, model map[string]json.RawMessage
	_ = json.Unmarshal(given, &before) // both were decoded before
	_ = json.Unmarshal(original, &model)
	return renamed(input, func(values map[string]json.RawMessage) error {
		for ours, theirs := range fields[tool] {
			value, ok := values[theirs]
			if !ok {
				continue
			}
			if _, twice := values[ours]; twice {
				return fmt.Errorf("the changed input has both %s and %s", ours, theirs)
			}
			delete(values, theirs)
			if was, ok := model[ours]; ok && bytes.Equal(before[theirs], value) {
				value = was
			}
			values[ours] = value
		}
		return nil
	})
}

// renamed returns an object with a change applied to its keys.
func renamed(input json.RawMessage, change func(map[string]json.RawMessage) error) (json.RawMessage, error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(input, &values); err != nil || values == nil {
		return nil, fmt.Errorf("the input is not a JSON object: %.80s", input)
	}
	if err := change(values); err != nil {
		return nil, err
	}
	return encode(values)
}

// encode is json.Marshal without escaping <, > and &, which are frequent in
// code.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
