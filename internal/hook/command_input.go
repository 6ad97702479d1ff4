package hook

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// toolCall is a tool call as it is passed to a command.
type toolCall struct {
	tool  string
	input json.RawMessage
}

// toolCalls returns the calls that a command is run with: usually one per
// event. For commands that do not know patches, a patch is split into edits
// and writes, or a command that guards files by path would see none.
func (c *command) toolCalls(e Event) ([]toolCall, error) {
	if !c.Origin.claude() || e.Tool == "" {
		return []toolCall{{e.Tool, e.Input}}, nil
	}
	if e.Tool == "apply_patch" {
		return c.patchCalls(e)
	}
	input, err := theirInput(e.Tool, e.Dir, e.Input)
	name := e.Tool
	if names := tools[e.Tool]; names != nil {
		name = names[0]
	}
	return []toolCall{{name, input}}, err
}

// maxPatchFiles is how often a command is run for one patch at most.
const maxPatchFiles = 50

var patchFile = regexp.MustCompile(`(?m)^\*\*\* (Add File|Update File|Delete File|Move to):(.*)$`)

func (c *command) patchCalls(e Event) ([]toolCall, error) {
	var in struct {
		Patch string `json:"patch"`
	}
	if err := json.Unmarshal(e.Input, &in); err != nil {
		return nil, fmt.Errorf("invalid patch: %w", err)
	}
	var list []toolCall
	for _, m := range patchFile.FindAllStringSubmatch(in.Patch, maxPatchFiles+1) {
		name, path := "Edit", strings.TrimSpace(m[2])
		if m[1] == "Add File" || m[1] == "Move to" {
			name = "Write"
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(e.Dir, path)
		}
		if !c.matches([]string{name}) {
			continue
		}
		input, err := encode(map[string]string{"file_path": path, "patch": in.Patch})
		if err != nil {
			return nil, err
		}
		list = append(list, toolCall{name, input})
	}
	switch {
	case len(list) > maxPatchFiles:
		return nil, fmt.Errorf("the patch has more than %d files: split it", maxPatchFiles)
	case len(list) == 0 && c.matches([]string{"apply_patch"}):
		return []toolCall{{"apply_patch", e.Input}}, nil
	}
	return list, nil
}

// stdin returns the input of a command: one JSON object on a line.
func (c *command) stdin(e Event, t toolCall) ([]byte, error) {
	in := map[string]any{
		"session_id": e.Session, "transcript_path": "", "cwd": e.Dir, "permission_mode": e.Mode, "hook_event_name": c.Event, "agent": e.Agent, "turn": e.Turn,
	}
	if c.Origin.claude() {
		in["permission_mode"] = spell(modes, e.Mode)
	}
	if c.outside.Transcript != nil {
		in["transcript_path"] = c.outside.Transcript(e.Session)
	}
	if e.Parent != "" {
		in["parent_session_id"] = e.Parent
	}
	switch e.Point {
	case ToolBefore, ToolAfter, PermissionAsk:
		in["tool_name"], in["tool_input"], in["tool_use_id"] = t.tool, t.input, e.Call
		if e.Point == ToolAfter {
			in["tool_response"] = response(e, t)
		}
		if e.Message != "" {
			in["message"] = e.Message
		}
	case ChatMessage:
		in["prompt"] = e.Parts.Text()
	case AssistantDone, SubagentStop:
		in["stop_hook_active"], in["last_assistant_message"], in["agent_type"] = e.StopBlocks > 0, e.Reply, e.Agent
	case SessionStart:
		in["source"] = e.Source
	case SessionEnd:
		in["reason"] = e.Reason
	case CompactionBefore, CompactionAfter:
		in["trigger"], in["custom_instructions"] = e.Trigger, e.Instructions
	case Notification:
		in["message"], in["notification_type"] = e.Message, e.Source
	}
	text, err := encode(in)
	return append(text, '\n'), err
}

// response returns a result for commands. Other agents have no common format
// for results, so it has the fields that their scripts use most.
func response(e Event, t toolCall) map[string]any {
	r := map[string]any{"content": e.Result.Content, "is_error": e.Result.IsError, "success": !e.Result.IsError}
	if len(e.Result.Meta) > 0 {
		r["meta"] = e.Result.Meta
	}
	if t.tool == "Bash" {
		r["stdout"], r["stderr"], r["interrupted"] = e.Result.Content, "", false
	}
	var in struct {
		Path json.RawMessage `json:"file_path"`
	}
	if json.Unmarshal(t.input, &in) == nil && in.Path != nil {
		r["filePath"] = in.Path
	}
	return r
}
