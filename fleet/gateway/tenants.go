package gateway

import (
	"context"
	"fmt"
	"sync"

	"github.com/pawl-dev/pawl/internal/store"
)

// maxWaiting bounds the waiting calls of a tenant.
const maxWaiting = 1000

// tenants limits the concurrent calls of each tenant. Waiting calls run in the order of arrival and do not
// affect other tenants.
type tenants struct {
	most int // 0 means no limit

	mu    sync.Mutex
	rooms map[store.Tenant]*room
}

// room holds the calls of one tenant.
type room struct {
	slots chan struct{}
	calls int // running or waiting
}

// enter waits until the call may run. Call leave after it.
func (t *tenants) enter(ctx context.Context, name store.Tenant) (leave func(), err error) {
	if t.most <= 0 {
		return func() {}, nil
	}
	r, err := t.join(name)
	if err != nil {
		return nil, err
	}
	select {
	case r.slots <- struct{}{}:
		return func() { <-r.slots; t.part(name, r) }, nil
	case <-ctx.Done():
		t.part(name, r)
		return nil, ctx.Err()
	}
}

// join returns the queue of a tenant, creating it if needed.
func (t *tenants) join(name store.Tenant) (*room, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.rooms[name]
	switch {
	case r == nil:
		r = &room{slots: make(chan struct{}, t.most)}
		if t.rooms == nil {
			t.rooms = map[store.Tenant]*room{}
		}
		t.rooms[name] = r
	case r.calls >= t.most+maxWaiting:
		return nil, fmt.Errorf("%d model calls of the tenant %q wait already: try again later", maxWaiting, name)
	}
	r.calls++
	return r, nil
}

// part removes the queue of a tenant when it is empty.
func (t *tenants) part(name store.Tenant, r *room) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.calls--; r.calls == 0 {
		delete(t.rooms, name)
	}
}
