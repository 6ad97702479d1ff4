package access_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/store"
)

// limited wants an error that says when to try again.
func (b *team) limited(err error, words string) time.Duration {
	b.Helper()
	var limit *api.LimitError
	if !errors.As(err, &limit) || !strings.Contains(err.Error(), words) {
		b.Fatalf("error %v, want a limit that says %q", err, words)
	}
	return limit.After
}

// A day's budget ends turns when it is reached, and takes no more prompts until
// the next day.
func TestBudget(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTeam(t)
	now := time.Now() // what is used from this day on counts, should midnight pass meanwhile
	b.Clock = func() time.Time { return now }
	ada := b.as("ada", store.Limits{Budget: 1000})
	const look = `{"calls":[{"name":"list"}],"usage":{"cost":300}}`
	const task = `{"calls":[{"name":"task","input":{"agent":"general","prompt":"x","description":"x"}}],"usage":{"cost":100}}`

	first, second := b.create("ada"), b.create("ada")
	b.run(b.as("bob"), b.create("bob"), b.prompt(`{"text":"1","usage":{"cost":5000}}`)) // another's
	b.same("within", b.run(ada, first, b.prompt(task, `{"text":"Ok."}`, `{"agent":"general","text":"x","usage":{"cost":300}}`)), pawl.ReasonEndTurn)
	// 600 are left: two replies and no more, in another session too.
	p := b.prompt(look, look, look, `{"text":"Never."}`)
	p.MaxCost = 5000
	b.same("to the end", b.run(ada, second, p), pawl.ReasonBudget)
	rows, err := ada.Usage(t.Context(), pawl.UsageFilter{})
	if err != nil {
		t.Fatal(err)
	}
	var sum pawl.Money
	for _, r := range rows {
		sum += r.Cost
	}
	b.same("spent", sum, pawl.Money(1000))

	_, err = ada.Send(t.Context(), first, p)
	after := b.limited(err, "try again after "+now.UTC().AddDate(0, 0, 1).Format(time.DateOnly)+" 00:00 UTC")
	if after <= 0 || after > 24*time.Hour {
		t.Errorf("try again in %s", after)
	}
	_, err = ada.Compact(t.Context(), first, "")
	b.limited(err, "budget")
	_, err = ada.Shell(t.Context(), first, "true")
	b.limited(err, "budget")
	b.limited(ada.Resume(t.Context(), first), "budget")
	b.limited(ada.Delete(t.Context(), first), "delete it after") // what was spent would be forgotten
	b.same("log", len(b.log(first)) > 0, true)

	now = now.AddDate(0, 0, 2)
	b.same("another day", b.run(ada, b.create("ada"), b.prompt(`{"text":"Ok.","usage":{"cost":10}}`)), pawl.ReasonEndTurn)
	if err := ada.Delete(t.Context(), second); err != nil {
		t.Error(err)
	}
}

