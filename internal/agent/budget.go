package agent

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
)

// warnAt is the fraction of a budget after which the model is asked to finish.
const warnAt = 0.8

// budget is a limit of a turn or session, and how much of it is used.
type budget struct {
	what        string
	used, limit float64
	reply       float64 // how much of it a reply is expected to use
	show        func(float64) string
}

// allows reports whether a model call may start while others of the same account are in
// flight. A single call may exceed the budget: how much it uses is known only afterwards.
func (b budget) allows(inFlight int) bool {
	return inFlight == 0 || b.used+float64(inFlight+1)*b.reply <= b.limit
}

// budgets returns the budgets that limit the open turn: its own and, if it is the turn of a
// subagent or worker, those of the turn that started it. Each includes the usage of all
// subagents and workers.
func (s *Stepper) budgets(ctx context.Context, j *journal) ([]budget, error) {
	turns, err := s.limitedTurns(ctx, j)
	if err != nil {
		return nil, err
	}
	var all []budget
	for _, t := range turns {
		list, err := s.budgetsOf(ctx, t)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// limitedTurns returns the turns whose limits apply to the open turn of a session.
func (s *Stepper) limitedTurns(ctx context.Context, j *journal) ([]turnAccount, error) {
	own := accountOf(j)
	turns := []turnAccount{own}
	parent, err := j.parentTurn(ctx)
	if err != nil {
		return nil, err
	}
	if parent != nil {
		turns = append(turns, *parent)
	}
	return slices.DeleteFunc(turns, func(t turnAccount) bool {
		l := t.settings
		return l.MaxCost == 0 && l.MaxTokens == 0 && l.MaxTime == 0 && l.MaxSessionCost == 0
	}), nil
}

// budgetsOf returns the budgets of one turn.
func (s *Stepper) budgetsOf(ctx context.Context, t turnAccount) ([]budget, error) {
	rows, err := s.Store.Usage(ctx, pawl.UsageFilter{Session: t.session}) // includes its subagents
	if err != nil {
		return nil, fmt.Errorf("budget: %w", err)
	}
	turn, session := t.total(rows), pawl.Usage{}
	var cost, tokens float64 // of the most expensive replies, on average
	for _, r := range rows {
		session = session.Add(r.Usage)
		n := float64(max(r.Replies, 1))
		cost, tokens = max(cost, float64(r.Cost)/n), max(tokens, float64(r.Tokens())/n)
	}
	dollars := func(v float64) string { return fmt.Sprintf("$%.4f", pawl.Money(v).Dollars()) }
	count := func(v float64) string { return fmt.Sprintf("%.0f tokens", v) }
	period := func(v float64) string { return time.Duration(v).Round(time.Second).String() }
	list := []budget{
		{t.name + " has cost", float64(turn.Cost), float64(t.settings.MaxCost), cost, dollars},
		{"the session has cost", float64(session.Cost), float64(t.settings.MaxSessionCost), cost, dollars},
		{t.name + " has used", float64(turn.Tokens()), float64(t.settings.MaxTokens), tokens, count},
		{t.name + " has taken", float64(s.Clock().Sub(t.began)), float64(t.settings.MaxTime), 0, period},
	}
	return slices.DeleteFunc(list, func(b budget) bool { return b.limit == 0 }), nil
}

// checkBudgets returns a *Stop when a budget is used up, and a warning for the
// model when one is nearly used up, once per turn.
func (s *Stepper) checkBudgets(ctx context.Context, j *journal) (warning string, err error) {
	budgets, err := s.budgets(ctx, j)
	if err != nil {
		return "", err
	}
	for _, b := range budgets {
		if b.used >= warnAt*b.limit && !j.history.Open().Warned {
			warning = fmt.Sprintf("Note: %s %s of at most %s. Finish the current step, leave the project in a consistent state, and list the remaining work.", b.what, b.show(b.used), b.show(b.limit))
		}
	}
	return warning, usedUp(budgets)
}

// usedUp returns a *Stop if a budget is used up.
func usedUp(budgets []budget) error {
	for _, b := range budgets {
		if b.used >= b.limit {
			return &Stop{Reason: pawl.ReasonBudget, Message: fmt.Sprintf("%s %s (limit: %s)", b.what, b.show(b.used), b.show(b.limit))}
		}
	}
	return nil
}
