package gate

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/mission/gate"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
)

func TestFixPrompt(t *testing.T) {
	t.Parallel()
	p := gate.Proof{Result: experiment.Result{Findings: []experiment.Finding{
		{Kind: experiment.Gap, Rule: "unreached", Text: "no test reaches line 7 of a.go\nmore"},
		{Kind: experiment.Gap, Rule: "survivors", Text: "the tests notice 1 of 2"},
		{Kind: experiment.Question, Rule: "under-test", Text: "a question for a person"},
	}}}
	p.Mutants.Survived = []experiment.Survivor{{Path: "a.go", Line: 3, Before: "\treturn a + b", After: "\treturn a\x1b[2J - b"}}
	got := fixPrompt(p)
	for want, there := range map[string]bool{
		"- no test reaches line 7 of a.go\n": true, "- a.go:3: no test fails if `return a + b` is replaced by `return a\\u{1b}[2J - b`\n": true,
		"more": false, "1 of 2": false, "question": false,
	} {
		if strings.Contains(got, want) != there {
			t.Errorf("%q: want %t in %s", want, there, got)
		}
	}
	for range 3 * maxFixes {
		p.Mutants.Survived = append(p.Mutants.Survived, p.Mutants.Survived[0])
	}
	if n := strings.Count(fixPrompt(p), "\n- "); n != maxFixes {
		t.Errorf("%d lines", n)
	}
	if text := fixPrompt(gate.Proof{}); text != "" {
		t.Errorf("got %q", text)
	}
}
