package record

import (
	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
)

// Account returns a tenant's account in the form that stores keep, or ErrInvalid.
func Account(a store.Account) (store.Account, error) {
	if !a.Tenant.Valid() {
		return a, fault.New(pawl.ErrInvalid, "invalid tenant name %.100q: use at most 50 lowercase letters, digits and hyphens", a.Tenant)
	}
	if err := limits(a.Limits); err != nil {
		return a, err
	}
	a.Created, a.Suspended = stored(a.Created), stored(a.Suspended)
	return a, nil
}

func limits(l store.Limits) error {
	if min(int64(l.Rate), int64(l.Budget), int64(l.Parallel), int64(l.Streams)) < 0 {
		return fault.New(pawl.ErrInvalid, "a limit is negative")
	}
	return nil
}
