package mission

import (
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
)

const attack = "<script>x</script>\x1b[2J|\u202e"

var fixed = pawl.Criteria{
	Base: "b0", Checks: []pawl.Check{{ID: "test", Kind: pawl.CheckTest, Args: []string{"/bin/true"}}},
	Criteria: []pawl.Criterion{{ID: "goal", Text: "make it fast"}}, Tools: map[string]string{"/bin/true": "sha256:1"},
}

// proven is the log of a mission that was checked twice, and sealed.
func proven() []pawl.Body {
	chain := ""
	ran := func(round int, on, tree string, code int) pawl.CheckRan {
		c := pawl.CheckRan{Round: round, CheckRun: pawl.CheckRun{Check: "test", On: on, Tree: tree, Code: code}}.Link(chain)
		chain = c.Hash
		return c
	}
	merge := func() pawl.Body {
		c := pawl.CheckRan{Task: "T1", CheckRun: pawl.CheckRun{Check: "test", On: "merge", Tree: "t1"}}.Link(chain)
		chain = c.Hash
		return c
	}
	note := pawl.GateFault{Rule: "silenced", Item: "a.go", Text: attack}
	list := []pawl.Body{
		pawl.CriteriaSet{Criteria: fixed, Hash: fixed.Hash()}, ran(0, "base", "t0", 1), merge(), ran(1, "candidate", "t1", 1),
		pawl.GateResult{Round: 1, Candidate: "c1", Tree: "t1", Faults: []pawl.GateFault{{Rule: "check-failed", Text: "no"}}},
		ran(2, "candidate", "t2", 0),
		pawl.Reviewed{Round: 2, Reviewer: "R", Holds: []pawl.Judgment{{ID: "goal", Holds: true, Why: "seen " + attack}}},
		pawl.GateResult{Round: 2, Candidate: "c2", Tree: "t2", Verdict: "proven", Mutants: 4, Killed: 4, Notes: []pawl.GateFault{note}},
	}
	return append(list, pawl.Sealed{Round: 2, Candidate: "c2", Tree: "t2", Criteria: fixed.Hash(), Chain: chain})
}

func logged(bodies []pawl.Body) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		for i, b := range bodies {
			if !yield(pawl.Event{Seq: pawl.Seq(i + 1), Body: b}, nil) {
				return
			}
		}
	}
}

