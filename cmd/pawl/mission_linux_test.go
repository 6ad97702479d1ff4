//go:build e2e

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/test/mission"
)

// TestWatchInPlace: in a terminal a board takes the place of the one before, and
// that is all that steers it.
func TestWatchInPlace(t *testing.T) {
	t.Parallel()
	terminal, seen := openTerminal(t)
	out := newScreen(terminal)
	v := newWatcher(out, nil, false)
	b := board{now: time.Unix(60, 0)}
	b.State, b.Mission = pawl.MissionWorking, pawl.Mission{Began: time.Unix(0, 0), Order: pawl.MissionOrder{Goal: "make it \x1b[2Jfast"}}
	if err := v.show(b); err != nil {
		t.Fatal(err)
	}
	b.now = time.Unix(61, 0)
	if err := v.show(b); err != nil {
		t.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(seen(), "\r\n", "\n")
	first, second, twice := strings.Cut(text, "\x1b[4A\r\x1b[J") // it has four lines
	if !twice || !strings.Contains(first, "1m 00s") || !strings.Contains(second, "1m 01s") || sanitize.Text(first+second) != first+second {
		t.Errorf("the terminal was given %q", text)
	}
}

// TestMissionAtATerminal: a person who may look elsewhere is informed that it is over.
func TestMissionAtATerminal(t *testing.T) {
	t.Parallel()
	w := mission.New(t, harness.Binary(t, ""), map[string]string{"a.txt": "todo\n"})
	w.As("worker", mission.Shell("echo done >a.txt"), "It is written.")
	w.As("reviewer", mission.Verdict(true, "goal"), "I have looked.")
	w.Lead(mission.Plan(mission.Task("T1", "Say done", []string{"a.txt"})), mission.Delegate(), "I wait.", mission.Seal(), "All is done.")
	terminal, seen := openTerminal(t)
	cmd := w.Command("--check", "grep -q done a.txt", "Have a.txt say done.")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	err := cmd.Run()
	text := seen()
	if err != nil || !strings.Contains(text, "pawl: the mission is sealed\x1b\\") || !strings.Contains(text, "pawl: T1 was merged as ") {
		t.Errorf("%v: the terminal was given %q", err, text)
	}
}
