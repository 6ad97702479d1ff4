// Package app opens the parts of pawl and connects them.
package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/mission"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/provider"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/service"
	"github.com/pawl-dev/pawl/internal/service/local"
	"github.com/pawl-dev/pawl/internal/service/project"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/backend"
	"github.com/pawl-dev/pawl/internal/telemetry"
)

// App is an open Service and the components behind it. If the App is attached to a
// server, only Service is set; the other fields are nil.
type App struct {
	pawl.Service
	Runner    *local.Runner  // runs turns in this process; nil if a fleet runs them
	Projects  *project.Local // answers front ends' questions about directories
	Policy    *policy.Safety // decides what tools may do
	MCP       *MCPServers    // the MCP servers that sessions use
	Buffers   *EditorBuffers // unsaved files that an editor has open
	Missions  *mission.Control
	Store     store.Store   // masks secrets in what it writes
	RawStore  backend.Store // Store without masking: also keeps tokens, tenants and hosts
	Telemetry *telemetry.Telemetry

	catalog catalogCache
	opener  *provider.Opener // nil if another process has the API keys
	closers []closer
	closed  func(name string) // for tests: called for each component that Close closes; may be nil
}

// Options configures the parts that differ in a fleet. The zero value runs
// everything in this process.
type Options struct {
	Link     bus.Link      // carries events between processes; nil means none
	Models   Models        // nil means the models that this process has API keys for
	Projects pawl.Projects // nil means the directories of this machine

	// AllowDir returns an error if calls may not work in a directory; nil means that they
	// may in any. It is asked before each call: a link may have been put in its place.
	AllowDir func(dir string) error

	// Unattended is that of [agent.Config].
	Unattended func(since time.Time) bool

	// Run returns the runner of the sessions. It may change the stepper and the service
	// configuration before they are used. If Run is nil, this process runs the sessions.
	Run func(a *App, s *agent.Stepper, front *service.Config) (service.Runner, error)

	closed func(name string)
}

// Models opens models and provides information about them.
type Models interface {
	Open(ref string) (model.Model, error)
	Window(ref string) (model.Window, error)
	Small(ref string) (string, error)
	Sibling(ref string) (string, error)
	Check(ctx context.Context, ref string) error
}

// Open opens all components in the order of stages. If one fails, Open closes those that
// it has already opened.
func Open(ctx context.Context, o Options) (*App, error) { return open(ctx, o, stages) }

func open(ctx context.Context, o Options, stages []stage) (*App, error) {
	b := &builder{App: &App{closed: o.closed}, options: o}
	for _, s := range stages {
		if err := s.open(b, ctx); err != nil {
			return nil, errors.Join(err, b.Close())
		}
	}
	return b.App, nil
}

// closer closes one component.
type closer struct {
	name  string
	close func() error
}

// onClose registers a function that Close calls for an opened component.
func (a *App) onClose(name string, do func() error) { a.closers = append(a.closers, closer{name, do}) }

// Close closes all components, the last opened first. Unfinished turns can be resumed later.
func (a *App) Close() error {
	var errs []error
	for _, c := range slices.Backward(a.closers) {
		if err := c.close(); err != nil {
			errs = append(errs, fmt.Errorf("close %s: %w", c.name, err))
		}
		if a.closed != nil {
			a.closed(c.name)
		}
	}
	a.closers = nil
	return errors.Join(errs...)
}

// Tenants returns the tenants of the store. It returns an error for SQLite, which does not support
// tenants.
func (a *App) Tenants() (store.Tenants, error) {
	t, ok := a.RawStore.(store.Tenants)
	if !ok {
		return nil, fault.New(pawl.ErrInvalid, "tenants need PostgreSQL, but the store is SQLite").Hint("Set PAWL_STORE to a postgres:// URL.")
	}
	return t, nil
}
