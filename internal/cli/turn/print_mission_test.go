package turn

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// TestPrintMission checks that a terminal shows all events of a mission and other outputs only its end, and that
// nothing of it goes to standard output, which is for the reply.
func TestPrintMission(t *testing.T) {
	t.Parallel()
	end := "pawl: sealed at 1a2b3c4d\n"
	for live, want := range map[bool]string{
		true:  "pawl: goal: make it \\u{1b}[2Jfast\npawl: T1 returned: check failed: go-test fails …\n" + end,
		false: end,
	} {
		var out, errOut bytes.Buffer
		p := NewTextPrinter(&out, &errOut)
		p.live = live
		for _, b := range missionBodies {
			if err := p.Event(pawl.Event{Body: b}); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, errOut.String()); diff != "" || out.Len() > 0 {
			t.Errorf("live %v: %q %s", live, out.String(), diff)
		}
	}
}

var missionBodies = []pawl.Body{
	pawl.MissionStarted{Order: pawl.MissionOrder{Goal: "make it \x1b[2Jfast"}},
	pawl.TaskReturned{Task: "T1", Why: pawl.ReturnCheck, Text: "go-test fails\n--- FAIL: \x1b[2JTestA"},
	pawl.Sealed{Candidate: "1a2b3c4d5e6f"},
}
