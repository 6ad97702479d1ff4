package prompt_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent/prompt"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

func history(t *testing.T, bodies ...pawl.Body) *pawl.History {
	t.Helper()
	var h pawl.History
	for i, b := range bodies {
		if err := h.Apply(pawl.Event{Seq: pawl.Seq(i + 1), Body: b}); err != nil {
			t.Fatal(err)
		}
	}
	return &h
}

func TestContract_R2_Build(t *testing.T) {
	t.Parallel()
	text := func(s string) pawl.Parts { return pawl.Parts{pawl.Text{Text: s}} }
	specs := []toolapi.Spec{{Name: "read"}}
	log := []pawl.Body{
		pawl.SessionCreated{Dir: "/project", Parent: "01JD0000000000000000000000", ParentCall: "call_1_1"},
		pawl.Prompted{Parts: text("hi")},
		pawl.TurnStarted{Prompt: 2},
		pawl.ReplyStarted{Step: 1},
		pawl.Replied{Step: 1, Parts: text("hello"), Finish: pawl.FinishEndTurn},
		pawl.TurnFinished{Reason: pawl.ReasonEndTurn},
		pawl.Prompted{Parts: text("go")},
		pawl.Prompted{Parts: text("not yet taken in")},
		pawl.TurnStarted{Prompt: 7},
	}
	user, assistant := pawl.RoleUser, pawl.RoleAssistant
	tests := []struct {
		name  string
		log   []pawl.Body
		tools []toolapi.Spec
		want  model.Request
	}{
		{
			"the first reply", log[:3], specs,
			model.Request{Tools: specs, Messages: []pawl.Message{{Seq: 3, Role: user, Parts: text("hi")}}},
		},
		{
			"a later one, no tools", log, nil,
			model.Request{Replies: 1, Messages: []pawl.Message{
				{Seq: 3, Role: user, Parts: text("hi")}, {Seq: 5, Role: assistant, Parts: text("hello")}, {Seq: 9, Role: user, Parts: text("go")},
			}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.want.Session, test.want.Agent, test.want.System = "s", "build", "Be brief."
			test.want.Parent, test.want.ParentCall = "01JD0000000000000000000000", "call_1_1"
			got := prompt.Build(history(t, test.log...), prompt.Context{Session: "s", Agent: "build", System: "Be brief.", Tools: test.tools})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
