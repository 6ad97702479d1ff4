package hook_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/hook"
)

func TestResourceControl(t *testing.T) {
	w := newWorld(t)
	for _, test := range []struct {
		name  string
		point hook.Point
		used  int64
		err   error
		want  hook.Outcome
	}{
		{"little", hook.ChatMessage, 79, nil, hook.Outcome{}},
		{"much", hook.ChatMessage, 80, nil, hook.Outcome{Messages: []string{"context: 80 of 100 tokens used"}}},
		{"much", hook.ToolBefore, 99, nil, hook.Outcome{}},
		{"all", hook.ToolBefore, 100, nil, hook.Outcome{Block: true, Decision: hook.Deny, By: "resource-control", Reason: "context: 100 of 100 tokens used. Finish with what you have."}},
		{"all", hook.ChatMessage, 100, nil, hook.Outcome{Messages: []string{"context: 100 of 100 tokens used"}}},
		{"nobody knows", hook.ToolBefore, 0, errors.New("x"), hook.Outcome{Block: true, Decision: hook.Deny, By: "resource-control", Reason: "not run: the hook resource-control failed: what is used cannot be told: x"}},
	} {
		h := hook.ResourceControl(func(context.Context, hook.Event) ([]hook.Resource, error) {
			return []hook.Resource{{Name: "disk", Used: 1 << 40}, {Name: "context", Used: test.used, Warn: 80, Max: 100, Unit: "tokens"}}, test.err
		})
		if diff := cmp.Diff(test.want, w.run(hook.Event{Point: test.point}, h), cmpopts.IgnoreFields(hook.Outcome{}, "Faults")); diff != "" {
			t.Errorf("%s at %s: %s", test.name, test.point, diff)
		}
	}
}
