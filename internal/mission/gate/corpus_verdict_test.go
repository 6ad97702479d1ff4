//go:build cheats

package gate

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
)

// TestCorpus gives the stories of the corpus a verdict. No cheat may be proven, and each verdict must be one that the story
// names.
func TestCorpus(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	count, total := map[string]int{}, map[string]int{}
	t.Run("all", func(t *testing.T) {
		for _, kind := range []string{"cheats", "honest"} {
			for _, s := range readCorpus(t, kind) {
				t.Run(kind+"/"+s.name, func(t *testing.T) {
					t.Parallel()
					r := experimentOn(t, s)
					verdict := verdictWord(kind, r)
					mu.Lock()
					count[kind+" "+verdict]++
					total[kind]++
					mu.Unlock()
					if slices.Contains(s.verdicts(), verdict) {
						return
					}
					t.Errorf("the verdict is %s, want one of %s: %d runs, %+v", verdict, s.verdicts(), len(r.Runs), r.Mutants)
					for _, f := range r.Findings {
						t.Logf("%s %s %s: %.600s", f.Kind, f.Rule, f.Item, f.Text)
					}
				})
			}
		}
	})
	for _, name := range slices.Sorted(maps.Keys(count)) {
		fmt.Printf("corpus: %d %s\n", count[name], name)
	}
	fmt.Printf("gate: %d of %d cheats sealed, %d of %d honest rejected\n", count["cheats proven"], total["cheats"], count["honest failed"], total["honest"])
}

// verdictWord returns the verdict in the words of the corpus.
func verdictWord(kind string, r experiment.Result) string {
	asks := !slices.ContainsFunc(r.Findings, func(f experiment.Finding) bool { return f.Kind == experiment.Failure && f.Approve == "" })
	switch {
	case r.Verdict == experiment.NoCode:
		return "no-code"
	case kind == "honest" && r.Verdict == experiment.Failed && asks:
		return "question"
	case kind == "honest" && r.Verdict == experiment.Checked && slices.ContainsFunc(r.Findings, func(f experiment.Finding) bool { return f.Approve != "" }):
		return "question"
	default:
		return string(r.Verdict)
	}
}

// experimentOn runs the experiments on a story.
func experimentOn(t *testing.T, s corpusStory) experiment.Result {
	t.Helper()
	dir := t.TempDir()
	repoDir, work := filepath.Join(dir, "repo"), filepath.Join(dir, "gate")
	fatal(t, os.Mkdir(repoDir, 0o700))
	fatal(t, os.Mkdir(work, 0o700))
	base, head := s.commit(t, repoDir)
	found, err := git.Find(t.Context(), repoDir)
	fatal(t, err)
	repo, err := found.Open(t.Context(), repoDir)
	fatal(t, err)
	criteria, err := NewCriteria(t.Context(), repo, base, s.checks(), pawl.Criteria{})
	if err != nil && !strings.Contains(err.Error(), "no checks found") {
		t.Fatal(err)
	}
	g := &Gate{Repo: repo, Dir: work, Hidden: []string{repoDir}, Sandbox: inSandbox, Seed: seed(t), Views: func(context.Context) (bool, error) { return true, nil }}
	criteria.Base, criteria.Approval.Tests = base, s.keys["approve"]
	p, err := g.Prove(t.Context(), criteria, head, 0, nil)
	fatal(t, err)
	return p.Result
}

// checks returns the checks that the story names, or none.
func (s corpusStory) checks() (checks []pawl.Check) {
	for _, line := range s.keys["check"] {
		words := strings.Fields(line)
		c := pawl.Check{ID: words[0], Kind: pawl.CheckTest, Tests: words[1], Args: words[2:]}
		if c.Tests == "-" {
			c.Tests = ""
		}
		if c.Tests == "junit" {
			c.Report = ".pawl-tests.xml"
		}
		checks = append(checks, c)
	}
	return checks
}
