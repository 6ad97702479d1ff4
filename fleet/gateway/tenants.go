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
	limit int // 0 means no limit

	mu     sync.Mutex
	queues map[store.Tenant]*tenantQueue
}

// tenantQueue holds the calls of one tenant.
type tenantQueue struct {
	slots chan struct{}
	calls int // running or waiting
}

// enter waits until the call may run. Call leave after it.
func (t *tenants) enter(ctx context.Context, name store.Tenant) (leave func(), err error) {
	if t.limit <= 0 {
		return func() {}, nil
	}
	r, err := t.join(name)
	if err != nil {
		return nil, err
	}
	select {
	case r.slots <- struct{}{}:
		return func() { <-r.slots; t.leave(name, r) }, nil
	case <-ctx.Done():
		t.leave(name, r)
		return nil, ctx.Err()
	}
}

// join returns the queue of a tenant, creating it if needed.
func (t *tenants) join(name store.Tenant) (*tenantQueue, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.queues[name]
	switch {
	case r == nil:
		r = &tenantQueue{slots: make(chan struct{}, t.limit)}
		if t.queues == nil {
			t.queues = map[store.Tenant]*tenantQueue{}
		}
		t.queues[name] = r
	case r.calls >= t.limit+maxWaiting:
		return nil, fmt.Errorf("too many model calls (%d) of tenant %q are waiting: try again later", maxWaiting, name)
	}
	r.calls++
	return r, nil
}

// leave removes the queue of a tenant when it is empty.
func (t *tenants) leave(name store.Tenant, r *tenantQueue) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.calls--; r.calls == 0 {
		delete(t.queues, name)
	}
}
