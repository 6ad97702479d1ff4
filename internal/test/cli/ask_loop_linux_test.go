//go:build e2e

package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// A person is asked whether a turn that repeats itself goes on, also when it is
// another pawl than the one that asked first.
func TestAskLoop(t *testing.T) {
	t.Parallel()
	look := calls(`{"name":"list"}`)
	lines := strings.Split(strings.Repeat(look+"\n", 6)+done, "\n")
	const question = "the model is repeating itself: the same call (list) 3 times in a row, each time with the same result\n? Continue?"
	for name, tt := range map[string]struct {
		typed   string
		killed  bool // while it asks
		code    int
		reason  pawl.Reason
		steered string
	}{
		"yes":                  {"y", false, 0, pawl.ReasonEndTurn, ""},
		"no":                   {"N", false, 4, pawl.ReasonLoop, ""},
		"a word":               {"look in docs", false, 0, pawl.ReasonEndTurn, "look in docs"},
		"a word, after a kill": {"look in docs", true, 0, pawl.ReasonEndTurn, "look in docs"},
		"no, after a kill":     {"no", true, 4, pawl.ReasonLoop, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newProject(t, "", lines...)
			x := startAsk(t, b)
			screen := x.Await(hint)
			if tt.killed {
				x.Kill()
				x = b.Terminal(t, "resume")
				screen = x.Await(hint)
			}
			if !strings.Contains(strings.ReplaceAll(screen, "\r", ""), question) {
				t.Errorf("the screen shows\n%s", screen)
			}
			x.Type(tt.typed + "\n")
			ended(t, x, tt.code)
			checkLoop(t, b, tt.reason, tt.steered)
		})
	}
}

func checkLoop(t *testing.T, b *harness.Workdir, reason pawl.Reason, steered string) {
	t.Helper()
	var asked int
	var words []string
	var end pawl.Reason
	for _, e := range b.Export(t, string(b.Sessions(t)[0].ID)) {
		switch body := e.Body.(type) {
		case pawl.Asked:
			asked++
		case pawl.Injected:
			words = append(words, body.Text)
		case pawl.TurnFinished:
			end = body.Reason
		default: // not about loops
		}
	}
	if asked != 1 || end != reason {
		t.Errorf("asked %d times, ended with %s; want once, %s", asked, end, reason)
	}
	want := 1 // the word that did not help
	if steered != "" {
		want++
	}
	if diff := cmp.Diff(want, len(words)); diff != "" || !strings.HasSuffix(words[len(words)-1], steered) {
		t.Errorf("the model was told %q", words)
	}
}
