package store

import (
	"context"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
)

// Tenant names an organization whose sessions only its own users can see. "" is the
// tenant of a server that has only one.
type Tenant string

// maxTenant limits the length of a tenant's name, in bytes.
const maxTenant = 50

// Valid reports whether the name consists of lower-case letters, digits and dashes,
// so that it can be part of a path, a key and a NATS subject.
func (t Tenant) Valid() bool {
	return t != "" && len(t) <= maxTenant && t[0] != '-' && strings.IndexFunc(string(t), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	}) < 0
}

type tenantKey struct{}

// WithTenant sets the tenant of a context. A store with several tenants reads and
// writes only what belongs to that one.
func WithTenant(ctx context.Context, t Tenant) context.Context {
	return context.WithValue(ctx, tenantKey{}, t)
}

// TenantOf returns the tenant of a context, "" by default.
func TenantOf(ctx context.Context) Tenant {
	t, _ := ctx.Value(tenantKey{}).(Tenant)
	return t
}

// Account is the record of a tenant.
type Account struct {
	Tenant    Tenant    `json:"tenant"`
	Created   time.Time `json:"created,omitzero"`
	Suspended time.Time `json:"suspended,omitzero"` // since when its tokens are rejected; zero means that they are not
	Limits    Limits    `json:"limits,omitzero"`    // of all its users together
}

// Tenants stores the tenants of a fleet. Only the operator may use it: with a
// tenant in the context, all methods return ErrDenied.
type Tenants interface {
	// AddTenant creates a tenant. ErrConflict if the name is or was in use: data
	// that a deleted tenant left must not become another's.
	AddTenant(ctx context.Context, a Account) error

	// Tenant returns the account of a tenant, or ErrNotFound.
	Tenant(ctx context.Context, t Tenant) (Account, error)

	// Tenants returns all accounts, by name.
	Tenants(ctx context.Context) ([]Account, error)

	// SetTenant changes a tenant's limits or suspension atomically and returns the
	// new account, or ErrNotFound.
	SetTenant(ctx context.Context, t Tenant, change func(*Account)) (Account, error)

	// SessionsOf returns at most most sessions of a tenant, including subagents.
	SessionsOf(ctx context.Context, t Tenant, most int) ([]pawl.SessionID, error)

	// RemoveTenant removes a tenant with its tokens and workspaces, or returns
	// ErrNotFound. ErrConflict while it has sessions.
	RemoveTenant(ctx context.Context, t Tenant) error
}
