// Package node contains the processes of a fleet: API nodes, which accept
// requests, and workers, which run the sessions. Both use Temporal, NATS,
// PostgreSQL and a blob store. Inspector looks at a fleet from outside.
package node

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet"
	"github.com/pawl-dev/pawl/fleet/gateway"
	"github.com/pawl-dev/pawl/fleet/nats"
	"github.com/pawl-dev/pawl/fleet/runner"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store/backend"
)

// Defaults of the configuration section "fleet".
const (
	defaultTemporal   = "127.0.0.1:7233"
	defaultNamespace  = "pawl"
	defaultNATS       = "nats://127.0.0.1:4222"
	defaultWorkspaces = "/var/lib/pawl/work"
)

// Connections holds the connections of one process to the services of a fleet.
type Connections struct {
	config.Fleet
	Engine       runner.Engine
	Link         *nats.Link
	HostTimeout  time.Duration // a host that sends no heartbeat for this long counts as lost
	GatewayToken string
}

// LoadConnections reads the configuration of the fleet and the address of its
// store. It connects to nothing.
func LoadConnections() (c *Connections, store string, err error) {
	user, err := app.LoadUser()
	if err != nil {
		return nil, "", err
	}
	if store, err = config.Store(); err != nil {
		return nil, "", err
	}
	if !strings.HasPrefix(store, "postgres") {
		return nil, "", fault.New(pawl.ErrInvalid, "a fleet needs a PostgreSQL store").Hint("Set PAWL_STORE=postgres://….")
	}
	c = &Connections{Fleet: user.Fleet, GatewayToken: os.Getenv("PAWL_GATEWAY_TOKEN")}
	app.Secrets.Add("gateway token", c.GatewayToken)
	c.Temporal, c.Namespace, c.NATS = cmp.Or(c.Temporal, defaultTemporal), cmp.Or(c.Namespace, defaultNamespace), cmp.Or(c.NATS, defaultNATS)
	if c.HostTimeout, err = c.SilentFor(); err != nil {
		return nil, "", err
	}
	c.Workspaces, err = filepath.Abs(cmp.Or(c.Workspaces, defaultWorkspaces))
	return c, store, err
}

// connect connects to Temporal and NATS under the given client name. It does not
// fail while NATS is down: events then arrive late.
func connect(ctx context.Context, name string, log *slog.Logger) (*Connections, error) {
	c, _, err := LoadConnections()
	if err != nil {
		return nil, err
	}
	if c.Engine, err = runner.Dial(ctx, c.Temporal, c.Namespace, log); err != nil {
		return nil, err
	}
	c.Engine.HostTimeout = c.HostTimeout
	if c.Link, err = nats.Open(nats.Config{URL: c.NATS, Name: name}); err != nil {
		c.Engine.Close()
		return nil, err
	}
	return c, nil
}

// Close closes the connections to NATS and Temporal.
func (c *Connections) Close() {
	c.Link.Close()
	c.Engine.Close()
}

// models returns the models of the gateway or, without one, those that this
// process has API keys for.
func (c *Connections) models() (app.Models, error) {
	if c.Gateway == "" {
		return app.NewModels()
	}
	if c.GatewayToken == "" {
		return nil, fault.New(pawl.ErrInvalid, "the gateway at %s needs a token", c.Gateway).Hint("Set PAWL_GATEWAY_TOKEN.")
	}
	return &gateway.Client{URL: c.Gateway, Token: c.GatewayToken}, nil
}

// HostRegistry is the host registry of a store that also isolates tenants.
type HostRegistry interface {
	fleet.HostRegistry
	CheckTenancy(ctx context.Context) error
	SetHostTimeout(d time.Duration)
	Clock(ctx context.Context) (time.Time, error)
}

// hostRegistry returns the host registry of a store. It fails unless the store is
// PostgreSQL with row-level security in force: a fleet must isolate tenants.
func hostRegistry(ctx context.Context, st backend.Store, timeout time.Duration) (HostRegistry, error) {
	r, ok := st.(HostRegistry)
	if !ok {
		return nil, fault.New(pawl.ErrInvalid, "a fleet needs a PostgreSQL store").Hint("Set PAWL_STORE=postgres://….")
	}
	if err := r.CheckTenancy(ctx); err != nil {
		return nil, err
	}
	if timeout > 0 {
		r.SetHostTimeout(timeout)
	}
	return r, nil
}
