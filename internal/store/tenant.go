package store

import (
	"context"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
)

// Tenant names an organization whose sessions nobody else can see. "" is the one
// of a pawl that serves only one.
type Tenant string

// maxTenant bounds a tenant's name, in bytes.
const maxTenant = 50

// Valid reports whether the name can be given to a tenant: small letters, digits
// and -, so that it can be part of a path, a key and a subject.
func (t Tenant) Valid() bool {
	return t != "" && len(t) <= maxTenant && t[0] != '-' && strings.IndexFunc(string(t), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	}) < 0
}

type tenantKey struct{}

// WithTenant says for which tenant something is done. A store of many tenants
// shows and writes what is that one's, and nothing else.
func WithTenant(ctx context.Context, t Tenant) context.Context {
	return context.WithValue(ctx, tenantKey{}, t)
}

// TenantOf returns for which tenant something is done: "" unless it was said.
func TenantOf(ctx context.Context) Tenant {
	t, _ := ctx.Value(tenantKey{}).(Tenant)
	return t
}

// Account is what a fleet knows of a tenant.
type Account struct {
	Tenant    Tenant    `json:"tenant"`
	Created   time.Time `json:"created,omitzero"`
	Suspended time.Time `json:"suspended,omitzero"` // since when its tokens are refused; zero means that they are not
	Limits    Limits    `json:"limits,omitzero"`    // of all its users together
}

// Tenants keep the tenants of a fleet, beside the sessions. They are for the one
// who runs the fleet: in the context of a tenant all of it is ErrDenied.
type Tenants interface {
	// AddTenant makes a tenant. ErrConflict if there is one of that name, or was: what
	// a tenant leaves behind must not come to another.
	AddTenant(ctx context.Context, a Account) error

	// Tenant returns what is known of one, or ErrNotFound.
	Tenant(ctx context.Context, t Tenant) (Account, error)

	// Tenants returns all, by name.
	Tenants(ctx context.Context) ([]Account, error)

	// SetTenant changes a tenant's limits, and whether it is suspended, while nobody
	// else does, and returns what holds now. Or ErrNotFound.
	SetTenant(ctx context.Context, t Tenant, change func(*Account)) (Account, error)

	// SessionsOf returns sessions of a tenant, subagents too, so many at most.
	SessionsOf(ctx context.Context, t Tenant, most int) ([]pawl.SessionID, error)

	// RemoveTenant removes a tenant with its tokens and workspaces, or returns
	// ErrNotFound. ErrConflict while it has sessions.
	RemoveTenant(ctx context.Context, t Tenant) error
}
