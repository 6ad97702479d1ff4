package mission

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/mission/gate"
	"github.com/pawl-dev/pawl/internal/mission/missionapi"
)

// notReady returns why the gate cannot run yet, or "".
func notReady(m *pawl.Mission) string {
	var b strings.Builder
	switch {
	case m.Criteria == nil:
		return noPlan
	case m.Round >= pawl.MissionRounds:
		return fmt.Sprintf("The gate was asked %d times: that is the most. Call block and say what is missing.", m.Round)
	case m.Gate != nil && m.Gate.Candidate == m.Tip:
		return "The gate has already checked this commit, and nothing has changed since. Fix its findings first:\n" + listed(m.Gate.Faults)
	case len(m.Open()) == 0:
		return ""
	}
	b.WriteString("Not sealed: there are tasks that are not merged. Have them done, or drop them from the plan:\n")
	for _, t := range m.Open() {
		fmt.Fprintf(&b, "- %s: %s\n", t.Task.ID, t.Phase)
	}
	for _, t := range m.Issues() {
		fmt.Fprintf(&b, "Sync issue, %s: %s\n", t.Task.ID, t.Why)
	}
	return b.String()
}

// seal runs the gate on the merged commit, and seals the mission if it passes. The returned text is for the
// Commander.
func (c *Control) seal(ctx context.Context, b missionapi.Journal, f *resources, progress func(string)) (string, error) {
	m := b.Mission()
	if m.Sealed != nil {
		return "The mission is sealed already.", nil
	}
	if why := notReady(m); why != "" {
		return why, nil
	}
	if err := f.checkTip(ctx, m); err != nil {
		return "", err
	}
	round := m.Round + 1
	result, err := c.prove(ctx, b, f, round, progress)
	if err != nil {
		return "", err
	}
	bodies := []pawl.Body{result}
	if err := f.checkTip(ctx, m); err != nil { // the branch may have moved while the gate ran
		return "", err
	}
	sealed := pawl.Sealed{Round: round, Candidate: result.Candidate, Tree: result.Tree, Criteria: m.Hash, Chain: b.Mission().Chain}
	sealed.Reviewed, sealed.Total = byReview(*m.Criteria)
	if len(result.Faults) == 0 {
		bodies = append(bodies, sealed)
	}
	if err := b.Record(ctx, bodies...); err != nil {
		return "", err
	}
	if err := c.writeFiles(b, b.Mission()); err != nil {
		return "", err
	}
	if len(result.Faults) > 0 {
		return "Not sealed. The gate has found:\n" + listed(result.Faults) + "Plan tasks that fix this. Do not change what checks it.", nil
	}
	return fmt.Sprintf("Sealed: %.12s on the branch %s is proven to be done%s. Say so to the user in a few sentences, and end.",
		result.Candidate, m.Branch, humanize.ByReview(sealed)), nil
}

// prove runs the gate on the merged commit, and then the reviewers if nothing else is wrong.
func (c *Control) prove(ctx context.Context, b missionapi.Journal, f *resources, round int, progress func(string)) (pawl.GateResult, error) {
	m := b.Mission()
	criteria := *m.Criteria
	var p gate.Proof
	err := f.recording(ctx, b, pawl.CheckRan{Round: round}, progress, func(ctx context.Context, onRun func(pawl.CheckRun)) (err error) {
		p, err = f.gate.Prove(ctx, criteria, m.Tip, 0, onRun)
		return err
	})
	if err != nil {
		return pawl.GateResult{}, err
	}
	result := pawl.GateResult{
		Round: round, Candidate: p.Candidate, Tree: p.Tree, Verdict: string(p.Verdict), Holding: p.Holding, New: p.New,
		Mutants: p.Mutants.Total, Killed: p.Mutants.Killed, Faults: p.Faults(criteria), Notes: p.Notes(),
	}
	if len(result.Faults) > 0 {
		return result, nil
	}
	report, err := f.gate.Report(ctx, criteria, p)
	if err != nil {
		return result, err
	}
	progress("reviewers are reviewing the change\n")
	result.Faults, err = c.review(ctx, b, f, report, round)
	return result, err
}

// byReview returns how many criteria name no evidence, and how many there are, without the goal itself.
func byReview(f pawl.Criteria) (reviewed, total int) {
	for _, c := range f.Criteria {
		if c.ID == goalID {
			continue
		}
		total++
		if !c.HasEvidence() {
			reviewed++
		}
	}
	return reviewed, total
}

// checkTip returns an error if somebody else has moved the mission's branch.
func (f *resources) checkTip(ctx context.Context, m *pawl.Mission) error {
	at, err := f.repo.Commit(ctx, m.Branch)
	if err != nil {
		return err
	}
	if at != m.Tip {
		return fault.New(pawl.ErrConflict, "branch %s is at %.12s, but the mission left it at %.12s", m.Branch, at, m.Tip).Hint("Restore it with `git branch -f %s %s`.", m.Branch, m.Tip)
	}
	return nil
}

