package access

import (
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
	"github.com/pawl-dev/pawl/internal/weak"
)

// The bounds of what is remembered of tokens.
const (
	believed  = 5 * time.Second // for so long a token is not asked for again: a revocation takes as long
	usedEvery = time.Minute     // how exactly it is known when a token was used
	maxKnown  = 4096            // tokens that are remembered
)

// prefix begins each secret, so that people and scanners know one when they see it.
const prefix = "pawl_"

// NewSecret returns a secret that nobody has.
func NewSecret() string { return prefix + rand.Text() }

// Hash is what is kept of a secret. A secret is long and random: whoever has the
// hash cannot guess it, and the time that it takes to look for one tells nothing.
func Hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// known are the tokens that were asked for of late.
type known struct {
	mu     sync.Mutex
	tokens map[string]lookup // by their hashes
	hashes map[string]string // by the tokens' ids
	rates  map[string]*rate  // likewise
}

type lookup struct {
	token pawl.Token
	until time.Time // that it is believed
}

// Auth says who has a secret. An error that is neither an api.ErrLimited nor an
// ErrUnavailable means nobody.
func (a *Access) Auth(ctx context.Context, secret string) (api.Principal, error) {
	if a.Tokens == nil || !strings.HasPrefix(secret, prefix) {
		return api.Principal{}, api.ErrUnauthorized
	}
	t, err := a.token(ctx, Hash(secret))
	if err != nil {
		return api.Principal{}, err
	}
	p := api.Principal{User: t.User, Token: t.ID, Scope: api.Scope(t.Scope), Limits: t.Limits}
	return p, a.pace(t)
}

// token returns a token that can be used.
func (a *Access) token(ctx context.Context, hash string) (pawl.Token, error) {
	now := a.now()
	a.tokens.mu.Lock()
	found, ok := a.tokens.tokens[hash]
	a.tokens.mu.Unlock()
	if !ok || !now.Before(found.until) {
		t, err := a.ask(ctx, hash, now)
		if err != nil {
			return t, err
		}
		found.token = t
	}
	if !found.token.Live(now) && !weak.On("access.revoked") {
		return pawl.Token{}, fmt.Errorf("the token has expired or was revoked: %w", api.ErrUnauthorized)
	}
	return found.token, nil
}

// ask looks a token up, and notes that it is used.
func (a *Access) ask(ctx context.Context, hash string, now time.Time) (pawl.Token, error) {
	t, err := a.Tokens.TokenByHash(ctx, hash)
	if errors.Is(err, pawl.ErrNotFound) {
		return t, api.ErrUnauthorized
	}
	if err == nil && t.Live(now) && now.Sub(t.Used) >= usedEvery {
		err = a.Tokens.UseToken(ctx, t.ID, now)
	}
	if err != nil {
		return t, err
	}
	k := &a.tokens
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, there := k.tokens[hash]; k.tokens == nil || !there && len(k.tokens) >= maxKnown {
		k.tokens, k.hashes, k.rates = map[string]lookup{}, map[string]string{}, map[string]*rate{}
	}
	k.tokens[hash], k.hashes[t.ID] = lookup{t, now.Add(believed)}, hash
	return t, nil
}

// live returns an error if the one who asks came with a token that has ended since.
func (a *Access) live(ctx context.Context, p api.Principal) error {
	if !pawl.SessionID(p.Token).Valid() { // it is none of ours
		return nil
	}
	a.tokens.mu.Lock()
	hash, ok := a.tokens.hashes[p.Token]
	a.tokens.mu.Unlock()
	if !ok {
		return fmt.Errorf("the token must be shown again: %w", api.ErrUnauthorized)
	}
	_, err := a.token(ctx, hash)
	return err
}

// rate is a bucket: each request takes one out, and they come back with time. It
// is this process's own; several servers permit as many times more.
type rate struct {
	left float64
	at   time.Time
}

// pace refuses a request that comes too soon. A minute's worth may come at once.
func (a *Access) pace(t pawl.Token) error {
	if t.Limits.Rate == 0 {
		return nil
	}
	now, most := a.now(), float64(t.Limits.Rate)
	k := &a.tokens
	k.mu.Lock()
	defer k.mu.Unlock()
	r, ok := k.rates[t.ID]
	if !ok {
		r = &rate{most, now}
		k.rates[t.ID] = r
	}
	r.left = min(most, r.left+max(now.Sub(r.at).Minutes(), 0)*most)
	r.at = now
	if r.left < 1 {
		wait := time.Duration((1 - r.left) / most * float64(time.Minute))
		return &api.LimitError{What: fmt.Sprintf("the token permits %d requests a minute", t.Limits.Rate), After: wait}
	}
	r.left--
	return nil
}
