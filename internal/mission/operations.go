package mission

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Operations is what people do with missions, from the command line and over HTTP.
type Operations struct{}

var _ api.Missions = Operations{}

// Log yields the stored events of a session up to its head.
func Log(ctx context.Context, svc pawl.Service, s pawl.Session) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		for e, err := range svc.Events(ctx, s.ID, 0) {
			if err == nil && e.Seq == 0 {
				continue
			}
			if !yield(e, err) || err != nil || e.Seq == s.Head {
				return
			}
		}
	}
}

// NewestSettings returns the settings of the newest prompt of a mission.
func NewestSettings(ctx context.Context, svc pawl.Service, s pawl.Session) (settings pawl.Settings, err error) {
	for e, err := range Log(ctx, svc, s) {
		if err != nil {
			return settings, err
		}
		if p, ok := e.Body.(pawl.Prompted); ok {
			settings = p.Settings
		}
	}
	return settings, ctx.Err()
}

// Report returns the report of a mission in a format.
func (Operations) Report(ctx context.Context, svc pawl.Service, id pawl.SessionID, format string) ([]byte, error) {
	b, err := svc.Mission(ctx, id)
	if err != nil {
		return nil, err
	}
	r, err := ReportOf(ctx, svc, b)
	if err != nil {
		return nil, err
	}
	return r.Format(format)
}

// Gate returns the results of the gate.
func (Operations) Gate(ctx context.Context, svc pawl.Service, id pawl.SessionID) (api.MissionGate, error) {
	b, err := svc.Mission(ctx, id)
	if err != nil {
		return api.MissionGate{}, err
	}
	return readGate(Log(ctx, svc, b.Session))
}

// readGate collects the rounds of the gate from a log.
func readGate(events iter.Seq2[pawl.Event, error]) (api.MissionGate, error) {
	g := api.MissionGate{Base: []pawl.CheckRan{}, Rounds: []api.GateRound{}}
	var chain Chain
	round := func(n int) *api.GateRound {
		i := slices.IndexFunc(g.Rounds, func(r api.GateRound) bool { return r.Round == n })
		if i < 0 {
			g.Rounds = append(g.Rounds, api.GateRound{Round: n, Checks: []pawl.CheckRan{}, Reviews: []pawl.Reviewed{}})
			i = len(g.Rounds) - 1
		}
		return &g.Rounds[i]
	}
	for e, err := range events {
		if err != nil {
			return g, err
		}
		switch b := e.Body.(type) {
		case pawl.CheckRan:
			chain.add(e.Seq, b)
			if b.Round == 0 {
				g.Base = append(g.Base, b)
				break
			}
			r := round(b.Round)
			r.Checks = append(r.Checks, b)
		case pawl.Reviewed:
			r := round(b.Round)
			r.Reviews = append(r.Reviews, b)
		case pawl.GateResult:
			round(b.Round).Result = &b
		case pawl.Sealed:
			chain.ends(b.Chain)
		default: // not of the gate
		}
	}
	g.Chain = api.EvidenceChain(chain)
	return g, nil
}

// Plan returns the plan of a mission, with the edits of people.
func (Operations) Plan(ctx context.Context, svc pawl.Service, id pawl.SessionID) (api.MissionPlan, error) {
	b, err := svc.Mission(ctx, id)
	if err != nil {
		return api.MissionPlan{}, err
	}
	return PlanOf(b)
}

// PlanOf returns the plan of a mission, with the edits of people. ErrNotFound if it has none yet.
func PlanOf(b pawl.Board) (api.MissionPlan, error) {
	m := b.Mission
	if len(m.Tasks) == 0 {
		return api.MissionPlan{}, fault.New(pawl.ErrNotFound, "mission %s has no plan yet", b.Session.ID).Hint("Run `pawl mission status %s` to see its progress.", b.Session.ID)
	}
	p := api.MissionPlan{
		Mission: b.Session.ID, Goal: m.Order.Goal, State: b.State, Approved: len(m.Unapproved()) == 0, File: PlanFile(b.Session.Dir, b.Session.ID),
		Criteria: []pawl.Criterion{}, Checks: []api.PlannedCheck{},
	}
	plan := m.Plan()
	edited, err := EditedPlan(b.Session.Dir, b.Session.ID)
	if err != nil {
		return p, err
	}
	if edited != nil && edited.Hash() != plan.Hash() {
		plan, p.Edited = *edited, true
		p.Approved = p.Approved && !m.Order.ApprovePlan
	}
	p.Tasks, p.Hash = plan.Tasks, plan.Hash()
	if p.Hash == m.Approved {
		p.ApprovedBy = &m.ApprovedBy
	}
	if m.Criteria == nil {
		return p, nil
	}
	p.Criteria = append(p.Criteria, m.Criteria.Criteria...)
	for _, c := range m.Criteria.Checks {
		p.Checks = append(p.Checks, api.PlannedCheck{ID: c.ID, Command: c.Args, Passes: passesOnBase(m, c.ID)})
	}
	return p, nil
}