// reviewTime bounds the work of one reviewer.
const reviewTime = 30 * time.Minute

// maxPatch bounds the part of the patch in a reviewer's prompt, in bytes; the reviewer can read the whole tree.
const maxPatch = 100_000

// review runs the reviewers on a candidate, one after the other, without knowledge of each other. A fault found
// by one of them is enough.
func (c *Control) review(ctx context.Context, b missionapi.Journal, f *resources, d gate.Report, round int) ([]pawl.GateFault, error) {
	models := b.Mission().Order.Reviewers
	if len(models) == 0 {
		models = []string{""}
	}
	var all []pawl.GateFault
	for i, model := range models {
		v, err := c.reviewBy(ctx, b, f, d, round, i+1, model)
		if err != nil {
			return nil, err
		}
		if err := b.Record(ctx, v); err != nil {
			return nil, err
		}
		all = append(all, v.Faults...)
	}
	return all, nil
}

func (c *Control) reviewBy(ctx context.Context, b missionapi.Journal, f *resources, d gate.Report, round, n int, model string) (pawl.Reviewed, error) {
	reviewer := pawl.SessionID(ulid.Make().String())
	r := pawl.Reviewed{Round: round, Reviewer: reviewer}
	if err := b.Record(ctx, pawl.ReviewStarted{Round: round, Reviewer: reviewer, Model: cmp.Or(model, b.Settings().Model)}); err != nil {
		return r, err
	}
	err := c.startSession(ctx, b, f, assignment{
		session: reviewer, from: d.Proof.Candidate, agent: missionapi.AgentReviewer, model: model,
		title: fmt.Sprintf("Review %d.%d", round, n), call: callID("review", round, n), prompt: d.Markdown(maxPatch),
	})
	if err != nil {
		return r, err
	}
	if err := c.awaitReviewer(ctx, b, reviewer); err != nil {
		return r, err
	}
	if r.Holds, r.Faults, err = c.verdict(ctx, d, reviewer); err != nil {
		return r, err
	}
	return r, c.removeWorktree(ctx, f, reviewer)
}

// awaitReviewer waits until a reviewer has ended. It stops a reviewer that is stuck or takes longer than reviewTime; a
// verdict given before that counts.
func (c *Control) awaitReviewer(ctx context.Context, b missionapi.Journal, reviewer pawl.SessionID) error {
	waiting, cancel := context.WithTimeout(ctx, reviewTime)
	defer cancel()
	signs, over := make(chan activity, 64), make(chan error, 1)
	if err := c.follow(waiting, reviewer, signs); err != nil {
		return err
	}
	go func() {
		_, err := c.await(waiting, reviewer)
		over <- err
	}()
	stuck := stuckAfter(b.Mission())
	tick := time.NewTicker(tickOf(stuck))
	defer tick.Stop()
	for last := c.Clock(); ; {
		select {
		case err := <-over:
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case waiting.Err() == nil:
				return err
			}
			_, _ = c.cancelAndWait(ctx, reviewer) // a verdict given so far is in its log
			return nil
		case <-signs:
			last = c.Clock()
		case <-tick.C:
			if err := b.Spent(ctx); err != nil {
				return err
			}
			if c.Clock().Sub(last) > stuck {
				_, _ = c.cancelAndWait(ctx, reviewer) // a verdict given so far is in its log
				return nil
			}
		}
	}
}

// verdict reads a reviewer's last accepted verdict from its log. A missing verdict is a fault.
func (c *Control) verdict(ctx context.Context, d gate.Report, reviewer pawl.SessionID) ([]pawl.Judgment, []pawl.GateFault, error) {
	input, err := c.lastCall(ctx, reviewer, "verdict")
	if err != nil {
		return nil, nil, err
	}
	if input == nil {
		return nil, []pawl.GateFault{{Rule: "review-unreadable", Item: string(reviewer), Text: "a reviewer gave no verdict"}}, nil
	}
	v, err := gate.ReadVerdict(input)
	if err != nil {
		return nil, []pawl.GateFault{{Rule: "review-unreadable", Item: string(reviewer), Text: fmt.Sprintf("a reviewer's verdict is unreadable: %v", err)}}, nil
	}
	return v.Criteria, d.Faults(v), nil
}

// lastCall returns the input of a session's last successful call of a tool, or nil.
func (c *Control) lastCall(ctx context.Context, id pawl.SessionID, tool string) ([]byte, error) {
	row, err := c.Sessions.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	calls := map[pawl.CallID][]byte{}
	var last []byte
	for e, err := range c.log(ctx, row) {
		if err != nil {
			return nil, err
		}
		switch body := e.Body.(type) {
		case pawl.Replied:
			for _, call := range body.Parts.Calls() {
				if call.Name == tool {
					calls[call.ID] = call.Input
				}
			}
		case pawl.CallFinished:
			if input, ok := calls[body.Call]; ok && body.Status == pawl.CallDone && !body.Result.IsError {
				last = input
			}
		default:
		}
	}
	return last, nil
}
