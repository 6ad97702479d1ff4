package hook_test

import (
	"context"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/hook"
)

// prints is a runner whose commands print a text and end with a code.
type prints struct {
	stdout, stderr []byte
	code           int
}

func (p prints) Run(_ context.Context, c hook.Command) (int, error) {
	_, _ = c.Stdout.Write(p.stdout) // they take all
	_, _ = c.Stderr.Write(p.stderr)
	return p.code, nil
}

// TestAnything: whatever a command prints and however it ends, nothing breaks,
// nothing is allowed that may not be, and a refusal is one.
func TestAnything(t *testing.T) {
	t.Parallel()
	points := []hook.Point{
		hook.ChatMessage, hook.ToolBefore, hook.ToolAfter, hook.AssistantDone, hook.SessionStart, hook.SessionEnd,
		hook.PermissionAsk, hook.CompactionBefore, hook.CompactionAfter, hook.SubagentStop, hook.Notification,
	}
	word := rapid.SampledFrom([]string{`"allow"`, `"approve"`, `"deny"`, `"block"`, `"ask"`, `"x"`, `1`, `null`, `{}`, `{"behavior":"allow"}`, `{"a":1}`, `true`, `false`, `"PreToolUse"`})
	key := rapid.SampledFrom([]string{"continue", "stopReason", "decision", "reason", "systemMessage", "hookEventName", "permissionDecision", "updatedInput", "additionalContext", "behavior"})
	object := rapid.Custom(func(t *rapid.T) string {
		text := "{"
		for range rapid.IntRange(0, 4).Draw(t, "keys") {
			text += `"` + key.Draw(t, "key") + `":` + word.Draw(t, "value") + ","
		}
		inner := `"` + key.Draw(t, "key") + `":` + word.Draw(t, "value")
		return text + `"hookSpecificOutput":{` + inner + `}}`
	})
	rapid.Check(t, func(t *rapid.T) {
		p := prints{code: rapid.SampledFrom([]int{0, 0, 0, 0, 1, 2, 127, -1}).Draw(t, "code"), stderr: rapid.SliceOf(rapid.Byte()).Draw(t, "stderr")}
		p.stdout = rapid.OneOf(rapid.SliceOf(rapid.Byte()), rapid.Map(object, func(s string) []byte { return []byte(s) })).Draw(t, "stdout")
		point := rapid.SampledFrom(points).Draw(t, "point")
		can := rapid.Bool().Draw(t, "can allow")
		file := rapid.SampledFrom([]string{claudeFile, pawlFile}).Draw(t, "file")
		x := hook.External{Point: point, Command: "x", CanAllow: can, Origin: hook.Origin{File: file, Layer: hook.LayerUser}}
		hooks, _ := hook.Outside{Runner: p}.Hooks([]hook.External{x})
		r, err := hook.New(hooks...)
		if err != nil {
			t.Fatal(err)
		}
		o, err := r.Run(context.Background(), hook.Event{Point: point, Tool: "edit", Dir: "/w", Input: json.RawMessage(`{"path":"a"}`)})
		before := point == hook.ToolBefore
		switch {
		case err != nil:
			t.Fatal(err)
		case o.Decision == hook.Allow && !can:
			t.Fatalf("allowed: %+v", o)
		case before && (p.code == 2 || p.code == 127 || p.code == -1) && !o.Block:
			t.Fatalf("not refused: %+v", o)
		case before && p.code == 0 && len(o.Faults) > 0 && len(p.stdout) > 0 && p.stdout[0] == '{' && !o.Block:
			t.Fatalf("not understood, and not refused: %+v", o)
		case o.Input != nil && (!json.Valid(o.Input) || !before):
			t.Fatalf("input %s at %s", o.Input, point)
		}
	})
}
