//go:build cheats && e2e

package mission

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// story is a mission and the result.
type story struct {
	name    string
	files   map[string]string
	args    []string // flags of the mission
	team    func(w *Env)
	then    func(w *Env, b pawl.Board) // once it is blocked: somebody does something, and it goes on
	want    []string                   // what its log tells; see trace
	either  bool                       // its tasks run side by side and end in any order: all are called T
	refused []string                   // "tool: text" of calls that must be refused, in any log of the team
	holds   func(t *testing.T, w *Env, b pawl.Board)
}

// atOnce is how many missions run at a time: each has programs of its own.
const atOnce = 2

// Each story is a whole mission with the real program. One whose team cheats must
// not be sealed, and for its own reasons; an honest one must be.
func TestMissions(t *testing.T) {
	t.Parallel()
	var sealed, rejected atomic.Int32
	played := map[string]*atomic.Int32{"cheats": {}, "honest": {}}
	cheats := slices.Concat(claims, evidence, reviews, roles, tests)
	slots := make(chan struct{}, atOnce)
	t.Run("all", func(t *testing.T) {
		for kind, list := range map[string][]story{"cheats": cheats, "honest": honest} {
			for _, s := range list {
				t.Run(kind+"/"+s.name, func(t *testing.T) {
					t.Parallel()
					slots <- struct{}{}
					defer func() { <-slots }()
					proven := s.play(t)
					played[kind].Add(1)
					switch {
					case kind == "cheats" && proven:
						sealed.Add(1)
						t.Error("a cheat was sealed")
					case kind == "honest" && !proven:
						rejected.Add(1)
						t.Error("an honest mission was not sealed")
					}
				})
			}
		}
		if len(cheats) < 30 || len(honest) < 6 {
			t.Errorf("there are fewer stories than there should be: %d and %d", len(cheats), len(honest))
		}
	})
	fmt.Printf("missions: %d of %d cheats sealed, %d of %d honest rejected\n", sealed.Load(), played["cheats"].Load(), rejected.Load(), played["honest"].Load())
}

// play has the mission run to its end, and reports whether it was sealed.
func (s story) play(t *testing.T) bool {
	w := New(t, harness.Binary(t, ""), s.files)
	s.team(w)
	out := w.Run(append(slices.Clone(s.args), "--", "Reach the goal.")...)
	b := w.Board()
	if s.then != nil {
		s.then(w, b)
		out = w.Workdir.Run(t, "run", "-s", string(b.Session.ID), "go on")
		b = w.Board()
	}
	logs := w.logs(b)
	steps := trace(logs[0])
	if s.either {
		for i := range steps {
			steps[i] = anyTask.ReplaceAllString(steps[i], "T ")
		}
	}
	if diff := cmp.Diff(s.want, steps); diff != "" {
		t.Errorf("it went another way (-want +got):\n%s", diff)
	}
	refusals := refusals(logs)
	for _, want := range s.refused {
		tool, text, _ := strings.Cut(want, ": ")
		if !slices.ContainsFunc(refusals, func(r string) bool { return strings.HasPrefix(r, tool+": ") && strings.Contains(r, text) }) {
			t.Errorf("%q was not refused", want)
		}
	}
	if s.holds != nil {
		s.holds(t, w, b)
	}
	followed(t, logs)
	if t.Failed() {
		t.Logf("exit %d\n%s\n%s\nrefused:\n%s", out.Code, out.Stdout, out.Stderr, strings.Join(refusals, "\n"))
	}
	return b.Mission.Sealed != nil || b.State == pawl.MissionSealed || slices.Contains(steps, "sealed")
}

// logs are the Commander's and those of its team.
func (w *Env) logs(b pawl.Board) [][]pawl.Event {
	w.t.Helper()
	list := [][]pawl.Event{w.Export(w.t, string(b.Session.ID))}
	for _, e := range list[0] {
		if child, ok := e.Subagent(); ok {
			list = append(list, w.Export(w.t, string(child.Subagent)))
		}
	}
	return list
}

// followed holds that all followed their script: one that did not was stopped by
// that, and by no defense.
func followed(t *testing.T, logs [][]pawl.Event) {
	t.Helper()
	for _, log := range logs {
		for _, e := range log {
			if end, ok := e.Body.(pawl.TurnFinished); ok && end.Reason != pawl.ReasonEndTurn {
				t.Errorf("a turn ended with %s: %s", end.Reason, end.Message)
			}
		}
	}
}

var (
	ulid    = regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{26}$`)
	anyTask = regexp.MustCompile(`^T\d `)
)

// trace is what happened to a mission, a line a step.
func trace(log []pawl.Event) (lines []string) {
	for _, e := range log {
		switch b := e.Body.(type) {
		case pawl.TaskMerged:
			lines = append(lines, b.Task+" merged")
		case pawl.TaskReturned:
			lines = append(lines, fmt.Sprintf("%s back: %s", b.Task, b.Why))
		case pawl.GateResult:
			lines = append(lines, faults(b.Faults)...)
		case pawl.Sealed:
			lines = append(lines, "sealed")
		case pawl.Blocked:
			lines = append(lines, "blocked by "+b.By)
		default: // of no interest here
		}
	}
	return lines
}

// faults are what the gate found, one a line.
func faults(list []pawl.GateFault) (lines []string) {
	for _, f := range list {
		if ulid.MatchString(f.Item) {
			f.Item = "reviewer"
		}
		lines = append(lines, "fault: "+f.Rule+" "+f.Item)
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// refusals are the calls that came to nothing, with what was said to them.
func refusals(logs [][]pawl.Event) (lines []string) {
	for _, log := range logs {
		names := map[pawl.CallID]string{}
		for _, e := range log {
			switch b := e.Body.(type) {
			case pawl.Replied:
				for _, c := range b.Parts.Calls() {
					names[c.ID] = c.Name
				}
			case pawl.CallFinished:
				if b.Status != pawl.CallDone || b.Result.IsError || len(b.Result.Refused) > 0 {
					lines = append(lines, names[b.Call]+": "+b.Result.Content)
				}
			default: // nothing was called
			}
		}
	}
	return lines
}
