package access

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
)

// The limits of the token cache.
const (
	cacheFor  = 5 * time.Second // how long a token is not read again: a revocation takes as long
	usedEvery = time.Minute     // the precision of when a token was last used
	maxCached = 4096            // tokens in the cache
)

// prefix begins each secret, so that people and secret scanners recognize one.
const prefix = "pawl_"

// NewSecret returns a new random secret.
func NewSecret() string { return prefix + rand.Text() }

// Hash returns what is stored of a secret. Secrets are long and random, so the hash needs no salt and its
// lookup time reveals nothing.
func Hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// tokenCache holds the tokens that were used recently, and the rates of requests.
type tokenCache struct {
	mu     sync.Mutex
	tokens map[string]lookup // by hash
	hashes map[string]string // by token id
	rates  map[string]*rate  // by token id, and by tenant
}

type lookup struct {
	token  store.Token
	tenant store.Account // the zero value without a tenant
	until  time.Time     // that it is cacheFor
}

// Auth returns the principal of an API token. The error is api.ErrLimited or ErrUnavailable if the request may
// be repeated, ErrDenied if the principal may not use the service now; any other error means that
// the secret is not valid.
func (a *Access) Auth(ctx context.Context, secret string) (api.Principal, error) {
	return a.auth(ctx, secret, store.TokenAPI)
}

// auth returns the principal of a secret, if it is one of the given kind.
func (a *Access) auth(ctx context.Context, secret string, kind store.TokenKind) (api.Principal, error) {
	if a.Tokens == nil || !strings.HasPrefix(secret, prefix) {
		return api.Principal{}, api.ErrUnauthorized
	}
	k, err := a.token(ctx, Hash(secret))
	if err != nil {
		return api.Principal{}, err
	}
	t := k.token
	if t.Kind != kind {
		return api.Principal{}, api.ErrUnauthorized
	}
	p := api.Principal{
		Tenant: t.Tenant, User: t.User, Token: t.ID, Scope: api.Scope(t.Scope), Limits: t.Limits, Shared: k.tenant.Limits,
		Family: t.Parent, Device: t.Kind == store.TokenDevice,
	}
	return p, a.CheckRate(p)
}

// token returns a token that is valid now.
func (a *Access) token(ctx context.Context, hash string) (lookup, error) {
	now := a.now()
	a.tokens.mu.Lock()
	found, ok := a.tokens.tokens[hash]
	a.tokens.mu.Unlock()
	if !ok || !now.Before(found.until) {
		var err error
		if found, err = a.loadToken(ctx, hash, now); err != nil {
			return lookup{}, err
		}
	}
	if !found.token.Live(now) {
		return lookup{}, fmt.Errorf("the token has expired or was revoked: %w", api.ErrUnauthorized)
	}
	if !found.tenant.Suspended.IsZero() {
		return lookup{}, fault.New(pawl.ErrDenied, "tenant %s is suspended: contact the operator of the server", found.token.Tenant)
	}
	return found, nil
}

// ask looks a token and its tenant up, and notes that it is used.
func (a *Access) loadToken(ctx context.Context, hash string, now time.Time) (lookup, error) {
	t, err := a.Tokens.TokenByHash(ctx, hash)
	if errors.Is(err, pawl.ErrNotFound) {
		return lookup{}, api.ErrUnauthorized
	}
	if err != nil {
		return lookup{}, err
	}
	tenant, err := a.account(ctx, t.Tenant)
	if err == nil && t.Live(now) && now.Sub(t.Used) >= usedEvery {
		err = a.Tokens.UseToken(store.WithTenant(ctx, t.Tenant), t.ID, now)
	}
	if err != nil {
		return lookup{}, err
	}
	k := &a.tokens
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, there := k.tokens[hash]; k.tokens == nil || !there && len(k.tokens) >= maxCached {
		k.tokens, k.hashes, k.rates = map[string]lookup{}, map[string]string{}, map[string]*rate{}
	}
	found := lookup{t, tenant, now.Add(cacheFor)}
	k.tokens[hash], k.hashes[t.ID] = found, hash
	return found, nil
}

// account returns the tenant of a token. A tenant that was deleted has no valid tokens.
func (a *Access) account(ctx context.Context, t store.Tenant) (store.Account, error) {
	switch {
	case t == "":
		return store.Account{}, nil
	case a.Tenants == nil:
		return store.Account{}, fault.New(pawl.ErrDenied, "the token belongs to tenant %s, but this server has no tenants", t).
			Hint("Tenants need a fleet: use the address of `pawl-fleet serve`.")
	}
	found, err := a.Tenants.Tenant(store.WithTenant(ctx, ""), t)
	if errors.Is(err, pawl.ErrNotFound) {
		err = api.ErrUnauthorized
	}
	return found, err
}

// live returns an error if the principal's token has expired or was revoked since.
func (a *Access) live(ctx context.Context, p api.Principal) error {
	if !pawl.SessionID(p.Token).Valid() { // not one of our tokens
		return nil
	}
	a.tokens.mu.Lock()
	hash, ok := a.tokens.hashes[p.Token]
	a.tokens.mu.Unlock()
	if !ok {
		return fmt.Errorf("the token must be sent again: %w", api.ErrUnauthorized)
	}
	_, err := a.token(ctx, hash)
	return err
}

// rate is a token bucket: each request takes one, and they refill with time. It counts in this process
// only; several servers allow as many times more.
type rate struct {
	left float64
	at   time.Time
}

// CheckRate returns an error if the request exceeds the rate of its token or tenant. A minute's worth may
// come at once. A request that is rejected takes nothing from the buckets.
func (a *Access) CheckRate(p api.Principal) error {
	now := a.now()
	k := &a.tokens
	k.mu.Lock()
	defer k.mu.Unlock()
	var taken []*rate
	for _, c := range []struct {
		key, whose string
		most       int
	}{{p.LimitKey(), "token", cmp.Or(p.Limits.Rate, a.DefaultRate)}, {"tenant " + string(p.Tenant), "tenant", p.Shared.Rate}} {
		if c.most == 0 {
			continue
		}
		r, ok := k.rates[c.key]
		if !ok {
			if k.rates == nil {
				k.rates = map[string]*rate{}
			}
			r = &rate{float64(c.most), now}
			k.rates[c.key] = r
		}
		if wait := r.fill(float64(c.most), now); wait > 0 {
			return &api.LimitError{What: fmt.Sprintf("too many requests: the %s allows %d per minute", c.whose, c.most), After: wait}
		}
		taken = append(taken, r)
	}
	for _, r := range taken {
		r.left--
	}
	return nil
}

// fill refills the bucket, and returns how long it takes until a request is available.
func (r *rate) fill(most float64, now time.Time) time.Duration {
	r.left = min(most, r.left+max(now.Sub(r.at).Minutes(), 0)*most)
	r.at = now
	return time.Duration(max(1-r.left, 0) / most * float64(time.Minute))
}
