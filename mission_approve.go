package pawl

import (
	"errors"

	"github.com/pawl-dev/pawl/internal/fault"
)

// Hash returns the hash of the plan, by which a person can tell whether it has
// changed.
func (p Plan) Hash() string { return digest(p) }

// CanStart reports whether a task may be given to a worker, as far as approval is
// concerned.
func (m *Mission) CanStart(t TaskState) bool { return !m.Order.ApprovePlan || t.Approved }

// Unapproved returns the tasks that a person has to approve before they can start.
func (m *Mission) Unapproved() []TaskState {
	var list []TaskState
	for _, t := range m.Open() {
		if !m.CanStart(t) {
			list = append(list, t)
		}
	}
	return list
}

// TryApprove returns an error if the plan cannot be approved now.
func (m *Mission) TryApprove(p Plan) error {
	if err := m.Clone().approve(p, Actor{}); err != nil {
		return fault.New(ErrInvalid, "approve the plan: %w", err)
	}
	return nil
}

// startTurn ends what a new prompt ends, and approves the plan if the prompt does.
// No event that mission control or a model can write approves a plan.
func (m *Mission) startTurn(w Waiting) error {
	if p := w.Prompt; p.Approve != nil {
		if err := m.approve(*p.Approve, p.By); err != nil {
			return err
		}
	}
	if w.Seq > m.Paused {
		m.Paused = 0
	}
	m.Blocked, m.Nudges = nil, 0
	return nil
}

// approve replaces the plan by the one that a person has approved.
func (m *Mission) approve(p Plan, by Actor) error {
	switch {
	case m.Sealed != nil:
		return errors.New("the mission is sealed")
	case !m.Order.ApprovePlan:
		return errors.New("the mission does not wait for an approval")
	case m.Criteria == nil:
		return errors.New("there is no plan yet")
	}
	if p.Hash() != m.Plan().Hash() {
		if err := m.plan(Planned{Plan: p, By: "user"}); err != nil {
			return err
		}
	}
	for i := range m.Tasks {
		if m.Tasks[i].Phase != PhaseDropped {
			m.Tasks[i].Approved = true
		}
	}
	m.Approved, m.ApprovedBy = p.Hash(), by
	return nil
}
