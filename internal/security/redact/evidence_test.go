package redact_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/storetest"
)

// proven is the log of a mission that is sealed, whose checks have a secret in
// their settings and print it.
func proven(secret string) []pawl.Body {
	criteria := pawl.Criteria{
		Base: "c0", Checks: []pawl.Check{{ID: "test", Kind: pawl.CheckTest, Args: []string{"/bin/true"}, Env: []string{"KEY=" + secret}}},
		Tools: map[string]string{"/bin/true": "sha256:0"},
	}
	gate := pawl.CriteriaSet{Criteria: criteria, Hash: criteria.Hash(), Branch: "pawl/x"}
	run := func(round int, prev, tail string) pawl.CheckRan {
		return pawl.CheckRan{CheckRun: pawl.CheckRun{Check: "test", On: "candidate", Tree: "t0", Args: []string{"/bin/true"}, Tail: tail}, Round: round}.Link(prev)
	}
	first := run(0, "", "plain")
	second := run(1, first.Hash, "key: "+secret)
	third := run(1, second.Hash, "plain")
	return []pawl.Body{
		pawl.SessionCreated{Dir: "/w"},
		pawl.MissionStarted{Order: pawl.MissionOrder{Goal: "use " + secret}},
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}},
		pawl.TurnStarted{Prompt: 3},
		gate, first, second, third,
		pawl.GateResult{Round: 1, Candidate: "c0", Tree: "t0", Verdict: "proven"},
		pawl.Sealed{Round: 1, Candidate: "c0", Tree: "t0", Criteria: gate.Hash, Chain: third.Hash},
	}
}

// TestEvidenceHolds: what is masked proves what it proved before, and what proved
// nothing does not by being masked.
func TestEvidenceHolds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := openStore(t, dir)
	id := storetest.NewID()
	var whole []pawl.Event
	for _, b := range proven(envKey) {
		whole = append(whole, pawl.Event{At: time.Unix(0, 0), Body: b})
	}
	stored, err := st.Append(t.Context(), id, 0, whole...)
	if err != nil {
		t.Fatal(err)
	}
	clean(t, "what Append returns", encoded(t, stored))
	sealed(t, stored)

	mask := held().Log()
	var shared []pawl.Event
	for i, b := range proven(gitToken) {
		e, err := mask(pawl.Event{Session: id, Seq: pawl.Seq(i + 1), Body: b})
		if err != nil {
			t.Fatal(err)
		}
		shared = append(shared, e)
	}
	if text := encoded(t, shared); strings.Contains(text, gitToken[4:]) {
		t.Errorf("the token is in %s", text)
	}
	sealed(t, shared)

	for name, forge := range map[string]func(pawl.Body) pawl.Body{
		"a check": func(b pawl.Body) pawl.Body {
			if ran, ok := b.(pawl.CheckRan); ok {
				ran.Tree = "another"
				return ran
			}
			return b
		},
		"a gate": func(b pawl.Body) pawl.Body {
			if gate, ok := b.(pawl.CriteriaSet); ok {
				gate.Branch, gate.Criteria.Base = "pawl/x", "c1"
				return gate
			}
			return b
		},
	} {
		mask := held().Log()
		var log []pawl.Event
		for i, b := range proven(envKey) {
			e, err := mask(pawl.Event{Session: id, Seq: pawl.Seq(i + 1), Body: forge(b)})
			if err != nil {
				t.Fatal(err)
			}
			log = append(log, e)
		}
		if _, err := pawl.Fold(pawl.SliceLog(log)); err == nil {
			t.Errorf("%s that was forged holds once it is masked", name)
		}
	}
}

func sealed(t *testing.T, log []pawl.Event) {
	t.Helper()
	h, err := pawl.Fold(pawl.SliceLog(log))
	if err != nil {
		t.Fatal(err)
	}
	if h.Mission().Sealed == nil || !strings.Contains(h.Mission().Runs[0].Tail, "[redacted: ") {
		t.Errorf("got %+v", h.Mission())
	}
}

// Nothing that has no secret is touched.
func TestEvidenceStays(t *testing.T) {
	t.Parallel()
	mask := held().Log()
	for i, b := range proven("nothing") {
		e := pawl.Event{Seq: pawl.Seq(i + 1), Body: b}
		got, err := mask(e)
		if diff := cmp.Diff(e, got); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
	}
}
