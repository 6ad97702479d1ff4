package pawl

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/strictjson"
)

// draftsman generates the next event of mission control: mostly valid ones, sometimes
// invalid ones.
type draftsman struct {
	*rapid.T
	m       *Mission
	commits int
}

func (d *draftsman) chance(what string) bool { return rapid.IntRange(0, 9).Draw(d.T, what) == 0 }

func (d *draftsman) number(what string, expected int) int {
	if d.chance("odd " + what) {
		return expected + rapid.IntRange(-1, 2).Draw(d.T, what)
	}
	return expected
}

// task draws a task of a phase, or any task.
func (d *draftsman) task(phase TaskPhase) TaskState {
	list := d.m.In(phase)
	if len(list) == 0 || d.chance("any task") {
		list = append(list, d.m.Tasks...)
	}
	list = append(list, TaskState{Task: Task{ID: "nobody"}})
	return list[min(rapid.IntRange(0, len(list)-1).Draw(d.T, "task"), max(0, len(list)-2))]
}

func (d *draftsman) body() Body {
	type move struct {
		likely int
		draw   func() Body
	}
	var moves []func() Body
	for _, m := range []move{
		{1 + 5*boolInt(d.m.Criteria == nil), d.setCriteria},
		{1 + 5*boolInt(len(d.m.Tasks) == 0), d.plan},
		{4 * boolInt(len(d.m.In(PhasePlanned)) > 0), d.delegate},
		{1 + 4*len(d.m.In(PhaseQueued)), d.start},
		{1 + 3*len(d.m.In(PhaseRunning)), d.merge},
		{1 + len(d.m.In(PhaseRunning)), d.giveBack},
		{3, d.ran},
		{1, func() Body { return ReviewStarted{Round: d.m.Round, Reviewer: workerA} }},
		{1, func() Body { return Reviewed{Round: d.m.Round, Reviewer: workerA} }},
		{3, d.gateResult},
		{1 + 6*boolInt(d.m.Gate != nil), d.seal},
		{1, func() Body { return Blocked{Reason: "no"} }},
	} {
		for range m.likely {
			moves = append(moves, m.draw)
		}
	}
	return rapid.SampledFrom(moves).Draw(d.T, "move")()
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (d *draftsman) setCriteria() Body {
	g := sampleCriteria()
	if d.chance("a wrong hash") {
		g.Hash = "sha256:x"
	}
	return g
}

func (d *draftsman) plan() Body {
	var p Planned
	for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3, rapid.ID).Draw(d.T, "tasks") {
		p.Plan.Tasks = append(p.Plan.Tasks, Task{ID: id, Title: id})
	}
	return p
}

func (d *draftsman) delegate() Body { return Delegated{Tasks: []string{d.task(PhasePlanned).Task.ID}} }

func (d *draftsman) start() Body {
	t := d.task(PhaseQueued)
	return TaskStarted{Task: t.Task.ID, Attempt: d.number("attempt", t.Attempt+1), Worker: workerA, Base: d.m.Tip, From: d.m.Tip}
}

func (d *draftsman) merge() Body {
	t := d.task(PhaseRunning)
	d.commits++
	return TaskMerged{Task: t.Task.ID, Attempt: d.number("attempt", t.Attempt), Commit: fmt.Sprint("c", d.commits)}
}

func (d *draftsman) giveBack() Body {
	t := d.task(PhaseRunning)
	why := rapid.SampledFrom([]ReturnReason{ReturnConflict, ReturnCheck, ReturnStopped, ReturnCanceled}).Draw(d.T, "why")
	return TaskReturned{Task: t.Task.ID, Attempt: d.number("attempt", t.Attempt), Why: why}
}

func (d *draftsman) ran() Body {
	r := evidence(max(0, d.number("round", max(1, d.m.Round))), "tree of "+d.m.Tip)
	r.Code, r.Tail = boolInt(d.chance("it fails")), rapid.SampledFrom([]string{"", "ok", "\xff"}).Draw(d.T, "tail")
	if d.chance("a broken chain") {
		return r.Link("sha256:elsewhere")
	}
	return r.Link(d.m.Chain)
}

