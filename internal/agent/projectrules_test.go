package agent

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
)

var nested = map[string]string{"sub/AGENTS.md": "Be careful.", "sub/a.txt": "a", "sub/b.txt": "b", "top.txt": "t"}

// countRules returns how often the rules occur in the results.
func countRules(w *testEnv) (n int) {
	for _, r := range w.results() {
		n += strings.Count(r.Result.Content, "Be careful.")
	}
	return n
}

func TestRulesOfAFolderComeOnce(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script  []string
		trusted bool
		want    int
	}{
		"one after another": {[]string{`{"calls":[{"name":"read","input":{"path":"sub/a.txt"}}]}`, `{"calls":[{"name":"read","input":{"path":"sub/b.txt"}}]}`, `{"text":"done"}`}, true, 1},
		"side by side":      {[]string{`{"calls":[{"name":"read","input":{"path":"sub/a.txt"}},{"name":"read","input":{"path":"sub/b.txt"}}]}`, `{"text":"done"}`}, true, 1},
		"when written":      {[]string{`{"calls":[{"name":"write","input":{"path":"sub/c.txt","content":"c"}}]}`, `{"text":"done"}`}, true, 1},
		"not elsewhere":     {[]string{`{"calls":[{"name":"read","input":{"path":"top.txt"}}]}`, `{"text":"done"}`}, true, 0},
		"not by a failure":  {[]string{`{"calls":[{"name":"read","input":{"path":"sub/none.txt"}}]}`, `{"text":"done"}`}, true, 0},
		"not a stranger's":  {[]string{`{"calls":[{"name":"read","input":{"path":"sub/a.txt"}}]}`, `{"text":"done"}`}, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, setup{script: test.script})
			w.configureProject(test.trusted, nested)
			w.prompt("go")
			w.mustTurn(pawl.ReasonEndTurn)
			if got := countRules(w); got != test.want {
				t.Errorf("they came %d times, want %d: %+v", got, test.want, w.results())
			}
		})
	}
}

// The log says what was given: another process does not repeat it, and a later
// turn neither.
func TestRulesOfAFolderAfterResume(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{
		`{"calls":[{"name":"read","input":{"path":"sub/a.txt"}}]}`, `{"calls":[{"name":"read","input":{"path":"sub/b.txt"}}]}`, `{"text":"done"}`,
		`{"calls":[{"name":"read","input":{"path":"sub/b.txt"}}]}`, `{"text":"done"}`,
	}})
	w.configureProject(true, nested)
	w.interrupted("go")
	w.mustTurn(pawl.ReasonEndTurn)
	w.prompt("go on")
	w.mustTurn(pawl.ReasonEndTurn)
	if got := countRules(w); got != 1 || len(w.results()) != 3 {
		t.Errorf("they came %d times in %d results", got, len(w.results()))
	}
}

func TestRulesOfAFolderAreBounded(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{`{"calls":[{"name":"read","input":{"path":"sub/a.txt"}}]}`, `{"text":"done"}`}})
	w.configureProject(true, map[string]string{"sub/AGENTS.md": strings.Repeat("é rule. ", 10_000), "sub/a.txt": "a"})
	w.prompt("go")
	w.mustTurn(pawl.ReasonEndTurn)
	if got := w.results()[0].Result.Content; len(got) > maxProjectRules+1000 || !strings.Contains(got, "(cut: read the file for the rest)") {
		t.Errorf("%d bytes came", len(got))
	}
}
