package hook_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/hook"
)

func TestParseConfig(t *testing.T) {
	t.Parallel()
	user, project := hook.Origin{File: claudeFile, Layer: hook.LayerUser}, hook.Origin{File: "/w/.claude/settings.json", Layer: hook.LayerProject}
	one := func(command string) string {
		return `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[` + command + `]}]}}`
	}
	base := hook.External{Point: hook.ToolBefore, Event: "PreToolUse", Matcher: "Bash", Command: "x", Origin: user}
	with := func(change func(*hook.External)) []hook.External {
		x := base
		change(&x)
		return []hook.External{x}
	}
	for _, test := range []struct {
		name   string
		text   string
		origin hook.Origin
		want   []hook.External
		faults []string // a part of each
		err    string
	}{
		{"none", `{"model":"x"}`, user, nil, nil, ""},
		{"a command", one(`{"type":"command","command":"x","timeout":30}`), user, with(func(x *hook.External) { x.Timeout = 30 * time.Second }), nil, ""},
		{"without a type", one(`{"command":"x"}`), user, with(func(*hook.External) {}), nil, ""},
		{"a program", one(`{"command":["x","y"]}`), user, with(func(x *hook.External) { x.Command, x.Args = "", []string{"x", "y"} }), nil, ""},
		{"a program with args", one(`{"command":"x","args":["y"]}`), user, with(func(x *hook.External) { x.Command, x.Args = "", []string{"x", "y"} }), nil, ""},
		{"may pass when late", one(`{"command":"x","on_timeout":"allow"}`), user, with(func(x *hook.External) { x.AllowOnTimeout = true }), nil, ""},
		{"may allow", one(`{"command":"x","may_allow":true}`), user, with(func(x *hook.External) { x.CanAllow = true }), nil, ""},
		{"may allow in a project", one(`{"command":"x","may_allow":true}`), project, with(func(x *hook.External) { x.Origin = project }), []string{"has no effect in a project"}, ""},
		{"odd word for late", one(`{"command":"x","on_timeout":"ignore"}`), user, with(func(*hook.External) {}), []string{"use block or allow"}, ""},
		{"timeout of nothing", one(`{"command":"x","timeout":0}`), user, with(func(x *hook.External) { x.Timeout = time.Minute }), []string{"invalid timeout 0"}, ""},
		{"timeout of days", one(`{"command":"x","timeout":1e9}`), user, with(func(x *hook.External) { x.Timeout = 10 * time.Minute }), []string{"at most 600"}, ""},
		{"async", one(`{"command":"x","async":true}`), user, with(func(*hook.External) {}), []string{"async is not supported"}, ""},
		{"unknown key", one(`{"command":"x","if":"Bash(rm *)"}`), user, with(func(*hook.External) {}), []string{`"if"`}, ""},
		{"unknown type", one(`{"type":"prompt","prompt":"x"},{"command":"x"}`), user, with(func(*hook.External) {}), []string{"unknown key", `type "prompt" ignored`}, ""},
		{"no command", one(`{"type":"command"}`), user, nil, []string{"must be text or a list of texts"}, ""},
		{"empty command", one(`{"command":""}`), user, nil, []string{"empty"}, ""},
		{"command of a number", one(`{"command":3}`), user, nil, []string{"must be text or a list of texts"}, ""},
		{"timeout of a text", one(`{"command":"x","timeout":"30"}`), user, nil, []string{"hook ignored"}, ""},
		{"unknown event", `{"hooks":{"PreTool\u001bUse":[]}}`, user, nil, []string{"unknown event"}, ""},
		{"event of another form", `{"hooks":{"Stop":{"command":"x"}}}`, user, nil, []string{"write a list"}, ""},
		{"hooks of another form", `{"hooks":[]}`, user, nil, nil, "cannot unmarshal"},
		{"hooks twice", `{"hooks":{},"hooks":{}}`, user, nil, nil, "duplicate key"},
		{"an event twice", `{"hooks":{"Stop":[],"Stop":[]}}`, user, nil, nil, "duplicate key"},
		{"no JSON", `hooks: x`, user, nil, nil, "invalid character"},
		{"too many", one(strings.TrimSuffix(strings.Repeat(`{"command":"x"},`, 201), ",")), user, nil, nil, "the limit is 200"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, faults, err := hook.ParseConfig(json.RawMessage(test.text), test.origin)
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if len(faults) != len(test.faults) {
				t.Fatalf("faults: %v", faults)
			}
			for i, part := range test.faults {
				if text := faults[i].String(); !strings.Contains(text, part) || !strings.Contains(text, test.origin.File) || strings.Contains(text, "\x1b") {
					t.Errorf("%q does not say %q, or not where", text, part)
				}
			}
		})
	}
}

// TestEveryEvent: each point has its own name in a file, and those of others
// lead to it.
func TestEveryEvent(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]hook.Point{
		"UserPromptSubmit": hook.ChatMessage, "PreToolUse": hook.ToolBefore, "PostToolUse": hook.ToolAfter, "Stop": hook.AssistantDone,
		"SessionStart": hook.SessionStart, "SessionEnd": hook.SessionEnd, "PreCompact": hook.CompactionBefore, "PostCompact": hook.CompactionAfter,
		"SubagentStop": hook.SubagentStop, "Notification": hook.Notification, "PermissionRequest": hook.PermissionAsk,
	} {
		for _, name := range []string{name, string(want)} {
			list, faults, err := hook.ParseConfig(json.RawMessage(fmt.Sprintf(`{"hooks":{%q:[{"hooks":[{"command":"x"}]}]}}`, name)), hook.Origin{})
			if err != nil || len(faults) > 0 || len(list) != 1 || list[0].Point != want || list[0].Event != name {
				t.Errorf("%s: %+v %v %v", name, list, faults, err)
			}
		}
	}
}
