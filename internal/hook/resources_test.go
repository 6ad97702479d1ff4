package hook_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/hook"
)

func TestResourceControl(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	tokens := func(n int64) string { return fmt.Sprintf("%d tokens", n) }
	for _, test := range []struct {
		name  string
		point hook.Point
		used  int64
		err   error
		want  hook.Outcome
	}{
		{"little", hook.ChatMessage, 79, nil, hook.Outcome{}},
		{"much", hook.ChatMessage, 80, nil, hook.Outcome{Messages: []string{"it has used 80 tokens of 100 tokens"}}},
		{"much", hook.ToolBefore, 99, nil, hook.Outcome{}},
		{"all", hook.ToolBefore, 100, nil, hook.Outcome{Block: true, Decision: hook.Deny, By: "resource-control", Reason: "it has used 100 tokens of 100 tokens. Finish with what you have."}},
		{"all", hook.ChatMessage, 100, nil, hook.Outcome{Messages: []string{"it has used 100 tokens of 100 tokens"}}},
		{"nobody knows", hook.ToolBefore, 0, errors.New("x"), hook.Outcome{Block: true, Decision: hook.Deny, By: "resource-control", Reason: "not run: hook resource-control failed: read usage: x"}},
	} {
		h := hook.ResourceControl(func(context.Context, hook.Event) ([]hook.Resource, error) {
			return []hook.Resource{{Name: "disk", Used: 1 << 40}, {Name: "it has used", Used: test.used, Warn: 80, Max: 100, Show: tokens}}, test.err
		})
		if diff := cmp.Diff(test.want, w.run(hook.Event{Point: test.point}, h), cmpopts.IgnoreFields(hook.Outcome{}, "Faults")); diff != "" {
			t.Errorf("%s at %s: %s", test.name, test.point, diff)
		}
	}
}
