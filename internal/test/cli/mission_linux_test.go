//go:build e2e

package cli

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/test/mission"
)

// TestMissionAtATerminal checks that the end of a mission is announced to a user who may look elsewhere.
func TestMissionAtATerminal(t *testing.T) {
	t.Parallel()
	w := mission.New(t, harness.Binary(t, ""), map[string]string{"a.txt": "todo\n"})
	w.As("worker", mission.Shell("echo done >a.txt"), "It is written.")
	w.As("reviewer", mission.Verdict(true, "goal"), "I have looked.")
	w.Lead(mission.Plan(mission.Task("T1", "Say done", []string{"a.txt"})), mission.Delegate(), "I wait.", mission.Seal(), "All is done.")
	terminal, seen := harness.RecordTerminal(t)
	cmd := w.Command("--check", "grep -q done a.txt", "Have a.txt say done.")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	err := cmd.Run()
	text := seen()
	if err != nil || !strings.Contains(text, "pawl: mission sealed\x1b\\") || !strings.Contains(text, "pawl: T1 merged as ") {
		t.Errorf("%v: the terminal was given %q", err, text)
	}
}
