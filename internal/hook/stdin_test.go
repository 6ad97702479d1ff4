package hook_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
)

// TestStdin: what a command reads at each event, as one object on one line. A
// command from one of Claude Code's files is reported in its words.
func TestStdin(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		on, file string
		event    func(*hook.Event)
		mode     string
		want     string // besides what is always there; DIR is the directory
	}{
		{"PreToolUse", claudeFile, nil, "acceptEdits", `{"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"c1"}`},
		{"tool.execute.before", pawlFile, nil, "guard", `{"tool_name":"bash","tool_input":{"command":"ls"},"tool_use_id":"c1"}`},
		{"PreToolUse", pawlFile, tool("edit", `{"path":"a.go","old":"x","new":"y"}`), "guard", `{"tool_name":"edit","tool_input":{"path":"a.go","old":"x","new":"y"},"tool_use_id":"c1"}`},
		{"PreToolUse", claudeFile, tool("edit", `{"path":"a.go","old":"x","new":"<y>","all":true}`), "acceptEdits", `{"tool_name":"Edit","tool_input":{"file_path":"DIR/a.go","old_string":"x","new_string":"<y>","replace_all":true},"tool_use_id":"c1"}`},
		{"PreToolUse", claudeFile, tool("write", `{"path":"/abs/a.go","content":""}`), "acceptEdits", `{"tool_name":"Write","tool_input":{"file_path":"/abs/a.go","content":""},"tool_use_id":"c1"}`},
		{"PreToolUse", claudeFile, tool("mcp__x__y", `{"path":"a"}`), "acceptEdits", `{"tool_name":"mcp__x__y","tool_input":{"path":"a"},"tool_use_id":"c1"}`},
		{"PostToolUse", claudeFile, nil, "acceptEdits", `{"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"c1","tool_response":{"content":"a\nb","stdout":"a\nb","stderr":"","interrupted":false,"is_error":false,"success":true}}`},
		{"PostToolUse", claudeFile, func(e *hook.Event) {
			e.Tool, e.Input, e.Result = "write", json.RawMessage(`{"path":"a"}`), pawl.Result{IsError: true, Meta: map[string]string{"k": "v"}}
		}, "acceptEdits", `{"tool_name":"Write","tool_input":{"file_path":"DIR/a"},"tool_use_id":"c1","tool_response":{"content":"","is_error":true,"success":false,"meta":{"k":"v"},"filePath":"DIR/a"}}`},
		{"PermissionRequest", claudeFile, func(e *hook.Event) { e.Message = "may it?" }, "acceptEdits", `{"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"c1","message":"may it?"}`},
		{"UserPromptSubmit", claudeFile, func(e *hook.Event) { e.Mode = "plan" }, "plan", `{"prompt":"do <it>"}`},
		{"Stop", claudeFile, func(e *hook.Event) { e.Mode = "yolo" }, "bypassPermissions", `{"stop_hook_active":false,"last_assistant_message":"done","agent_type":"build"}`},
		{"SubagentStop", claudeFile, func(e *hook.Event) { e.StopBlocks, e.Parent, e.Mode = 1, "P", "ask" }, "default", `{"stop_hook_active":true,"last_assistant_message":"done","agent_type":"build","parent_session_id":"P"}`},
		{"SessionStart", claudeFile, nil, "acceptEdits", `{"source":"startup"}`},
		{"SessionEnd", claudeFile, nil, "acceptEdits", `{"reason":"logout"}`},
		{"PreCompact", claudeFile, nil, "acceptEdits", `{"trigger":"manual","custom_instructions":"keep names"}`},
		{"compaction.after", pawlFile, nil, "guard", `{"trigger":"manual","custom_instructions":"keep names"}`},
		{"Notification", claudeFile, nil, "acceptEdits", `{"message":"waiting","notification_type":"idle"}`},
	} {
		t.Run(test.on, func(t *testing.T) {
			w := newEnv(t)
			list, faults, err := hook.ParseConfig(json.RawMessage(config(test.on, "", "cat >told.json", "")), hook.Origin{File: test.file, Layer: hook.LayerUser})
			if err != nil || len(faults) > 0 {
				t.Fatal(faults, err)
			}
			hooks, _ := hook.Outside{Runner: w.runner, Transcript: func(id pawl.SessionID) string { return "/log/" + string(id[:3]) }}.Hooks(list)
			e := w.sample(test.on)
			if test.event != nil {
				test.event(&e)
			}
			if o := w.run(e, hooks...); len(o.Faults) > 0 {
				t.Fatal(o.Faults)
			}
			text, err := os.ReadFile(filepath.Join(w.dir, "told.json"))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Count(string(text), "\n") != 1 || !strings.HasSuffix(string(text), "\n") {
				t.Errorf("not one line: %q", text)
			}
			if strings.Contains(string(text), `\u003c`) {
				t.Errorf("escaped more than needed: %s", text)
			}
			want := decoded(t, strings.ReplaceAll(test.want, "DIR", w.dir))
			for key, value := range map[string]any{
				"session_id": "01JZZZZZZZZZZZZZZZZZZZZZZZ", "transcript_path": "/log/01J", "cwd": w.dir, "permission_mode": test.mode,
				"hook_event_name": test.on, "agent": "build", "turn": 3.0,
			} {
				want[key] = value
			}
			if diff := cmp.Diff(want, decoded(t, string(text))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// TestUntellable: an input that is no object refuses the call.
func TestUntellable(t *testing.T) {
	t.Parallel()
	for _, file := range []string{claudeFile, pawlFile} {
		w := newEnv(t)
		hooks, _ := w.load(config("PreToolUse", "", "exit 0", ""), hook.Origin{File: file, Layer: hook.LayerUser}, true)
		e := w.sample("PreToolUse")
		e.Input = json.RawMessage(`{"half`)
		if o := w.run(e, hooks...); !o.Block || len(w.runner.runs) != 0 {
			t.Errorf("%s: %+v", file, o)
		}
	}
}
