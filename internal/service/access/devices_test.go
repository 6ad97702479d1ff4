package access_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/test/wait"
)

var operator = api.Principal{Scope: api.ScopeAdmin}

// link makes a link as a principal.
func (k *keys) link(p api.Principal, n api.NewLink) string {
	k.Helper()
	secret, _, err := k.gate.NewLink(k.Context(), p, n)
	if err != nil {
		k.Fatal(err)
	}
	return secret
}

// redeem signs a browser in, and returns its principal and when that ends.
func (k *keys) redeem(link string) (api.Principal, api.Device) {
	k.Helper()
	secret, d, err := k.gate.Redeem(k.Context(), link, "here")
	if err != nil {
		k.Fatal(err)
	}
	p, err := k.gate.AuthDevice(k.Context(), secret)
	if err != nil {
		k.Fatal(err)
	}
	return p, d
}

// unusable checks that a link signs nobody in.
func (k *keys) unusable(what, link string) {
	k.Helper()
	if secret, d, err := k.gate.Redeem(k.Context(), link, what); !errors.Is(err, api.ErrUnauthorized) || secret != "" || d != (api.Device{}) {
		k.Errorf("%s: %+v, %v", what, d, err)
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	link := k.link(operator, api.NewLink{Name: "phone", Scope: api.ScopeRun})
	if p, d := k.redeem(link); p != (api.Principal{Token: d.ID, Scope: api.ScopeRun, Device: true}) || d.Name != "phone" || !d.Expires.Equal(dawn.Add(90*24*time.Hour)) {
		t.Errorf("signed in as %+v, %+v", p, d)
	}
	k.unusable("used", link)
	k.unusable("none", "")
	k.unusable("a guess", link[:len(link)-1]+"x")
	k.unusable("the hash", access.Hash(link))
	secret, _ := k.make(store.Token{User: "ada", Scope: "run"})
	k.unusable("a token", secret)
	k.refused("a link as a token", k.link(operator, api.NewLink{}))
	if _, err := k.gate.AuthDevice(t.Context(), secret); !errors.Is(err, api.ErrUnauthorized) {
		t.Errorf("a token as a device: %v", err)
	}
	late := k.link(operator, api.NewLink{})
	k.now = dawn.Add(5 * time.Minute)
	k.unusable("late", late)
}

// TestLinksGiveNoMore checks that whoever makes a link cannot get more rights, more requests or more time.
func TestLinksGiveNoMore(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	limits := store.Limits{Rate: 30, Streams: 2}
	secret, id := k.make(store.Token{User: "ada", Scope: "run", Limits: limits, Expires: dawn.Add(time.Hour)})
	ada := k.taken("ada", secret)
	for _, scope := range []api.Scope{api.ScopeApprove, api.ScopeAdmin, "root"} {
		if secret, _, err := k.gate.NewLink(t.Context(), ada, api.NewLink{Scope: scope}); !errors.Is(err, pawl.ErrDenied) || secret != "" {
			t.Errorf("scope %q: %v", scope, err)
		}
	}
	first, d := k.redeem(k.link(ada, api.NewLink{}))
	if first != (api.Principal{User: "ada", Token: d.ID, Scope: api.ScopeRun, Limits: limits, Family: id, Device: true}) || !d.Expires.Equal(dawn.Add(time.Hour)) {
		t.Errorf("signed in as %+v, %+v", first, d)
	}
	second, d := k.redeem(k.link(first, api.NewLink{Scope: api.ScopeRead}))
	if second.Family != id || second.Scope != api.ScopeRead || !d.Expires.Equal(dawn.Add(time.Hour)) {
		t.Errorf("signed in by a device as %+v, %+v", second, d)
	}
	if _, _, err := k.gate.NewLink(t.Context(), second, api.NewLink{Scope: api.ScopeRun}); !errors.Is(err, pawl.ErrDenied) {
		t.Errorf("a device that may read makes one that may run: %v", err)
	}
	for range 27 { // 3 requests were made
		if err := k.gate.CheckRate(second); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.gate.CheckRate(first); !errors.Is(err, api.ErrLimited) {
		t.Errorf("devices have a rate of their own: %v", err)
	}
}

// TestDevicesEndWithTheirToken checks that a revoked token leaves no link and no device behind.
func TestDevicesEndWithTheirToken(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	secret, id := k.make(store.Token{User: "ada", Scope: "run"})
	ada := k.taken("ada", secret)
	device, _ := k.redeem(k.link(ada, api.NewLink{}))
	another, _ := k.redeem(k.link(device, api.NewLink{}))
	stays, _ := k.redeem(k.link(operator, api.NewLink{}))
	byToken, byDevice := k.link(ada, api.NewLink{}), k.link(device, api.NewLink{})
	if err := access.RevokeToken(t.Context(), k, id, k.now); err != nil {
		t.Fatal(err)
	}
	k.unusable("of a revoked token", byToken)
	k.unusable("of a revoked device", byDevice)
	live := map[string]bool{}
	all, err := k.Tokens(t.Context())
	for _, kept := range all {
		live[kept.ID] = kept.Live(k.now)
	}
	if err != nil || live[device.Token] || live[another.Token] || !live[stays.Token] {
		t.Errorf("%v, %v", live, err)
	}
}

// TestDevicesAreOnesOwn checks whose devices a principal can see and revoke.
func TestDevicesAreOnesOwn(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	adas, _ := k.redeem(k.link(api.Principal{User: "ada", Scope: api.ScopeAdmin}, api.NewLink{Name: "ada"}))
	bobs, _ := k.redeem(k.link(api.Principal{User: "bob", Scope: api.ScopeRun}, api.NewLink{Name: "bob"}))
	all, _ := k.redeem(k.link(operator, api.NewLink{Name: "all", Scope: api.ScopeApprove}))
	k.link(operator, api.NewLink{})
	for _, c := range []struct {
		who  api.Principal
		want string
	}{{adas, "[ada true]"}, {bobs, "[bob true]"}, {all, "[all true]"}, {operator, "[all false bob false ada false]"}} {
		devices, err := k.gate.Devices(t.Context(), c.who)
		var got []any
		for _, d := range devices.Devices {
			got = append(got, d.Name, d.Current)
		}
		if fmt.Sprint(got) != c.want || err != nil {
			t.Errorf("%+v sees %v, %v, want %s", c.who, got, err, c.want)
		}
	}
	for _, who := range []api.Principal{adas, all} {
		if err := k.gate.RevokeDevice(t.Context(), who, bobs.Token); !errors.Is(err, pawl.ErrNotFound) {
			t.Errorf("%+v revokes bob's: %v", who, err)
		}
	}
	if err := k.gate.RevokeDevice(t.Context(), operator, bobs.Token); err != nil {
		t.Error(err)
	}
	if _, _, err := k.gate.NewLink(t.Context(), operator, api.NewLink{Name: "ada"}); !errors.Is(err, pawl.ErrConflict) {
		t.Errorf("a name twice: %v", err)
	}
	for n := 0; ; n++ {
		_, _, err := k.gate.NewLink(t.Context(), adas, api.NewLink{})
		if errors.Is(err, pawl.ErrConflict) && n == 49 {
			break
		}
		if err != nil || n > 49 {
			t.Fatalf("link %d: %v", n, err)
		}
	}
}

// TestAttempts checks that an address that guesses is slowed down, and only that one.
func TestAttempts(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	link := k.link(operator, api.NewLink{})
	try := func(from, link string) error {
		_, _, err := k.gate.Redeem(t.Context(), link, from)
		return err
	}
	for i := range 10 {
		if err := try("evil", fmt.Sprint("pawl_link_", i)); !errors.Is(err, api.ErrUnauthorized) {
			t.Errorf("attempt %d: %v", i, err)
		}
	}
	for _, guess := range []string{"pawl_link_x", link} {
		if err := try("evil", guess); !errors.Is(err, api.ErrLimited) || api.RetryAfter(err) != 6 {
			t.Errorf("too many: %v after %d s", err, api.RetryAfter(err))
		}
	}
	if err := try("good", link); err != nil {
		t.Errorf("another address: %v", err)
	}
	k.now = dawn.Add(6 * time.Second)
	if err := try("evil", "pawl_link_x"); !errors.Is(err, api.ErrUnauthorized) {
		t.Errorf("later: %v", err)
	}
}

// TestWatch checks that what a device watches ends when it is revoked: at once in this process, and soon if
// another process did it.
func TestWatch(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	k.gate.Clock = nil
	for what, revoke := range map[string]func(id string) error{
		"here":      func(id string) error { return k.gate.RevokeDevice(t.Context(), operator, id) },
		"elsewhere": func(id string) error { return k.RevokeToken(t.Context(), id, time.Now()) },
	} {
		p, _ := k.redeem(k.link(operator, api.NewLink{}))
		other, _ := k.redeem(k.link(operator, api.NewLink{}))
		ctx, stop := k.gate.Watch(t.Context(), p)
		t.Cleanup(stop)
		kept, stopKept := k.gate.Watch(t.Context(), other)
		t.Cleanup(stopKept)
		if ctx.Err() != nil {
			t.Fatalf("%s: it has ended already", what)
		}
		if err := revoke(p.Token); err != nil {
			t.Fatal(err)
		}
		if what == "here" && ctx.Err() == nil {
			t.Error("it has not ended at once")
		}
		wait.Until(t, "it has ended", func() bool { return ctx.Err() != nil })
		if kept.Err() != nil {
			t.Errorf("%s: another one has ended too", what)
		}
		late, stopLate := k.gate.Watch(t.Context(), p)
		stopLate()
		if late.Err() == nil {
			t.Errorf("%s: a revoked device can watch", what)
		}
	}
}

// TestDevicesOfTenants checks that tenants do not see each other's devices, and that a suspended one signs
// nobody in.
func TestDevicesOfTenants(t *testing.T) { //nolint:paralleltest // it sets environment variables
	n := newNodes(t, store.Account{Tenant: "acme", Created: time.Now()}, store.Account{Tenant: "rival", Created: time.Now()})
	acme, rival := api.Principal{Tenant: "acme", Scope: api.ScopeAdmin}, api.Principal{Tenant: "rival", Scope: api.ScopeAdmin}
	sign := func(p api.Principal) (api.Principal, error) {
		t.Helper()
		link, _, err := n.gates[0].NewLink(t.Context(), p, api.NewLink{})
		if err != nil {
			t.Fatal(err)
		}
		secret, _, err := n.gates[1].Redeem(t.Context(), link, "here")
		if err != nil {
			return api.Principal{}, err
		}
		return n.gates[1].AuthDevice(t.Context(), secret)
	}
	device, err := sign(acme)
	if err != nil || device.Tenant != "acme" {
		t.Fatalf("%+v, %v", device, err)
	}
	if all, err := n.gates[0].Devices(t.Context(), rival); err != nil || len(all.Devices) > 0 {
		t.Errorf("rival sees %v, %v", all, err)
	}
	if err := n.gates[0].RevokeDevice(t.Context(), rival, device.Token); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("rival revokes: %v", err)
	}
	if all, err := n.gates[0].Devices(t.Context(), acme); err != nil || len(all.Devices) != 1 {
		t.Errorf("acme sees %v, %v", all, err)
	}
	if _, err := n.store.SetTenant(t.Context(), "acme", func(a *store.Account) { a.Suspended = time.Now() }); err != nil {
		t.Fatal(err)
	}
	if p, err := sign(acme); !errors.Is(err, api.ErrUnauthorized) {
		t.Errorf("suspended: %+v, %v", p, err)
	}
}
