package hook_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/hook"
)

func TestNotices(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		point hook.Point
		out   hook.Outcome
		want  []hook.Notice
	}{
		{"nothing", hook.ToolBefore, hook.Outcome{Decision: hook.Ask, Context: []string{"for the model"}}, nil},
		{"a message", hook.SessionStart, hook.Outcome{Messages: []string{"hi"}}, []hook.Notice{{Point: hook.SessionStart, Text: "hi"}}},
		{"a fault", hook.ToolAfter, hook.Outcome{Faults: []hook.Fault{{Hook: "h", Text: "x"}}}, []hook.Notice{{Point: hook.ToolAfter, Warning: true, Text: "hook h: x"}}},
		{"a refused call", hook.ToolBefore, hook.Outcome{Block: true, By: "h", Reason: "x", Input: json.RawMessage(`{}`)}, []hook.Notice{{Point: hook.ToolBefore, Warning: true, Text: "hook h blocked bash: x"}}},
		{"a refused prompt", hook.ChatMessage, hook.Outcome{Block: true, By: "h", Reason: "x"}, []hook.Notice{{Point: hook.ChatMessage, Warning: true, Text: "hook h blocked the prompt: x"}}},
		{"a stop", hook.ToolBefore, hook.Outcome{Stop: true, Block: true, By: "h", StopReason: "x"}, []hook.Notice{{Point: hook.ToolBefore, Warning: true, Text: "hook h ended the turn: x"}}},
		{"another input", hook.ToolBefore, hook.Outcome{Input: json.RawMessage(`{}`)}, []hook.Notice{{Point: hook.ToolBefore, Text: "hooks changed the input of bash"}}},
		{"going on", hook.AssistantDone, hook.Outcome{Continue: true, Injection: "x"}, []hook.Notice{{Point: hook.AssistantDone, Text: "hooks continue the turn: x"}}},
	} {
		if diff := cmp.Diff(test.want, hook.Notices(hook.Event{Point: test.point, Tool: "bash", Steers: true}, test.out)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestAgentUI(t *testing.T) {
	t.Parallel()
	r, err := hook.New(does("h", 0, hook.Notification, hook.Outcome{Messages: []string{"hi"}}))
	if err != nil {
		t.Fatal(err)
	}
	var shown []hook.Notice
	ui := hook.AgentUI{Registry: r, Show: func(n hook.Notice) { shown = append(shown, n) }}
	o, err := ui.Run(t.Context(), hook.Event{Point: hook.Notification})
	if err != nil || len(o.Messages) != 1 {
		t.Errorf("%+v, %v", o, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ui.Run(ctx, hook.Event{Point: hook.Notification}); err == nil {
		t.Error("it ran although it was canceled")
	}
	if diff := cmp.Diff([]hook.Notice{{Point: hook.Notification, Text: "hi"}}, shown); diff != "" {
		t.Error(diff)
	}
}
