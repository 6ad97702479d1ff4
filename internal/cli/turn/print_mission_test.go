package turn

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// TestPrintMission: at a terminal all of it is told as it comes, elsewhere how it
// has ended. The text of the reply stays alone on the standard output.
func TestPrintMission(t *testing.T) {
	t.Parallel()
	end := "pawl: sealed at 1a2b3c4d\n"
	for live, want := range map[bool]string{
		true:  "pawl: the goal: make it \\u{1b}[2Jfast\npawl: T1 came back: check: go-test fails …\n" + end,
		false: end,
	} {
		var out, told bytes.Buffer
		p := NewTextPrinter(&out, &told)
		p.live = live
		for _, b := range missionBodies {
			if err := p.Event(pawl.Event{Body: b}); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, told.String()); diff != "" || out.Len() > 0 {
			t.Errorf("live %v: %q %s", live, out.String(), diff)
		}
	}
}

var missionBodies = []pawl.Body{
	pawl.MissionStarted{Order: pawl.MissionOrder{Goal: "make it \x1b[2Jfast"}},
	pawl.TaskReturned{Task: "T1", Why: pawl.ReturnCheck, Text: "go-test fails\n--- FAIL: \x1b[2JTestA"},
	pawl.Sealed{Candidate: "1a2b3c4d5e6f"},
}
