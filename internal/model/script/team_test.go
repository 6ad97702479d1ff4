package script_test

import (
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/missionapi"
	"github.com/pawl-dev/pawl/internal/model"
)

func TestTeam(t *testing.T) { //nolint:paralleltest // it changes the working directory
	m := open(t, `{"text":"lead"}`, `{"agent":"worker","text":"any"}`, `{"agent":"worker:T1","text":"one"}`, `{"agent":"worker:T1:2","text":"one again"}`)
	for call, want := range map[pawl.CallID]string{"mission:T2:1": "any", "mission:T1:1": "one", "mission:T1:2": "one again", "mission:T1:3": "one", "": "lead"} {
		chunks, err := read(m.Stream(t.Context(), model.Request{ParentCall: call, Agent: missionapi.AgentWorker}))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, c := range chunks {
			got += c.Text
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", call, got, want)
		}
	}
}
