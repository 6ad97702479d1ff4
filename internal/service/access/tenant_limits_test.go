package access_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/service"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/postgres"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// idle is a runner of which nothing is ever done: what was sent waits.
type idle struct{}

func (idle) Start(context.Context, pawl.SessionID) error            { return nil }
func (idle) Wake(context.Context, pawl.SessionID) error             { return nil }
func (idle) Answered(context.Context, pawl.SessionID) error         { return nil }
func (idle) Cancel(context.Context, pawl.SessionID, pawl.Seq) error { return nil }

// nodes are two servers of a fleet on one store, with a clock.
type nodes struct {
	*testing.T
	store *postgres.Store
	all   pawl.Service
	now   time.Time
	gates [2]*access.Access
}

func newNodes(t *testing.T, tenants ...store.Account) *nodes {
	t.Helper()
	st, err := postgres.Open(t.Context(), harness.Stores["postgres"](t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	check := func(context.Context, string, pawl.Settings) error { return nil }
	n := &nodes{T: t, store: st, now: time.Now()}
	n.all = service.New(service.Config{Store: st, Bus: bus.New(st, bus.Config{}), Runner: idle{}, Check: check})
	for i := range n.gates {
		n.gates[i] = &access.Access{Tokens: st, Tenants: st, Clock: func() time.Time { return n.now }}
	}
	for _, a := range tenants {
		if err := st.AddTenant(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// token makes one and returns its secret.
func (n *nodes) token(tenant store.Tenant, user pawl.User, limits store.Limits) string {
	n.Helper()
	secret := access.NewSecret()
	err := n.store.AddToken(store.WithTenant(n.Context(), tenant), store.Token{
		ID: ulid.Make().String(), Name: string(user), Tenant: tenant, User: user, Scope: "run", Hash: access.Hash(secret), Created: n.now, Limits: limits,
	})
	if err != nil {
		n.Fatal(err)
	}
	return secret
}

// at is the service of a node to who has the secret.
func (n *nodes) at(node int, secret string) pawl.Service {
	n.Helper()
	p, err := n.gates[node].Auth(n.Context(), secret)
	if err != nil {
		n.Fatal(err)
	}
	return n.gates[node].For(n.all, p)
}

func (n *nodes) create(svc pawl.Service) pawl.SessionID {
	n.Helper()
	s, err := svc.Create(n.Context(), pawl.NewSession{Dir: "/w"})
	if err != nil {
		n.Fatal(err)
	}
	return s.ID
}

// spend has a session of a tenant cost something.
func (n *nodes) spend(tenant store.Tenant, id pawl.SessionID, cost pawl.Money) {
	n.Helper()
	ctx := store.WithTenant(n.Context(), tenant)
	row, err := n.store.Session(ctx, id)
	if err != nil {
		n.Fatal(err)
	}
	title := pawl.SessionTitled{Title: "x", ModelUsage: pawl.ModelUsage{Model: "m", Usage: pawl.Usage{Cost: cost}}}
	if _, err := n.store.Append(ctx, id, row.Head, pawl.Event{At: n.now, Body: title}); err != nil {
		n.Fatal(err)
	}
}

var going = pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: "m"}}

// send wants a prompt to be taken, and returns it as it is in the log.
func (n *nodes) send(tenant store.Tenant, svc pawl.Service, id pawl.SessionID) (pawl.Seq, pawl.Prompted) {
	n.Helper()
	seq, err := svc.Send(n.Context(), id, going)
	if err != nil {
		n.Fatal(err)
	}
	for e, err := range n.store.Events(store.WithTenant(n.Context(), tenant), id, seq-1) {
		if p, ok := e.Body.(pawl.Prompted); ok && err == nil {
			return seq, p
		}
	}
	n.Fatal("the prompt is not in the log")
	return 0, pawl.Prompted{}
}

// limited wants a limit to be reached that says so.
func (n *nodes) limited(err error, words string) {
	n.Helper()
	var limit *api.LimitError
	if !errors.As(err, &limit) || !strings.Contains(err.Error(), words) || limit.After <= 0 {
		n.Errorf("error %v, want a limit that says %q", err, words)
	}
}

// What a tenant may do holds for all of its users together, at whichever server,
// and a token's own limits hold beside it: the stricter counts.
func TestTenantsLimits(t *testing.T) {
	t.Parallel()
	n := newNodes(t, store.Account{Tenant: "acme", Limits: store.Limits{Budget: 1000, Parallel: 2}}, store.Account{Tenant: "rival", Limits: store.Limits{Budget: 1000, Parallel: 2}})
	plain, strict := n.token("acme", "ada", store.Limits{}), n.token("acme", "bob", store.Limits{Budget: 300, Parallel: 1})
	ada, bob := n.at(0, plain), n.at(1, strict)
	rival := n.at(0, n.token("rival", "ada", store.Limits{}))
	first, second, third := n.create(ada), n.create(bob), n.create(ada)
	theirs := n.create(rival)
	n.spend("rival", theirs, 900)

	n.spend("acme", first, 200)
	_, p := n.send("acme", bob, second) // 800 are left to the tenant, and 300 to the token
	if p.MaxCost != 300 || p.MaxSessionCost != 300 {
		t.Errorf("the stricter token: %d, %d", p.MaxCost, p.MaxSessionCost)
	}
	n.spend("acme", second, 250)
	seq, p := n.send("acme", ada, first) // 550 to the tenant, in a session that has cost 200
	if p.MaxCost != 550 || p.MaxSessionCost != 750 {
		t.Errorf("the tenant: %d, %d", p.MaxCost, p.MaxSessionCost)
	}

	_, err := n.at(1, plain).Send(t.Context(), third, going)
	n.limited(err, "2 sessions already running, the limit of the tenant")
	_, err = bob.Send(t.Context(), n.create(bob), going)
	n.limited(err, "1 session already running, the limit of the token")
	if _, p := n.send("rival", rival, theirs); p.MaxCost != 100 {
		t.Errorf("another tenant's work and cost count: %d are left", p.MaxCost)
	}
	if err := ada.Withdraw(t.Context(), first, seq); err != nil {
		t.Fatal(err)
	}
	n.send("acme", n.at(1, plain), third) // when one has ended

	n.spend("acme", third, 600)
	_, err = n.at(0, plain).Send(t.Context(), third, going)
	n.limited(err, "the daily budget of the tenant ($0.00) is spent")
	n.limited(n.at(1, plain).Delete(t.Context(), third), "delete it after")
	n.now = n.now.AddDate(0, 0, 2)
	if _, err := n.at(0, plain).Shell(t.Context(), third, "true"); err != nil {
		t.Errorf("another day: %v", err)
	}
}

// The rate of a tenant is counted by each server, for all of its tokens.
func TestTenantsRate(t *testing.T) {
	t.Parallel()
	n := newNodes(t, store.Account{Tenant: "acme", Limits: store.Limits{Rate: 3}}, store.Account{Tenant: "rival", Limits: store.Limits{Rate: 3}})
	ada, bob := n.token("acme", "ada", store.Limits{}), n.token("acme", "bob", store.Limits{Rate: 1})
	other := n.token("rival", "ada", store.Limits{})
	ask := func(node int, secret, want string) {
		t.Helper()
		_, err := n.gates[node].Auth(t.Context(), secret)
		if want == "" && err != nil {
			t.Error(err)
		} else if want != "" {
			n.limited(err, want)
		}
	}
	ask(0, bob, "")
	ask(0, bob, "too many requests: the token allows 1 per minute") // takes nothing of the tenant
	ask(0, ada, "")
	ask(0, ada, "")
	ask(0, ada, "too many requests: the tenant allows 3 per minute")
	ask(0, other, "")
	ask(1, ada, "")
	n.now = n.now.Add(20 * time.Second)
	ask(0, ada, "")
	ask(0, bob, "the token allows 1")
	ask(0, ada, "the tenant allows 3")
}

// The tokens of a tenant that is suspended end within seconds, also for one who
// watches, and of one that was removed. What works goes on.
func TestSuspension(t *testing.T) {
	t.Parallel()
	n := newNodes(t, store.Account{Tenant: "acme"}, store.Account{Tenant: "rival"})
	secret, other := n.token("acme", "ada", store.Limits{}), n.token("rival", "ada", store.Limits{})
	ada := n.at(0, secret)
	id := n.create(ada)
	n.send("acme", ada, id)
	suspend := func(at time.Time) {
		t.Helper()
		if _, err := n.store.SetTenant(t.Context(), "acme", func(a *store.Account) { a.Suspended = at }); err != nil {
			t.Fatal(err)
		}
		n.now = n.now.Add(5 * time.Second)
	}
	seen := 0
	var end error
	for _, err := range ada.Events(t.Context(), id, 0) {
		if end = err; err != nil || seen > 0 {
			break
		}
		seen++
		suspend(n.now)
	}
	if !errors.Is(end, pawl.ErrDenied) {
		t.Errorf("one who watches: %v", end)
	}
	for node := range n.gates {
		if p, err := n.gates[node].Auth(t.Context(), secret); !errors.Is(err, pawl.ErrDenied) || p != (api.Principal{}) {
			t.Errorf("node %d: %+v, %v", node, p, err)
		}
	}
	n.at(0, other)
	if row, err := n.store.Session(store.WithTenant(t.Context(), "acme"), id); err != nil || row.State() == pawl.StateIdle {
		t.Errorf("its session is %s, %v", row.State(), err)
	}
	suspend(time.Time{})
	n.at(0, secret)
	if err := n.store.Delete(store.WithTenant(t.Context(), "acme"), id); err != nil {
		t.Fatal(err)
	}
	if err := n.store.RemoveTenant(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	n.now = n.now.Add(5 * time.Second)
	if _, err := n.gates[0].Auth(t.Context(), secret); !errors.Is(err, api.ErrUnauthorized) {
		t.Errorf("one that was removed: %v", err)
	}
}

// A server that works for no tenant takes no token of one, and says what to do.
func TestTenantsNeedAFleet(t *testing.T) {
	t.Parallel()
	n := newNodes(t, store.Account{Tenant: "acme"})
	gate := access.Access{Tokens: n.store}
	_, err := gate.Auth(t.Context(), n.token("acme", "ada", store.Limits{}))
	if !errors.Is(err, pawl.ErrDenied) || !strings.Contains(err.Error(), "this server has no tenants") {
		t.Errorf("a tenant's token: %v", err)
	}
	if _, err := gate.Auth(t.Context(), n.token("", "ada", store.Limits{})); err != nil {
		t.Errorf("a token of none: %v", err)
	}
}