func read(t *testing.T, bodies []pawl.Body) Evidence {
	t.Helper()
	e, err := ReadEvidence(logged(bodies))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The evidence is that of the newest round.
func TestReadEvidence(t *testing.T) {
	t.Parallel()
	log := proven()
	e := read(t, log)
	want := &gate.Proof{Criteria: fixed.Hash(), Base: "b0", Candidate: "c2", Result: experiment.Result{
		Verdict: experiment.Proven, Tree: "t2", Runs: []pawl.CheckRun{log[5].(pawl.CheckRan).CheckRun}, Mutants: experiment.Mutants{Killed: 4, Total: 4},
		Findings: []experiment.Finding{{Kind: experiment.Note, Rule: "silenced", Item: "a.go", Text: attack}},
	}}
	if diff := cmp.Diff(want, e.Proof); diff != "" {
		t.Error(diff)
	}
	if e.Round != 2 || len(e.Reviews) != 1 || e.Chain != (Chain{Links: 4, Head: log[8].(pawl.Sealed).Chain}) {
		t.Errorf("round %d, %d reviews, the chain is %s", e.Round, len(e.Reviews), e.Chain)
	}
	if e := read(t, log[:2]); e.Proof != nil || e.Chain.Links != 1 {
		t.Errorf("before any judgment there is %+v", e)
	}
}

// A link that was changed, left out or put in is found, and so is a seal on another.
func TestBrokenChain(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func([]pawl.Body) []pawl.Body{
		"changed": func(log []pawl.Body) []pawl.Body {
			c := log[3].(pawl.CheckRan)
			c.Code = 0
			log[3] = c
			return log
		},
		"left out": func(log []pawl.Body) []pawl.Body { return append(log[:3], log[4:]...) },
		"put in":   func(log []pawl.Body) []pawl.Body { return append(log[:3:3], log[2:]...) },
		"sealed on another": func(log []pawl.Body) []pawl.Body {
			s := log[8].(pawl.Sealed)
			s.Chain = log[3].(pawl.CheckRan).Hash
			log[8] = s
			return log
		},
	} {
		if e := read(t, spoil(proven())); e.Chain.Fault == "" || !strings.HasPrefix(e.Chain.String(), "broken: ") {
			t.Errorf("%s: the chain is %s", name, e.Chain)
		}
	}
}

// Only a review of this very commit counts, and only if it found nothing.
func TestReviewed(t *testing.T) {
	t.Parallel()
	bad := pawl.Reviewed{Round: 2, Faults: []pawl.GateFault{{Rule: "review"}}}
	for _, c := range []struct {
		name      string
		log       []pawl.Body
		candidate string
		want      bool
	}{
		{"reviewed", proven(), "c2", true},
		{"another commit", proven(), "c1", false},
		{"rejected", append(proven()[:6], bad, proven()[7]), "c2", false},
		{"rejected by one of two", append(proven()[:7], bad, proven()[7]), "c2", false},
		{"nobody has looked", append(proven()[:6], proven()[7]), "c2", false},
		{"nothing was judged", nil, "c2", false},
	} {
		if got := read(t, c.log).Reviewed(c.candidate); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func sampleReport(t *testing.T) Report {
	b := pawl.Board{
		Session: pawl.Session{ID: "M"}, State: pawl.MissionSealed, Team: make([]pawl.Session, 3), Usage: pawl.Usage{Input: 1200, Cost: pawl.MoneyOf(0.5)},
		Mission: pawl.Mission{
			Order: pawl.MissionOrder{Goal: "make it fast\n" + attack}, Began: time.Unix(0, 0), Criteria: &fixed, Branch: "pawl/mission-m", Tip: "c2",
			Tasks: []pawl.TaskState{
				{Task: pawl.Task{ID: "T1", Title: "one " + attack}, Phase: pawl.PhaseMerged, Attempt: 2, Commit: "c2aaaaaaaaaa", Took: 90 * time.Second, Usage: pawl.Usage{Output: 700, Cost: pawl.MoneyOf(0.25)}},
				{Task: pawl.Task{ID: "T2", Title: "two"}, Phase: pawl.PhaseDropped, Attempt: 1, Why: pawl.ReturnCheck},
			},
			Sealed: &pawl.Sealed{Candidate: "c2"},
		},
	}
	return NewReport(b, read(t, proven()))
}

// What third parties wrote is text in the report, and nothing more.
func TestReport(t *testing.T) {
	t.Parallel()
	r := sampleReport(t)
	text, page := r.Markdown(), r.HTML()
	for _, want := range []string{
		"**Sealed**: make it fast <script>", "The gate passed on c2, in round 2.", "- Branch: pawl/mission-m", "- Cost: $0.50, 1.2k tokens",
		"- Evidence chain: verified, 4 links, ends with sha256:", "| merged | 2 | 1m 30s | $0.25, 700 tokens | c2aaaaaa |", "| T2 | two | dropped (returned: check) | 1 | 0s | $0.00, 0 tokens |  |",
		"Review passed (session R)", "**Proven: 1 check, 4 of 4 mutants killed (c2)**",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
	for _, want := range []string{"<strong>Sealed</strong>: make it fast", "<h2>Gate</h2>\n<p><strong>Proven: 1 check, 4 of 4 mutants killed (c2)</strong>", "<td>merged</td><td>2</td><td>1m 30s</td><td>$0.25, 700 tokens</td><td>c2aaaaaa</td>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "<script") || strings.ContainsAny(page+text, "\x1b\u202e") || strings.Contains(text, "one "+attack) {
		t.Error("what strangers wrote is not just text")
	}
}

// Evidence about another commit is no proof, and none is no statement.
func TestReportWithoutProof(t *testing.T) {
	t.Parallel()
	r := sampleReport(t)
	r.State, r.Commit = pawl.MissionStopped, "c3"
	if !strings.Contains(r.Markdown(), "and the branch has moved since") {
		t.Error(r.Markdown())
	}
	r.Evidence = Evidence{}
	if _, err := r.Statement(); err == nil || !strings.Contains(r.Markdown(), "nothing is verified") || strings.Contains(r.HTML(), "<h2>Gate</h2>") {
		t.Errorf("without evidence: %v\n%s", err, r.Markdown())
	}
}
