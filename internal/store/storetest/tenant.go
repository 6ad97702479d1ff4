package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet"
	"github.com/pawl-dev/pawl/internal/store"
)

// Tenanted is a store with several tenants.
type Tenanted interface {
	store.Store
	store.Tokens
	fleet.HostRegistry
	store.Tenants
}

// things names the data of a tenant.
type things struct {
	session pawl.SessionID
	blob    string
	token   store.Token
	link    store.Token
	dir     string
	epoch   int64
}

// namedThings returns names that are not in use.
func namedThings(blob string) things {
	id := NewID()
	return things{session: id, blob: blob, token: token("ci"), link: token("link"), dir: "/" + string(id), epoch: 1}
}

// try accesses the data of another tenant. Its result contains everything that the
// caller learns.
type try struct {
	do    func(ctx context.Context, s Tenanted, x things) (any, error)
	taken bool   // the method returns ErrConflict for a name that is in use; the others must act as if it did not exist
	fleet string // why the method applies to all tenants
}

// errorOnly adapts the result of a method that returns only an error.
func errorOnly(err error) (any, error) { return nil, err }

// forOperator is the reason for methods that only the operator may use; RunAccounts
// checks them.
const forOperator = "only the operator of the fleet may use it"

var storeTries = map[string]try{
	"Append": {do: func(ctx context.Context, s Tenanted, x things) (any, error) {
		return s.Append(ctx, x.session, 4, titled("taken"))
	}},
	"Begin": {taken: true, do: func(ctx context.Context, s Tenanted, x things) (any, error) {
		return s.Begin(ctx, x.session, func(func(io.Reader, error) bool) {}, event(pawl.SessionCreated{Dir: "/w"}))
	}},
	"Events": {do: func(ctx context.Context, s Tenanted, x things) (any, error) {
		for e, err := range s.Events(ctx, x.session, 0) {
			return e, err
		}
		return nil, nil
	}},
	"Session": {do: func(ctx context.Context, s Tenanted, x things) (any, error) { return s.Session(ctx, x.session) }},
	"Sessions": {do: func(ctx context.Context, s Tenanted, x things) (any, error) {
		all := [][]pawl.Session{}
		for _, f := range []pawl.Filter{
			{}, {Parent: x.session}, {Dir: "/w"}, {Query: "secret"}, {Owner: named("ada"), Shared: true},
			{Owner: named("bob"), Shared: true}, {Unfinished: true}, {Missions: true}, {Asking: true}, {Search: "secret"}, {Search: "s", Parent: x.session}, {State: pawl.StateIdle},
		} {
			got, err := s.Sessions(ctx, f)
			if err != nil {
				return nil, err
			}
			all = append(all, got.Sessions)
		}
		return all, nil
	}},
	"Usage": {do: func(ctx context.Context, s Tenanted, x things) (any, error) {
		one, err := s.Usage(ctx, pawl.UsageFilter{Session: x.session})
		all, err2 := s.Usage(ctx, pawl.UsageFilter{})
		return append(one, all...), errors.Join(err, err2)
	}},
	"SubagentUsage": {do: func(ctx context.Context, s Tenanted, x things) (any, error) { return s.SubagentUsage(ctx, x.session) }},
	"SaveDraft": {do: func(ctx context.Context, s Tenanted, x things) (any, error) {
		return errorOnly(s.SaveDraft(ctx, x.session, pawl.Draft{Text: "taken"}))
	}},
	"Draft": {do: func(ctx context.Context, s Tenanted, x things) (any, error) { return s.Draft(ctx, x.session) }},
	"Acquire": {do: func(ctx context.Context, s Tenanted, x things) (any, error) {
		return s.Acquire(ctx, x.session, "thief", time.Hour, "holder")
	}},
	"Release": {do: func(ctx context.Context, s Tenanted, x things) (any, error) {
		return errorOnly(s.Release(ctx, x.session, "holder"))
	}},
	"Holder": {do: func(ctx context.Context, s Tenanted, x things) (any, error) { return s.Holder(ctx, x.session) }},
	"PutBlob": {do: func(ctx context.Context, s Tenanted, x things) (any, error) {
		_, err := s.PutBlob(ctx, x.session, strings.NewReader("secret output"))
		_, err2 := s.PutBlob(ctx, x.session, strings.NewReader("another"))
		return nil, errors.Join(err, err2)
	}},
	"OpenBlob": {do: func(ctx context.Context, s Tenanted, x things) (any, error) {
		_, err := s.OpenBlob(ctx, x.session, x.blob)
		return nil, err
	}},
	"Delete": {do: func(ctx context.Context, s Tenanted, x things) (any, error) {
		return errorOnly(s.Delete(ctx, x.session))
	}},
	"Close": {fleet: "it closes the store for all tenants"},

	"AddToken": {taken: true, do: func(ctx context.Context, s Tenanted, x things) (any, error) {
		k := token("thief")
		k.ID, k.Tenant = x.token.ID, store.TenantOf(ctx)
		return errorOnly(s.AddToken(ctx, k))
	}},
	"TokenByHash": {fleet: "the secret identifies the tenant"},
	"Tokens":      {do: func(ctx context.Context, s Tenanted, _ things) (any, error) { return s.Tokens(ctx) }},
	"RevokeToken": {do: func(ctx context.Context, s Tenanted, x things) (any, error) {
		return errorOnly(s.RevokeToken(ctx, x.token.ID, dawn))
	}},
	"Redeem": {do: func(ctx context.Context, s Tenanted, x things) (any, error) {
		d := device(x.link)
		d.Tenant = store.TenantOf(ctx)
		return errorOnly(s.Redeem(ctx, x.link.Hash, d))
	}},
	"UpdatePasskey": {do: func(ctx context.Context, s Tenanted, x things) (any, error) {
		return errorOnly(s.UpdatePasskey(ctx, x.token.ID, "", "{}"))
	}},
	"UseToken": {do: func(ctx context.Context, s Tenanted, x things) (any, error) {
		return errorOnly(s.UseToken(ctx, x.token.ID, dawn.Add(time.Hour)))
	}},

	"AddTenant":    {fleet: forOperator},
	"Tenant":       {fleet: forOperator},
	"Tenants":      {fleet: forOperator},
	"SetTenant":    {fleet: forOperator},
	"SessionsOf":   {fleet: forOperator},
	"RemoveTenant": {fleet: forOperator},

	"Heartbeat":  {fleet: "a host serves all tenants"},
	"Hosts":      {fleet: "a host serves all tenants"},
	"Drain":      {fleet: "a host serves all tenants"},
	"Loads":      {fleet: "it is for the operator of the fleet, and returns only counts"},
	"Workspaces": {fleet: "a host serves all tenants"},
	"Place":      {taken: true, do: func(ctx context.Context, s Tenanted, x things) (any, error) { return s.Place(ctx, x.dir, "") }},
	"Declare": {taken: true, do: func(ctx context.Context, s Tenanted, x things) (any, error) {
		return errorOnly(s.Declare(ctx, x.dir, ""))
	}},
	"Offer": {taken: true, do: func(ctx context.Context, s Tenanted, x things) (any, error) {
		return errorOnly(s.Offer(ctx, x.dir, "c", 1))
	}},
	"Workspace": {do: func(ctx context.Context, s Tenanted, x things) (any, error) { return s.Workspace(ctx, x.dir) }},
	"Saved": {do: func(ctx context.Context, s Tenanted, x things) (any, error) {
		return errorOnly(s.Saved(ctx, x.dir, x.epoch, "c", 1))
	}},
	"Allow": {do: func(ctx context.Context, s Tenanted, x things) (any, error) {
		return errorOnly(s.Allow(ctx, x.dir, x.epoch, "all"))
	}},
	"Allowed": {do: func(ctx context.Context, s Tenanted, x things) (any, error) { return s.Allowed(ctx, x.dir) }},
	"Vacate": {do: func(ctx context.Context, s Tenanted, x things) (any, error) {
		return errorOnly(s.Vacate(ctx, x.dir, x.epoch))
	}},
	"Drop": {do: func(ctx context.Context, s Tenanted, x things) (any, error) { return errorOnly(s.Drop(ctx, x.dir)) }},
}

