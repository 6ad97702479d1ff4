package agent

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
)

// warnAt is the part of a budget after which the model is told to come to an end.
const warnAt = 0.8

// bound is one budget and how much of it is gone.
type bound struct {
	what        string
	used, limit float64
	show        func(float64) string
}

// bounds are the budgets of the open turn, with what it and its subagents have
// used of them.
func (s *Stepper) bounds(ctx context.Context, j *journal) ([]bound, error) {
	open := j.history.Open()
	settings := open.Settings
	if settings.MaxCost == 0 && settings.MaxTokens == 0 && settings.MaxTime == 0 && settings.MaxSessionCost == 0 {
		return nil, nil
	}
	spent := open.Usage
	children := slices.Clone(open.Workers)
	for _, c := range open.Children {
		children = append(children, c.Spawned.Child)
	}
	for _, id := range children {
		row, err := s.Store.Session(ctx, id)
		if err != nil && pawl.CodeOf(err) != pawl.CodeNotFound { // it may not be made yet
			return nil, fmt.Errorf("budget: %w", err)
		}
		spent = spent.Add(row.Usage)
	}
	session := spent
	if settings.MaxSessionCost > 0 {
		rows, err := s.Store.Usage(ctx, pawl.UsageFilter{Session: j.id}) // those of its subagents too
		if err != nil {
			return nil, fmt.Errorf("budget: %w", err)
		}
		session = pawl.Usage{}
		for _, r := range rows {
			session = session.Add(r.Usage)
		}
	}
	dollars := func(v float64) string { return fmt.Sprintf("$%.4f", pawl.Money(v).Dollars()) }
	return []bound{
		{"the turn has cost", float64(spent.Cost), float64(settings.MaxCost), dollars},
		{"the session has cost", float64(session.Cost), float64(settings.MaxSessionCost), dollars},
		{"the turn has used", float64(spent.Tokens()), float64(settings.MaxTokens), func(v float64) string { return fmt.Sprintf("%.0f tokens", v) }},
		{"the turn has taken", float64(s.Clock().Sub(open.Began)), float64(settings.MaxTime), func(v float64) string { return time.Duration(v).Round(time.Second).String() }},
	}, nil
}

// budget ends the turn when a budget is used up. When one is running out it
// returns a word to the model, once in a turn.
func (s *Stepper) budget(ctx context.Context, j *journal) (warning string, err error) {
	bounds, err := s.bounds(ctx, j)
	if err != nil {
		return "", err
	}
	for _, b := range bounds {
		switch {
		case b.limit == 0:
		case b.used >= b.limit:
			return "", &pawl.Stop{Reason: pawl.ReasonBudget, Message: fmt.Sprintf("%s %s, its limit is %s", b.what, b.show(b.used), b.show(b.limit))}
		case b.used >= warnAt*b.limit && !j.history.Open().Warned:
			warning = fmt.Sprintf("Note: %s %s of at most %s. Finish what you are at, leave things in order, and say what is left.", b.what, b.show(b.used), b.show(b.limit))
		}
	}
	return warning, nil
}

// leftOver bounds a subagent by what is left of its parent's budgets.
func (s *Stepper) leftOver(ctx context.Context, j *journal, child *pawl.Settings) error {
	bounds, err := s.bounds(ctx, j)
	if err != nil || bounds == nil {
		return err
	}
	left := func(b bound) int64 {
		if b.limit == 0 {
			return 0
		}
		return max(int64(b.limit-b.used), 1) // 0 would be no limit
	}
	child.MaxCost, child.MaxTokens, child.MaxTime = pawl.Money(left(bounds[0])), left(bounds[2]), time.Duration(left(bounds[3]))
	if session := pawl.Money(left(bounds[1])); session > 0 && (child.MaxCost == 0 || session < child.MaxCost) {
		child.MaxCost = session
	}
	return nil
}