// Prompts that wait do not each have the whole of what is left.
func TestBudgetOfAQueue(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTeam(t)
	ada := b.as("ada", store.Limits{Budget: 1000})
	id := b.create("ada")
	go1 := filepath.Join(b.dir, "go")
	wait := `{"calls":[{"name":"bash","input":{"command":"until [ -e ` + go1 + ` ]; do sleep 0.01; done"}}],"usage":{"cost":100}}`
	p := b.prompt(wait, `{"text":"1","usage":{"cost":800}}`, `{"text":"2","usage":{"cost":100}}`, `{"text":"3","usage":{"cost":900}}`, `{"text":"4","usage":{"cost":900}}`)
	last := pawl.Seq(0)
	for i, delivery := range []pawl.Delivery{pawl.DeliverNow, pawl.DeliverQueue, pawl.DeliverQueue, pawl.DeliverQueue} {
		p.Delivery = delivery
		seq, err := ada.Send(t.Context(), id, p)
		if err != nil {
			t.Fatal(i, err)
		}
		last = seq
		if i == 0 {
			b.until(id, func(e pawl.Event) bool { _, ok := e.Body.(pawl.CallStarted); return ok }) // its first reply is counted
		}
	}
	if err := os.WriteFile(go1, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var reasons []pawl.Reason
	for e, err := range b.all.Events(t.Context(), id, last) {
		if err != nil {
			t.Fatal(err)
		}
		if f, ok := e.Body.(pawl.TurnFinished); ok {
			if reasons = append(reasons, f.Reason); len(reasons) == 4 {
				break
			}
		}
	}
	b.same("ends", reasons, []pawl.Reason{pawl.ReasonEndTurn, pawl.ReasonEndTurn, pawl.ReasonBudget, pawl.ReasonBudget})
}

// until waits for an event.
func (b *team) until(id pawl.SessionID, wanted func(pawl.Event) bool) {
	b.Helper()
	for e, err := range b.all.Events(b.Context(), id, 0) {
		if err != nil {
			b.Fatal(err)
		}
		if wanted(e) {
			return
		}
	}
}

// usageHook is a service that calls happens once, after its first Usage.
type usageHook struct {
	pawl.Service
	happens func()
}

func (m *usageHook) Usage(ctx context.Context, f pawl.UsageFilter) ([]pawl.UsageRow, error) {
	rows, err := m.Service.Usage(ctx, f)
	if m.happens != nil {
		m.happens()
		m.happens = nil
	}
	return rows, err
}

// What is spent while it is looked how much is left does not make it more.
func TestBudgetWhileItIsSpent(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTeam(t)
	id := b.create("ada")
	spend := func() {
		title := pawl.SessionTitled{Title: "x", ModelUsage: pawl.ModelUsage{Model: "m", Usage: pawl.Usage{Cost: 100}}}
		if _, err := b.store.Append(t.Context(), id, 1, pawl.Event{At: time.Now(), Body: title}); err != nil {
			t.Fatal(err)
		}
	}
	p := api.Principal{User: "ada", Scope: api.ScopeRun, Limits: store.Limits{Budget: 1000}}
	b.run(b.For(&usageHook{b.all, spend}, p), id, b.prompt(`{"text":"Ok."}`))
	sent, ok := b.log(id)[2].Body.(pawl.Prompted)
	if !ok || sent.MaxCost != 900 || sent.MaxSessionCost > 1000 {
		t.Errorf("the turn may cost %d, the session %d", sent.MaxCost, sent.MaxSessionCost)
	}
}

// So many sessions of a user's work at once, and no more, however they come.
func TestParallel(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTeam(t)
	ada := b.as("ada", store.Limits{Parallel: 2})
	ids := make([]pawl.SessionID, 8)
	for i := range ids {
		ids[i] = b.create("ada")
	}
	p := b.prompt(`{"calls":[{"name":"bash","input":{"command":"sleep 1000"}}]}`)
	errs := make([]error, len(ids))
	var wg sync.WaitGroup
	for i, id := range ids {
		wg.Go(func() { _, errs[i] = ada.Send(t.Context(), id, p) })
	}
	wg.Wait()
	var working []pawl.SessionID
	for i, err := range errs {
		if err == nil {
			working = append(working, ids[i])
			continue
		}
		b.limited(err, "2 sessions already running")
	}
	b.same("accepted", len(working), 2)
	p.Delivery = pawl.DeliverQueue // one that works may be given more
	if _, err := ada.Send(t.Context(), working[0], p); err != nil {
		t.Error(err)
	}
	if _, err := b.as("bob", store.Limits{Parallel: 1}).Send(t.Context(), b.create("bob"), p); err != nil {
		t.Errorf("another's do not count: %v", err)
	}
	subagent, err := ada.Create(t.Context(), pawl.NewSession{Dir: b.dir, Parent: ids[0]})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ada.Send(t.Context(), subagent.ID, p); !errors.Is(err, pawl.ErrDenied) {
		t.Errorf("work was given past the limit: %v", err)
	}
	for _, id := range working {
		b.end(id)
	}
	if _, err := ada.Send(t.Context(), ids[7], p); err != nil {
		t.Errorf("when they have ended: %v", err)
	}
}

// end cancels a session's work and waits for that.
func (b *team) end(id pawl.SessionID) {
	b.Helper()
	if err := b.all.Cancel(b.Context(), id); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	for range b.all.Events(ctx, id, 0) {
		row, err := b.all.Get(ctx, id)
		if err != nil {
			b.Fatal(err)
		}
		if row.State() == pawl.StateIdle {
			return
		}
	}
}
