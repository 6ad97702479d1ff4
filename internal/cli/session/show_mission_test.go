package session

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// TestShowMission checks that events of a mission are shown with their evidence, and that control characters are
// escaped.
func TestShowMission(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	v := printer{w: &out}
	for _, b := range ofAMission {
		v.event(pawl.Event{Body: b})
	}
	want := `
-- goal: make it \u{1b}[2Jfast

-- T1 returned: check failed: go-test fails …
  go-test fails
  --- FAIL: TestA

-- sealed at 1a2b3c4d
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

var ofAMission = []pawl.Body{
	pawl.MissionStarted{Order: pawl.MissionOrder{Goal: "make it \x1b[2Jfast"}},
	pawl.TaskReturned{Task: "T1", Why: pawl.ReturnCheck, Text: "go-test fails\n--- FAIL: \x1b[2JTestA"},
	pawl.Sealed{Candidate: "1a2b3c4d5e6f"},
}
