//go:build fleet

package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet"
	"github.com/pawl-dev/pawl/fleet/blob"
	"github.com/pawl-dev/pawl/fleet/checkpoint"
	"github.com/pawl-dev/pawl/fleet/gateway"
	"github.com/pawl-dev/pawl/fleet/nats"
	"github.com/pawl-dev/pawl/fleet/runner"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/backend"
)

// The places of a fleet's parts, unless the configuration names others.
const (
	usualTemporal   = "127.0.0.1:7233"
	usualNamespace  = "pawl"
	usualNATS       = "nats://127.0.0.1:4222"
	usualWorkspaces = "/var/lib/pawl/work"
)

// fleetParts are what a process of a fleet is connected to.
type fleetParts struct {
	config.Fleet
	engine runner.Engine
	hosts  time.Duration // how long a host may be silent
	link   *nats.Link
	token  string // of the gateway
}

// loadFleet returns what the configuration says of the fleet, and where its log is.
// It connects to nothing.
func loadFleet() (p *fleetParts, store string, err error) {
	user, err := loadUser()
	if err != nil {
		return nil, "", err
	}
	if store, err = config.Store(); err != nil {
		return nil, "", err
	}
	if !strings.HasPrefix(store, "postgres") {
		return nil, "", fmt.Errorf("a fleet keeps its log in PostgreSQL: set PAWL_STORE=postgres://…: %w", pawl.ErrInvalid)
	}
	p = &fleetParts{Fleet: user.Fleet, token: os.Getenv("PAWL_GATEWAY_TOKEN")}
	secrets.Add("the gateway's token", p.token)
	p.Temporal, p.Namespace, p.NATS = cmp.Or(p.Temporal, usualTemporal), cmp.Or(p.Namespace, usualNamespace), cmp.Or(p.NATS, usualNATS)
	if p.hosts, err = p.SilentFor(); err != nil {
		return nil, "", err
	}
	p.Workspaces, err = filepath.Abs(cmp.Or(p.Workspaces, usualWorkspaces))
	return p, store, err
}

// openFleet connects to the engine and to NATS. NATS may be down: then events are
// seen a little later.
func openFleet(ctx context.Context, name string, log *slog.Logger) (*fleetParts, error) {
	p, _, err := loadFleet()
	if err != nil {
		return nil, err
	}
	if p.engine, err = runner.Dial(ctx, p.Temporal, p.Namespace, log); err != nil {
		return nil, err
	}
	p.engine.HostTimeout = p.hosts
	if p.link, err = nats.Open(nats.Config{URL: p.NATS, Name: name}); err != nil {
		p.engine.Close()
		return nil, err
	}
	return p, nil
}

func (p *fleetParts) Close() {
	p.link.Close()
	p.engine.Close()
}

// models are those of the gateway, or this process's own if there is none.
func (p *fleetParts) models() (modelsOf, error) {
	if p.Gateway == "" {
		return newModels()
	}
	if p.token == "" {
		return nil, fmt.Errorf("the gateway at %s wants a token: set PAWL_GATEWAY_TOKEN: %w", p.Gateway, pawl.ErrInvalid)
	}
	return &gateway.Client{URL: p.Gateway, Token: p.token}, nil
}

// fleetStore is a store that knows the hosts of a fleet, and keeps tenants apart.
type fleetStore interface {
	fleet.HostRegistry
	CheckTenancy(ctx context.Context) error
	SetHostTimeout(d time.Duration)
	Clock(ctx context.Context) (time.Time, error)
}

// rosterOf returns the host registry of a store that keeps tenants apart: nothing works
// with one that does not.
func rosterOf(ctx context.Context, st backend.Store, silent time.Duration) (fleetStore, error) {
	r, ok := st.(fleetStore)
	if !ok {
		return nil, fmt.Errorf("the store of a fleet must be PostgreSQL: set PAWL_STORE=postgres://…: %w", pawl.ErrInvalid)
	}
	if err := r.CheckTenancy(ctx); err != nil {
		return nil, err
	}
	if silent > 0 {
		r.SetHostTimeout(silent)
	}
	return r, nil
}

// keeper keeps workspaces, with what there is to undo in them.
type keeper struct {
	checkpoint.Store
	undo func(dir string) string // the directory of a workspace's snapshots; nil if there are none
	sent atomic.Int64            // bytes that went to the store
}

// openKeeper returns where checkpoints go; nil if the configuration names no place:
// then a host that is lost takes its workspaces with it.
func (p *fleetParts) openKeeper(ctx context.Context, data string) (*keeper, error) {
	if p.Blobs == "" {
		return nil, nil
	}
	blobs, err := blob.Open(ctx, p.Blobs)
	if err != nil {
		return nil, err
	}
	k := &keeper{Store: checkpoint.Store{Blobs: blobs, Dir: filepath.Join(data, "checkpoints"), IgnoreEmptyDir: sandbox.PlaceholderMode}}
	if snapshots, err := openSnapshots(ctx); err == nil {
		k.undo = snapshots.Path
	}
	return k, nil
}

func (k *keeper) roots(dir string) []checkpoint.Root {
	roots := []checkpoint.Root{{Name: "work", Path: dir}}
	if k.undo != nil {
		roots = append(roots, checkpoint.Root{Name: "undo", Path: k.undo(dir)})
	}
	return roots
}

func (k *keeper) Save(ctx context.Context, key, dir, from string) (string, int64, error) {
	id, stats, err := k.Store.Save(ctx, key, k.roots(dir), from)
	k.sent.Add(stats.Sent)
	return id, stats.Bytes, err
}

func (k *keeper) Restore(ctx context.Context, key, dir, id string) error {
	return k.Store.Restore(ctx, key, id, k.roots(dir))
}

func (k *keeper) Prune(ctx context.Context, key, keep string) error {
	return k.Store.Prune(ctx, key, keep)
}

// dropper forgets a workspace, with its checkpoints. The host that has it removes the
// directory when it next tidies up.
func (p *fleetParts) dropper(ctx context.Context, roster fleet.HostRegistry) (func(context.Context, string) error, error) {
	data, err := config.Data()
	if err != nil {
		return nil, err
	}
	k, err := p.openKeeper(ctx, data)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, dir string) error {
		if err := roster.Drop(ctx, dir); err != nil || k == nil {
			return err
		}
		return k.Drop(ctx, runner.Key(store.TenantOf(ctx), dir))
	}, nil
}
