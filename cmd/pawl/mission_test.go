package main

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

var ofAMission = []pawl.Body{
	pawl.MissionStarted{Order: pawl.MissionOrder{Goal: "make it \x1b[2Jfast"}},
	pawl.TaskReturned{Task: "T1", Why: pawl.ReturnCheck, Text: "go-test fails\n--- FAIL: \x1b[2JTestA"},
	pawl.Sealed{Candidate: "1a2b3c4d5e6f"},
}

// TestShowMission: what a mission's events tell is shown with its evidence, and
// nothing in it steers the terminal.
func TestShowMission(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	v := shown{w: &out}
	for _, b := range ofAMission {
		v.event(pawl.Event{Body: b})
	}
	want := `
-- the goal: make it \u{1b}[2Jfast

-- T1 came back: check: go-test fails …
  go-test fails
  --- FAIL: TestA

-- sealed at 1a2b3c4d
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// TestPrintMission: at a terminal all of it is reported as it comes, elsewhere how it
// has ended. The text of the reply stays alone on the standard output.
func TestPrintMission(t *testing.T) {
	t.Parallel()
	end := "pawl: sealed at 1a2b3c4d\n"
	for live, want := range map[bool]string{
		true:  "pawl: the goal: make it \\u{1b}[2Jfast\npawl: T1 came back: check: go-test fails …\n" + end,
		false: end,
	} {
		var out, told bytes.Buffer
		p := newTextPrinter(&out, &told)
		p.live = live
		for _, b := range ofAMission {
			if err := p.event(pawl.Event{Body: b}); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, told.String()); diff != "" || out.Len() > 0 {
			t.Errorf("live %v: %q %s", live, out.String(), diff)
		}
	}
}
