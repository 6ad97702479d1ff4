// Package ratelimit says how many model calls run at once. Many sessions work in one
// process and ask the same provider; each call takes a slot of its provider and
// one of its model for as long as its stream lasts. How many slots there are
// follows what the provider answers: half as many when it says that it is too
// much, one more after as many calls went well. Those who wait take turns, so
// that many workers do not keep one person waiting.
package ratelimit

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// The bounds.
const (
	DefaultCalls = 8                // of a provider at once
	DefaultWait  = 10 * time.Minute // of a call for its slots

	mostCalls   = 1000             // that may be configured
	mostWait    = 24 * time.Hour   // that may be configured
	mostWaiting = 1000             // calls that wait for one provider
	mostPause   = 10 * time.Minute // a provider that asks for more is out of service, not busy: each call hears it by itself
	quiet       = 2 * time.Second  // of waiting before a person is told
)

// Bounds are the user's limits for one provider. The zero value is the defaults.
type Bounds struct {
	Calls  int            // at once at most; 0 means DefaultCalls
	Models map[string]int // the same for single models, by their names; one that is not named may have them all
	Wait   time.Duration  // how long a call waits for its slots; 0 means DefaultWait
}

// Limiter gives out the slots. It is safe for concurrent use.
type Limiter struct {
	bounds map[string]Bounds

	mu        sync.Mutex
	providers map[string]*provider
}

// New returns a limiter. A provider that is not named has the defaults.
func New(bounds map[string]Bounds) (*Limiter, error) {
	for _, id := range slices.Sorted(maps.Keys(bounds)) {
		if err := bounds[id].check(id); err != nil {
			return nil, err
		}
	}
	return &Limiter{bounds: maps.Clone(bounds), providers: map[string]*provider{}}, nil
}

// check refuses what makes no sense. The names are those of the configuration.
func (b Bounds) check(id string) error {
	bad := func(key string, value, most int) error {
		return fmt.Errorf("providers.%s.calls.%s is %d: use 1 to %d, or leave it out: %w", id, key, value, most, pawl.ErrInvalid)
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

// Model returns m with its calls limited. All that are of one provider, and of
// one of its models, share the slots.
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
