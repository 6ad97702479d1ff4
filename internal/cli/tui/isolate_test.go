package tui

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
)

// TestRestartArgs checks that Pawl starts again with the user's flags and the current settings, and
// neither sends the prompt again nor opens the session that was opened first.
func TestRestartArgs(t *testing.T) {
	t.Parallel()
	var f Flags
	cmd := &cobra.Command{}
	f.Add(cmd)
	if err := cmd.ParseFlags([]string{"-c", "--mode", "ask", "--tools", "read,write", "--tools=edit", "--max-time", "5m", "--trust", "fix it"}); err != nil {
		t.Fatal(err)
	}
	next := restart{session: "01", settings: pawl.Settings{Mode: "auto", Model: "a/b"}}
	want := []string{"--isolated", "--max-time=5m0s", "--tools=read,write,edit", "--trust=true", "--session=01", "--model=a/b", "--mode=auto"}
	if diff := cmp.Diff(want, next.args(cmd.Flags())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
