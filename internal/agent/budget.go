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
	show        func(float64) string
}

// budgets returns the budgets of the open turn, including the usage of its subagents and
// workers; nil if it has none. The order is: turn cost, session cost, tokens, time.
func (s *Stepper) budgets(ctx context.Context, j *journal) ([]budget, error) {
	open := j.history.Open()
	settings := open.Settings
	if settings.MaxCost == 0 && settings.MaxTokens == 0 && settings.MaxTime == 0 && settings.MaxSessionCost == 0 {
		return nil, nil
	}
	spent := open.Usage
	ids := slices.Clone(open.Workers)
	for _, c := range open.Subagents {
		ids = append(ids, c.Subagent)
	}
	for _, id := range ids {
		row, err := s.Store.Session(ctx, id)
		if err != nil && pawl.CodeOf(err) != pawl.CodeNotFound { // it may not be created yet
			return nil, fmt.Errorf("budget: %w", err)
		}
		spent = spent.Add(row.Usage)
	}
	session := spent
	if settings.MaxSessionCost > 0 {
		rows, err := s.Store.Usage(ctx, pawl.UsageFilter{Session: j.id}) // includes its subagents
		if err != nil {
			return nil, fmt.Errorf("budget: %w", err)
		}
		session = pawl.Usage{}
		for _, r := range rows {
			session = session.Add(r.Usage)
		}
	}
	dollars := func(v float64) string { return fmt.Sprintf("$%.4f", pawl.Money(v).Dollars()) }
	return []budget{
		{"the turn has cost", float64(spent.Cost), float64(settings.MaxCost), dollars},
		{"the session has cost", float64(session.Cost), float64(settings.MaxSessionCost), dollars},
		{"the turn has used", float64(spent.Tokens()), float64(settings.MaxTokens), func(v float64) string { return fmt.Sprintf("%.0f tokens", v) }},
		{"the turn has taken", float64(s.Clock().Sub(open.Began)), float64(settings.MaxTime), func(v float64) string { return time.Duration(v).Round(time.Second).String() }},
	}, nil
}

// checkBudgets returns a *Stop when a budget is used up, and a warning for the
// model when one is nearly used up, once per turn.
func (s *Stepper) checkBudgets(ctx context.Context, j *journal) (warning string, err error) {
	bounds, err := s.budgets(ctx, j)
	if err != nil {
		return "", err
	}
	for _, b := range bounds {
		switch {
		case b.limit == 0:
		case b.used >= b.limit:
			return "", &Stop{Reason: pawl.ReasonBudget, Message: fmt.Sprintf("%s %s (limit: %s)", b.what, b.show(b.used), b.show(b.limit))}
		case b.used >= warnAt*b.limit && !j.history.Open().Warned:
			warning = fmt.Sprintf("Note: %s %s of at most %s. Finish the current step, leave the project in a consistent state, and list the remaining work.", b.what, b.show(b.used), b.show(b.limit))
		}
	}
	return warning, nil
}

// limitToRemaining limits the settings of a subagent or worker to the remaining budgets of
// its parent.
func (s *Stepper) limitToRemaining(ctx context.Context, j *journal, settings *pawl.Settings) error {
	bounds, err := s.budgets(ctx, j)
	if err != nil || bounds == nil {
		return err
	}
	left := func(b budget) int64 {
		if b.limit == 0 {
			return 0
		}
		return max(int64(b.limit-b.used), 1) // 0 would be no limit
	}
	settings.MaxCost, settings.MaxTokens, settings.MaxTime = pawl.Money(left(bounds[0])), left(bounds[2]), time.Duration(left(bounds[3]))
	if session := pawl.Money(left(bounds[1])); session > 0 && (settings.MaxCost == 0 || session < settings.MaxCost) {
		settings.MaxCost = session
	}
	return nil
}
