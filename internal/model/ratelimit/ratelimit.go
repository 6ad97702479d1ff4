// Package ratelimit limits concurrent model calls. Each call takes a slot of its provider and of its model
// while its stream lasts. The number of slots adapts to the provider: it is halved when the provider reports a
// rate limit, and grows by one after as many successful calls. Waiting sessions take turns, so that many
// workers do not keep one person waiting.
package ratelimit

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/model"
)

// Bounds.
const (
	DefaultCalls = 8                // of a provider at once
	DefaultWait  = 10 * time.Minute // of a call for its slots

	mostCalls   = 1000             // maximum of the configuration
	mostWait    = 24 * time.Hour   // maximum of the configuration
	mostWaiting = 1000             // calls waiting for one provider
	mostPause   = 10 * time.Minute // a longer pause means out of service, not busy; calls then fail individually
	quiet       = 2 * time.Second  // waiting time before the user is notified
)

// Bounds are the user's limits for one provider. The zero value means the defaults.
type Bounds struct {
	Calls  int            // maximum at once; 0 means DefaultCalls
	Models map[string]int // the same for single models, by name; others are limited by Calls only
	Wait   time.Duration  // how long a call waits for its slots; 0 means DefaultWait
}

// Limiter manages the slots of all providers. It is safe for concurrent use.
type Limiter struct {
	bounds map[string]Bounds

	mu        sync.Mutex
	providers map[string]*provider
}

// New returns a Limiter. Providers without bounds get the defaults.
func New(bounds map[string]Bounds) (*Limiter, error) {
	for _, id := range slices.Sorted(maps.Keys(bounds)) {
		if err := bounds[id].check(id); err != nil {
			return nil, err
		}
	}
	return &Limiter{bounds: maps.Clone(bounds), providers: map[string]*provider{}}, nil
}

// check validates the bounds. Error messages use the names of the configuration.
func (b Bounds) check(id string) error {
	bad := func(key string, value, most int) error {
		return fault.New(pawl.ErrInvalid, "invalid providers.%s.calls.%s: %d: use 1 to %d, or omit it", id, key, value, most)
	}
	if b.Calls < 0 || b.Calls > mostCalls {
		return bad("max", b.Calls, mostCalls)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Models)) {
		if n := b.Models[name]; n < 1 || n > mostCalls {
			return bad("models."+name, n, mostCalls)
		}
	}
	if b.Wait < 0 || b.Wait > mostWait {
		return bad("wait", int(b.Wait/time.Second), int(mostWait/time.Second))
	}
	return nil
}

// Bounded reports whether the user has set limits for a provider.
func (l *Limiter) Bounded(id string) bool {
	_, ok := l.bounds[id]
	return ok
}

// Model returns m with limited concurrency. Models with the same provider and name share their slots.
func (l *Limiter) Model(id, name string, m model.Model) *Model {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, ok := l.providers[id]
	if !ok {
		p = newProvider(id, l.bounds[id])
		l.providers[id] = p
	}
	return &Model{Model: m, provider: p, pool: p.model(name)}
}
