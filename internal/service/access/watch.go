package access

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
)

// watchers are the requests to end when a token is revoked, by its ID.
type watchers struct {
	mu  sync.Mutex
	all map[string]map[*watcher]bool
}

type watcher struct{ end context.CancelFunc }

// Watch returns a context that ends when the principal's token is revoked: at once by this process, within
// seconds by another one, or when it expires. The caller must call stop.
func (a *Access) Watch(ctx context.Context, p api.Principal) (_ context.Context, stop func()) {
	ctx, end := context.WithCancel(ctx)
	if !pawl.SessionID(p.Token).Valid() { // not one of our tokens
		return ctx, end
	}
	w := &watcher{end}
	a.watched.mu.Lock()
	if a.watched.all == nil {
		a.watched.all = map[string]map[*watcher]bool{}
	}
	if a.watched.all[p.Token] == nil {
		a.watched.all[p.Token] = map[*watcher]bool{}
	}
	a.watched.all[p.Token][w] = true
	a.watched.mu.Unlock()
	if err := a.live(ctx, p); errors.Is(err, api.ErrUnauthorized) { // revoked since the request was authenticated
		end()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.poll(ctx, p, end)
	}()
	return ctx, func() {
		end()
		<-done
		a.watched.mu.Lock()
		defer a.watched.mu.Unlock()
		delete(a.watched.all[p.Token], w)
		if len(a.watched.all[p.Token]) == 0 {
			delete(a.watched.all, p.Token)
		}
	}
}

// poll checks now and then that a token is valid. A store that cannot be reached says nothing about it.
func (a *Access) poll(ctx context.Context, p api.Principal, end func()) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := a.live(ctx, p); errors.Is(err, api.ErrUnauthorized) || errors.Is(err, pawl.ErrDenied) {
			end()
		}
	}
}

// forget removes a revoked token from the cache and ends its requests.
func (a *Access) forget(id string) {
	k := &a.tokens
	k.mu.Lock()
	delete(k.tokens, k.hashes[id])
	delete(k.hashes, id)
	k.mu.Unlock()
	a.watched.mu.Lock()
	defer a.watched.mu.Unlock()
	for w := range a.watched.all[id] {
		w.end()
	}
}