func passesOnBase(m pawl.Mission, check string) *bool {
	i := slices.IndexFunc(m.Runs, func(r pawl.CheckRan) bool { return r.Check == check && r.On == "base" })
	if i < 0 {
		return nil
	}
	ok := m.Runs[i].OK()
	return &ok
}

// SetPlan writes an edit of the plan to its file, where the mission reads it.
func (Operations) SetPlan(ctx context.Context, svc pawl.Service, id pawl.SessionID, e api.PlanEdit) (api.MissionPlan, error) {
	b, err := svc.Mission(ctx, id)
	if err != nil {
		return api.MissionPlan{}, err
	}
	p, err := PlanOf(b)
	switch {
	case err != nil:
		return p, err
	case b.State == pawl.MissionSealed:
		return p, fault.New(pawl.ErrInvalid, "mission %s is sealed: its plan cannot change", id)
	case p.Hash != e.Hash:
		return p, planChanged(p)
	}
	if err := writeEdit(b, pawl.Plan{Tasks: e.Tasks}); err != nil {
		return p, err
	}
	return PlanOf(b)
}

func planChanged(p api.MissionPlan) error {
	return fault.New(pawl.ErrConflict, "the plan has changed: its hash is %s", p.Hash).Hint("Run `pawl mission plan %s` to read it.", p.Mission)
}

// Approve approves the plan of a mission.
func (Operations) Approve(ctx context.Context, svc pawl.Service, id pawl.SessionID, a api.PlanApproval) (pawl.Seq, error) {
	b, err := svc.Mission(ctx, id)
	if err != nil {
		return 0, err
	}
	if a.Hash == "" {
		return 0, fault.New(pawl.ErrInvalid, "the hash of the plan to approve is missing")
	}
	_, prompt, err := Approval(b, func(hash string) bool { return hash == a.Hash })
	if err != nil {
		return 0, err
	}
	prompt.Settings = a.Settings
	if err := useMode(ctx, svc, b.Session, &prompt); err != nil {
		return 0, err
	}
	return svc.Send(ctx, id, prompt)
}

// Approval returns the plan that waits for approval, and the prompt that approves it, if meant reports true for its hash.
func Approval(b pawl.Board, meant func(hash string) bool) (plan api.MissionPlan, prompt pawl.Prompt, err error) {
	if err := approvable(b); err != nil {
		return plan, prompt, err
	}
	if plan, err = PlanOf(b); err != nil {
		return plan, prompt, err
	}
	id := b.Session.ID
	switch {
	case plan.Approved:
		return plan, prompt, fault.New(pawl.ErrInvalid, "the plan of mission %s is already approved", id).Hint("Run `pawl mission resume %s` to continue the work.", id)
	case !meant(plan.Hash):
		return plan, prompt, planChanged(plan)
	}
	text := "The user has approved the plan. Delegate its tasks."
	if plan.Edited {
		text = "The user has edited the plan and approved it. Delegate its tasks."
	}
	return plan, pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: text}}, Approve: &pawl.Plan{Tasks: plan.Tasks}}, nil
}

