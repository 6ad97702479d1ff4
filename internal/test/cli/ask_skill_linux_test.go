//go:build e2e

package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// An agent that wants a skill installed asks its person, who sees the whole
// command. With a yes it is loaded in the same turn, with a no nothing is there.
func TestAskForASkill(t *testing.T) {
	t.Parallel()
	for answer, test := range map[string]struct {
		says string
		code int
	}{"y": {"It is loaded.", 0}, "n": {"", cli.ExitDenied}} {
		t.Run(answer, func(t *testing.T) {
			source := skillSource(t)
			add := fmt.Sprintf("%s skills add --local file://%s deploy --yes", harness.Binary(t, ""), source)
			b := newProject(t, "", calls(fmt.Sprintf(`{"name":"bash","input":{"command":%q,"unsandboxed":true}}`, add)),
				calls(`{"name":"skill","input":{"name":"deploy"}}`), `{"expect":"Ship it.","text":"It is loaded."}`)
			x := b.Terminal(t, "run", "--mode", "guard", "--model", "script:s.jsonl", "go")
			if shown := strings.ReplaceAll(x.Await(hint), "\n"+cli.WrapMark, ""); !strings.Contains(shown, add) || !strings.Contains(shown, "It leaves the sandbox.") {
				t.Errorf("the person is shown\n%s", shown)
			}
			x.Type(answer + "\n")
			if test.says != "" {
				x.Await(test.says)
			}
			ended(t, x, test.code)
			if installed := strings.Contains(b.Must(t, "skills").Stdout, "deploy"); installed != (answer == "y") {
				t.Errorf("it is installed: %t", installed)
			}
		})
	}
}