func (d *draftsman) gateResult() Body {
	j := GateResult{Round: d.number("round", d.m.Round), Candidate: d.m.Tip, Tree: "tree of " + d.m.Tip, Verdict: verdictProven}
	if d.chance("another verdict") {
		j.Verdict = rapid.SampledFrom([]string{"", "failed", "checked", verdictNoCode}).Draw(d.T, "verdict")
	}
	if d.chance("a fault") {
		j.Faults = []GateFault{{Rule: "r"}}
	}
	if d.chance("another candidate") {
		j.Candidate = "c0"
	}
	return j
}

func (d *draftsman) seal() Body {
	s := Sealed{Round: d.number("round", d.m.Round), Candidate: d.m.Tip, Tree: "tree of " + d.m.Tip, Criteria: d.m.Hash, Chain: d.m.Chain}
	if d.chance("another tree") {
		s.Tree = "t0"
	}
	return s
}

// TestMissionHolds checks that Try and the log accept and reject the same events,
// that a mission is the fold of its log, and that it is sealed only if it is done.
func TestMissionHolds(t *testing.T) {
	t.Parallel()
	seals := 0
	rapid.Check(t, func(t *rapid.T) {
		h := &History{}
		var log []Event
		take := func(b Body) {
			e := read(t, Event{Seq: h.Head() + 1, Turn: 1, Body: b})
			if err := h.Apply(e); err != nil {
				t.Fatalf("%s was accepted by a trial, and the log refuses it: %v", KindOf(b), err)
			}
			log = append(log, e)
		}
		for _, b := range sealedMission()[:4] {
			take(b)
		}
		d := &draftsman{T: t, m: h.Mission()}
		for range rapid.IntRange(0, 60).Draw(t, "events") {
			b := d.body()
			if h.Mission().Try(b) == nil {
				take(b)
			} else if _, err := foldEvents(append(log[:len(log):len(log)], Event{Seq: h.Head() + 1, Turn: 1, Body: b})); err == nil {
				t.Fatalf("%s was refused by a trial, and the log takes it: %+v", KindOf(b), b)
			}
		}
		again, err := foldEvents(log)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(h.Mission(), again.Mission(), cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		checkMission(t, h.Mission(), log)
		seals += boolInt(h.Mission().Sealed != nil)
	})
	t.Logf("%d missions were sealed", seals)
}

// read returns an event as it is decoded from the log.
func read(t *rapid.T, e Event) Event {
	data, err := strictjson.Encode(e)
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// checkMission compares a mission with an independent fold of its log.
func checkMission(t *rapid.T, m *Mission, log []Event) {
	merged, tip, attempts := map[string]bool{}, "", 0
	var passed, gatePassed, sealed bool
	chain := ""
	for _, e := range log {
		if sealed {
			t.Fatalf("%s comes after the seal", KindOf(e.Body))
		}
		switch b := e.Body.(type) {
		case CriteriaSet:
			tip = b.Criteria.Base
		case TaskStarted:
			attempts++
		case TaskMerged:
			if merged[b.Task] {
				t.Fatalf("%s was merged twice", b.Task)
			}
			merged[b.Task], tip = true, b.Commit
			passed, gatePassed = false, false
		case CheckRan:
			if b.Prev != chain {
				t.Fatal("the chain is broken")
			}
			chain = b.Hash
			passed = passed || b.OK() && b.Tree == "tree of "+tip && b.Round > 0
		case GateResult:
			gatePassed = len(b.Faults) == 0 && b.Candidate == tip && b.Verdict == verdictProven
		case Sealed:
			if !passed || !gatePassed || b.Candidate != tip || b.Chain != chain {
				t.Fatalf("it is sealed without a proof: %+v", b)
			}
			sealed = true
		default:
		}
	}
	if m.Tip != tip || m.Chain != chain || m.Attempts != attempts || (m.Sealed != nil) != sealed {
		t.Fatalf("the tip is %s, the chain %s, attempts %d, and the mission says %+v", tip, chain, attempts, m)
	}
	if m.Gate != nil && m.Gate.Candidate != tip {
		t.Fatalf("a judgment is kept that is about %s, and the tip is %s", m.Gate.Candidate, tip)
	}
	for _, s := range m.Tasks {
		if sealed && s.Phase != PhaseMerged && s.Phase != PhaseDropped {
			t.Fatalf("it is sealed, and %s is %s", s.Task.ID, s.Phase)
		}
		if (s.Phase == PhaseMerged) != merged[s.Task.ID] && s.Phase != PhaseDropped {
			t.Fatalf("%s is %s", s.Task.ID, s.Phase)
		}
	}
}