// approvable returns an error if a mission does not wait for the approval of its plan.
func approvable(b pawl.Board) error {
	id, m := b.Session.ID, b.Mission
	switch {
	case b.State == pawl.MissionSealed || !m.Order.ApprovePlan:
		return fault.New(pawl.ErrInvalid, "mission %s does not wait for approval: it is %s", id, b.State).Hint("Only missions that are started with --plan-only wait for approval.")
	case b.Session.State() != pawl.StateIdle:
		return fault.New(pawl.ErrBusy, "mission %s is still planning or working", id).Hint("Run `pawl mission status --watch %[1]s` to follow it, or `pawl mission resume %[1]s` if it was interrupted.", id)
	case m.Criteria == nil:
		return fault.New(pawl.ErrInvalid, "mission %s has no plan yet", id).Hint("Run `pawl mission resume %s` to continue planning.", id)
	default:
		return nil
	}
}

// useMode gives a prompt without a mode that of the newest prompt of the mission.
func useMode(ctx context.Context, svc pawl.Service, s pawl.Session, p *pawl.Prompt) error {
	if p.Mode != "" {
		return nil
	}
	newest, err := NewestSettings(ctx, svc, s)
	p.Mode = newest.Mode
	return err
}

// pauseText tells the Commander why nothing starts. The prompt pauses by its Pause field, not by this text.
const pauseText = "The user has paused the mission. No more workers start, and those that run finish. End your reply now."

// Running reports whether a turn of a mission is open.
func Running(b pawl.Board) bool { return b.State == pawl.MissionWorking && b.Session.TurnOpen }

// Pause keeps a mission from starting workers. ErrConflict if it is not running.
func (Operations) Pause(ctx context.Context, svc pawl.Service, id pawl.SessionID) error {
	b, err := svc.Mission(ctx, id)
	switch {
	case err != nil:
		return err
	case !Running(b):
		return fault.New(pawl.ErrConflict, "mission %s is not running: it is %s", id, b.State)
	case b.Mission.Paused > 0:
		return nil
	}
	settings, err := NewestSettings(ctx, svc, b.Session)
	if err != nil {
		return err
	}
	p := pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: pauseText}}, Delivery: pawl.DeliverSteer, Settings: settings, Pause: true}
	if _, err := svc.Send(ctx, id, p); err != nil {
		return fmt.Errorf("pause mission %s: %w", id, err)
	}
	return nil
}

// StopPrompt is the prompt that stops a mission that another process runs. A process that follows the mission cancels it
// when it receives the prompt.
const StopPrompt = "Stop the mission now: the user has ended it with 'pawl mission stop'. Call block."

// Stop interrupts a mission. It does not wait for the end. Stopping a mission that is not running is not an error.
func (Operations) Stop(ctx context.Context, svc pawl.Service, id pawl.SessionID) error {
	b, err := svc.Mission(ctx, id)
	if err != nil || b.Session.State() == pawl.StateIdle {
		return err
	}
	err = svc.Cancel(ctx, id)
	if errors.Is(err, pawl.ErrBusy) {
		_, err = svc.Send(ctx, id, pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: StopPrompt}}, Delivery: pawl.DeliverSteer})
	}
	if err != nil {
		return fmt.Errorf("stop mission %s: %w", id, err)
	}
	return nil
}

// Resume continues a mission: an interrupted one after its last event, and others with a new prompt. ErrConflict if it is
// sealed, ErrBusy if it is running.
func (Operations) Resume(ctx context.Context, svc pawl.Service, id pawl.SessionID, r api.MissionResume) error {
	b, err := svc.Mission(ctx, id)
	if err != nil {
		return err
	}
	open := b.Session.State() != pawl.StateIdle
	p := pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: r.Text}}, Settings: r.Settings}
	switch {
	case open && b.Mission.Paused > 0: // continue when the workers have finished
		p.Delivery = pawl.DeliverQueue
	case open:
		if err := svc.Resume(ctx, id); errors.Is(err, pawl.ErrBusy) {
			return fault.New(pawl.ErrBusy, "mission %s is already running", id).Hint("Run `pawl mission status --watch` to follow it.")
		} else if err != nil {
			return err
		}
		return nil
	case b.State == pawl.MissionSealed:
		return fault.New(pawl.ErrConflict, "mission %s is already sealed", id).Hint("Run `pawl mission report %s` to see the evidence.", id)
	}
	if strings.TrimSpace(r.Text) == "" {
		p.Parts = pawl.Parts{pawl.Text{Text: "Continue."}}
	}
	if err := useMode(ctx, svc, b.Session, &p); err != nil {
		return err
	}
	_, err = svc.Send(ctx, id, p)
	return err
}