// RunTenants checks that no method gives a tenant access to the data of another one,
// even if it knows the names. open returns an empty store, which is closed when its
// test ends.
func RunTenants(t *testing.T, open func(t *testing.T) Tenanted) {
	for m := range reflect.TypeFor[Tenanted]().Methods() {
		if _, ok := storeTries[m.Name]; !ok {
			t.Errorf("the store has %s, which nobody has tried on what is another tenant's", m.Name)
		}
	}
	for _, who := range []struct{ owner, thief store.Tenant }{{"acme", "rival"}, {"acme", ""}, {"", "acme"}} {
		t.Run(fmt.Sprintf("what is %q's is not %q's", who.owner, who.thief), func(t *testing.T) {
			t.Parallel()
			s := open(t)
			owner, thief := store.WithTenant(t.Context(), who.owner), store.WithTenant(t.Context(), who.thief)
			x := furnish(owner, t, s)
			if who.thief != "" {
				done(t, s.AddTenant(t.Context(), store.Account{Tenant: who.thief}))
			}
			before := all(owner, t, s, x)
			k, err := s.TokenByHash(thief, x.token.Hash)
			done(t, err)
			equal(t, "whose the token is", k, x.token)
			for name, c := range storeTries {
				if c.fleet == "" {
					c.check(thief, t, s, name, x)
				}
				equal(t, "what is there after "+name, all(owner, t, s, x), before)
			}
		})
	}
}

