package hook_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/hook"
)

func TestSanityCheck(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	for _, test := range []struct {
		point hook.Point
		finds hook.Finding
		want  hook.Outcome
	}{
		{hook.ToolAfter, hook.Finding{}, hook.Outcome{}},
		{hook.ToolAfter, hook.Finding{Word: "again?"}, hook.Outcome{Context: []string{"again?"}}},
		{hook.AssistantDone, hook.Finding{Word: "again?"}, hook.Outcome{Continue: true, Injection: "again?"}},
		{hook.AssistantDone, hook.Finding{Word: "lost", Stop: true}, hook.Outcome{Stop: true, StopReason: "lost", By: "sanity-check"}},
		{hook.ToolAfter, hook.Finding{Word: "lost", Stop: true}, hook.Outcome{Stop: true, StopReason: "lost", By: "sanity-check"}},
	} {
		h := hook.SanityCheck(func(hook.Event) hook.Finding { return test.finds })
		if diff := cmp.Diff(test.want, w.run(hook.Event{Point: test.point}, h)); diff != "" {
			t.Errorf("%+v at %s: %s", test.finds, test.point, diff)
		}
	}
}
