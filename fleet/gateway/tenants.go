package gateway

import (
	"context"
	"fmt"
	"sync"

	"github.com/pawl-dev/pawl/internal/store"
)

// maxWaiting bounds how many calls of a tenant wait.
const maxWaiting = 1000

// tenants says how many calls of each tenant run at once. Those that wait take
// turns in the order in which they came, and are in nobody else's way.
type tenants struct {
	most int // 0 means any number

	mu    sync.Mutex
	rooms map[store.Tenant]*room
}

// room has the calls of one tenant.
type room struct {
	slots chan struct{}
	calls int // that run or wait
}

// enter returns when the call may run. Whoever enters leaves, too.
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

// join finds the tenant's room, or makes it.
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

// part forgets a room that nobody is in.
func (t *tenants) part(name store.Tenant, r *room) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.calls--; r.calls == 0 {
		delete(t.rooms, name)
	}
}