// check compares a try on another tenant's data with one on data that does not exist:
// the results must be the same.
func (c try) check(ctx context.Context, t *testing.T, s Tenanted, name string, x things) {
	t.Helper()
	got, err := c.do(ctx, s, x)
	if c.taken {
		fails(t, name, err, pawl.ErrConflict)
		return
	}
	y := namedThings(x.blob)
	y.epoch = x.epoch
	want, missing := c.do(ctx, s, y)
	equal(t, name+" tells of what is another's", describe(got, err, x), describe(want, missing, y))
}

// describe returns a result as text, with the names replaced.
func describe(got any, err error, x things) string {
	text := fmt.Sprintf("%+v, %v", got, err)
	return strings.NewReplacer(string(x.session), "ID", x.token.ID, "TOKEN", x.dir, "DIR").Replace(text)
}

// furnish creates data of all kinds for a tenant.
func furnish(ctx context.Context, t *testing.T, s Tenanted) things {
	t.Helper()
	x := namedThings("")
	one := func(yield func(io.Reader, error) bool) { yield(strings.NewReader("secret output"), nil) }
	_, err := s.Begin(ctx, x.session, iter.Seq2[io.Reader, error](one),
		event(pawl.SessionCreated{Dir: "/w", Owner: "ada"}), titled("secret plan"), event(pawl.SessionShared{With: []pawl.User{"bob"}}))
	done(t, err)
	_, err = s.Append(ctx, x.session, 3, replied(0, "m", "build", 1))
	done(t, err)
	_, err = s.Append(ctx, NewID(), 0, event(pawl.SessionCreated{Dir: "/w", Parent: x.session}), replied(0, "m", "explore", 2))
	done(t, err)
	done(t, s.SaveDraft(ctx, x.session, pawl.Draft{Text: "secret"}))
	blob, err := s.PutBlob(ctx, x.session, strings.NewReader("secret output"))
	done(t, err)
	_, err = s.Acquire(ctx, x.session, "holder", time.Hour, "")
	done(t, err)
	x.blob, x.token.Tenant = blob.ID, store.TenantOf(ctx)
	if x.token.Tenant != "" {
		done(t, s.AddTenant(t.Context(), store.Account{Tenant: x.token.Tenant, Created: dawn}))
	}
	done(t, s.AddToken(ctx, x.token))
	x.link = token("link")
	x.link.Kind, x.link.Tenant = store.TokenLink, x.token.Tenant
	done(t, s.AddToken(ctx, x.link))
	_, err = s.Heartbeat(ctx, fleet.Host{Name: "a", Capacity: 100})
	done(t, err)
	w, err := s.Place(ctx, x.dir, "")
	done(t, err)
	x.epoch = w.Epoch
	done(t, s.Allow(ctx, x.dir, x.epoch, "secret"))
	return x
}

// all returns all data of a tenant.
func all(ctx context.Context, t *testing.T, s Tenanted, x things) (have []any) {
	t.Helper()
	add := func(v any, err error) {
		t.Helper()
		done(t, err)
		have = append(have, v)
	}
	for e, err := range s.Events(ctx, x.session, 0) {
		add(e, err)
	}
	row, err := s.Session(ctx, x.session)
	add(row, err)
	list, err := s.Sessions(ctx, pawl.Filter{Query: "secret", Owner: named("bob"), Shared: true})
	add(list, err)
	found, err := s.Sessions(ctx, pawl.Filter{Search: "secret plan"})
	add(found, err)
	used, err := s.Usage(ctx, pawl.UsageFilter{})
	add(used, err)
	below, err := s.SubagentUsage(ctx, x.session)
	add(below, err)
	draft, err := s.Draft(ctx, x.session)
	add(draft, err)
	r, err := s.OpenBlob(ctx, x.session, x.blob)
	done(t, err)
	text, err := io.ReadAll(r)
	add(string(text), err)
	tokens, err := s.Tokens(ctx)
	add(tokens, err)
	place, err := s.Workspace(ctx, x.dir)
	add(place, err)
	allowed, err := s.Allowed(ctx, x.dir)
	add(allowed, err)
	_, err = s.Acquire(ctx, x.session, "second", time.Hour, "")
	busy(t, "the lease", err, x.session, "holder")
	return have
}

// single is a store without tenants.
type single interface {
	store.Store
	store.Tokens
}

// accounts is an alias, since an embedded field must not have the name of one of its
// methods.
type accounts = store.Tenants

// RefusesTenants checks that a store without tenants rejects every call for a tenant.
func RefusesTenants(t *testing.T, s single) {
	ctx := store.WithTenant(t.Context(), "acme")
	id := create(t, s).Session
	blob, err := s.PutBlob(t.Context(), id, strings.NewReader("secret output"))
	done(t, err)
	for m := range reflect.TypeFor[single]().Methods() {
		if c := storeTries[m.Name]; c.fleet == "" {
			_, err := c.do(ctx, struct {
				single
				fleet.HostRegistry
				accounts
			}{single: s}, things{session: id, blob: blob.ID, token: token("ci"), link: token("link")})
			fails(t, m.Name, err, pawl.ErrInvalid)
		}
	}
	equal(t, "the head", row(t, s, id).Head, 1)
}
