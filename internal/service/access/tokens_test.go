package access_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/sqlite"
	"github.com/pawl-dev/pawl/internal/store/sqlite/sqlitetest"
)

var dawn = time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC)

// keys is a place of tokens, a clock, and how often it was asked.
type keys struct {
	*testing.T
	*sqlite.Store
	gate  access.Access
	now   time.Time
	asked int
	down  bool
}

func (k *keys) TokenByHash(ctx context.Context, hash string) (store.Token, error) {
	if k.asked++; k.down {
		return store.Token{}, pawl.ErrUnavailable
	}
	return k.Store.TokenByHash(ctx, hash)
}

func newKeys(t *testing.T) *keys {
	st := sqlitetest.Open(t)
	k := &keys{T: t, Store: st, now: dawn}
	k.gate.Tokens, k.gate.Clock = k, func() time.Time { return k.now }
	return k
}

// make keeps a token and returns its secret.
func (k *keys) make(t store.Token) (secret, id string) {
	k.Helper()
	secret = access.NewSecret()
	t.ID, t.Name, t.Hash, t.Created = ulid.Make().String(), "test", access.Hash(secret), dawn
	if err := k.AddToken(k.Context(), t); err != nil {
		k.Fatal(err)
	}
	return secret, t.ID
}

func (k *keys) refused(what, secret string) {
	k.Helper()
	if p, err := k.gate.Auth(k.Context(), secret); !errors.Is(err, api.ErrUnauthorized) || p != (api.Principal{}) {
		k.Errorf("%s: %+v, %v", what, p, err)
	}
}

func (k *keys) taken(what, secret string) api.Principal {
	k.Helper()
	p, err := k.gate.Auth(k.Context(), secret)
	if err != nil {
		k.Errorf("%s: %v", what, err)
	}
	return p
}

func TestAuth(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	limits := store.Limits{Rate: 100, Budget: 5, Parallel: 2}
	secret, id := k.make(store.Token{User: "ada", Scope: "run", Limits: limits})
	if p, want := k.taken("a good one", secret), (api.Principal{User: "ada", Token: id, Scope: api.ScopeRun, Limits: limits}); p != want {
		t.Errorf("got %+v, want %+v", p, want)
	}
	k.refused("none", "")
	k.refused("the prefix", "pawl_")
	k.refused("another", access.NewSecret())
	k.refused("one with a space", secret+" ")
	k.refused("the hash", access.Hash(secret))
	k.refused("the id", id)

	short, _ := k.make(store.Token{User: "ada", Scope: "run", Expires: dawn.Add(time.Second)})
	k.taken("before its end", short)
	k.now = dawn.Add(time.Second) // it is remembered, and still refused
	k.refused("after its end", short)

	none := access.Access{}
	if _, err := none.Auth(t.Context(), secret); !errors.Is(err, api.ErrUnauthorized) {
		t.Errorf("without tokens: %v", err)
	}
	k.down = true
	k.now = dawn.Add(time.Minute)
	if _, err := k.gate.Auth(t.Context(), secret); !errors.Is(err, pawl.ErrUnavailable) {
		t.Errorf("a store that is away is no reason to think a token wrong: %v", err)
	}
}

// A token that is revoked, by whatever process, ends within seconds, also for one
// who is watching.
func TestRevocation(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b, k := newTeam(t), newKeys(t)
	secret, id := k.make(store.Token{User: "ada", Scope: "run"})
	session := b.create("ada")
	p := k.taken("before", secret)
	if err := k.RevokeToken(t.Context(), id, k.now); err != nil {
		t.Fatal(err)
	}
	svc := k.gate.For(b.all, p)
	seen := 0
	var end error
	for _, err := range svc.Events(t.Context(), session, 0) {
		if err != nil {
			end = err
			break
		}
		if seen++; seen > 1 {
			break
		}
		k.now = dawn.Add(5 * time.Second)
		if err := b.all.Rename(t.Context(), session, "secret"); err != nil {
			t.Fatal(err)
		}
	}
	if seen != 1 || !errors.Is(end, api.ErrUnauthorized) {
		t.Errorf("the watcher saw %d events, and then %v", seen, end)
	}
	k.refused("after it", secret)
}

// A token is asked for once in some seconds, and its use is noted once a minute.
func TestTokensAreRemembered(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	secret, _ := k.make(store.Token{User: "ada", Scope: "run"})
	for range 100 {
		k.taken("often", secret)
	}
	if k.asked != 1 {
		t.Errorf("it was asked for %d times", k.asked)
	}
	for i, want := range []time.Duration{0, 0, time.Minute} {
		k.now = dawn.Add(time.Duration(i) * 30 * time.Second)
		k.taken("later", secret)
		kept, err := k.Store.TokenByHash(t.Context(), access.Hash(secret))
		if err != nil || !kept.Used.Equal(dawn.Add(want)) {
			t.Errorf("after %d half minutes it was used at %s, %v", i, kept.Used, err)
		}
	}
}

func TestRate(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	secret, _ := k.make(store.Token{User: "ada", Scope: "run", Limits: store.Limits{Rate: 6}})
	other, _ := k.make(store.Token{User: "ada", Scope: "run", Limits: store.Limits{Rate: 6}})
	refused := func(want int) {
		t.Helper()
		_, err := k.gate.Auth(t.Context(), secret)
		if !errors.Is(err, api.ErrLimited) || api.RetryAfter(err) != want {
			t.Errorf("%v: try again in %d s, want %d", err, api.RetryAfter(err), want)
		}
	}
	for range 6 {
		k.taken("a minute's worth", secret)
	}
	refused(10)
	k.taken("of another token", other)
	k.now = dawn.Add(4 * time.Second)
	refused(6) // to be refused takes nothing
	k.now = dawn.Add(10 * time.Second)
	k.taken("when one has come back", secret)
	refused(10)
	k.now = dawn.Add(time.Hour)
	for range 6 {
		k.taken("no more than a minute's worth is saved", secret)
	}
	refused(10)
}

// TestDefaultRate checks the rate of tokens that have none of their own, and of the server's own token.
func TestDefaultRate(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	k.gate.DefaultRate = 2
	server := api.Principal{Token: access.ServerToken, Scope: api.ScopeAdmin}
	for i, want := range []bool{true, true, false} {
		if err := k.gate.CheckRate(server); (err == nil) != want || err != nil && !errors.Is(err, api.ErrLimited) {
			t.Errorf("request %d of the server's token: %v", i+1, err)
		}
	}
	secret, _ := k.make(store.Token{User: "ada", Scope: "run"})
	own, _ := k.make(store.Token{User: "ada", Scope: "run", Limits: store.Limits{Rate: 4}})
	for i := range 4 {
		if _, err := k.gate.Auth(t.Context(), secret); (err == nil) != (i < 2) {
			t.Errorf("request %d: %v", i+1, err)
		}
		if _, err := k.gate.Auth(t.Context(), own); err != nil {
			t.Errorf("request %d of a token with its own rate: %v", i+1, err)
		}
	}
	k.gate.DefaultRate = 0
	k.taken("without a default", secret)
}
