//go:build e2e

package cli

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// TestNothingSteersALiveTerminal: at a terminal the text is shown as it comes, in
// pieces that may cut a sequence anywhere. Row G1.
func TestNothingSteersALiveTerminal(t *testing.T) {
	t.Parallel()
	b := harness.NewWorkdir(t, harness.Binary(t, ""), harness.Stores["sqlite"](t))
	b.Write(t, "s.jsonl", hostileScript(t))
	terminal, seen := harness.RecordTerminal(t)
	cmd := b.Command("run", "--mode", "yolo", "--model", "script:s.jsonl", "go")
	cmd.Stdout, cmd.Stderr = terminal, terminal
	if err := cmd.Run(); err == nil {
		t.Error("the script ends with an error, and pawl does not")
	}
	text := strings.ReplaceAll(seen(), "\r\n", "\n") // as the terminal's driver has it
	if sanitize.Text(text) != text {
		t.Errorf("the terminal was given %q", text)
	}
	for _, want := range []string{"oklink", "evil\n", "• bash"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in %q", want, text)
		}
	}
}

// TestNoPageOnATerminal: a page is for a file, and pawl says how to get it there.
func TestNoPageOnATerminal(t *testing.T) {
	t.Parallel()
	b := harness.NewWorkdir(t, harness.Binary(t, ""), harness.Stores["sqlite"](t))
	b.Write(t, "s.jsonl", `{"text":"hello"}`)
	b.Run(t, "run", "--model", "script:s.jsonl", "hi")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--format", "html"}, "Pass -o session.html"},
		{[]string{"--format", "md"}, "### Pawl"},
	} {
		terminal, seen := harness.RecordTerminal(t)
		cmd := b.Command(append([]string{"session", "export", "last"}, test.args...)...)
		cmd.Stdout, cmd.Stderr = terminal, terminal
		err := cmd.Run()
		if text := seen(); !strings.Contains(text, test.want) || strings.Contains(text, "<html") || (err == nil) != (test.args[1] == "md") {
			t.Errorf("%v: %v: %s", test.args, err, text)
		}
	}
}
