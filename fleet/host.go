// Package fleet defines the host registry of a fleet: its hosts, their heartbeats, and
// which host has which workspace.
package fleet

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl/internal/store"
)

// Host is a fleet host: it holds workspaces and runs tool calls in them.
type Host struct {
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	Capacity int       `json:"capacity"`  // maximum number of workspaces in use
	Busy     int       `json:"busy"`      // workspaces in use
	Kept     int       `json:"kept"`      // workspaces on its disk
	DiskFree int64     `json:"disk_free"` // bytes
	Full     bool      `json:"full,omitempty"`
	Draining bool      `json:"draining,omitempty"` // takes no new workspaces
	Seen     time.Time `json:"seen,omitzero"`      // time of the newest heartbeat, by the store's clock
	Live     bool      `json:"live"`               // the newest heartbeat is recent
}

// Workspace is a working directory of a fleet: which host has it, and the
// checkpoint to restore it from. The directory has the same path on every host.
type Workspace struct {
	Dir        string       `json:"dir"`
	Tenant     store.Tenant `json:"tenant,omitempty"`
	Source     string       `json:"source,omitempty"`     // the repository that it is cloned from; "" starts empty
	Host       string       `json:"host,omitempty"`       // "" means that no host has it
	Epoch      int64        `json:"epoch"`                // increases with each host that it is assigned to and is never reused: only the host of the newest epoch may save it
	Born       int64        `json:"born,omitempty"`       // no host had it in an earlier epoch: copies from before belong to a dropped workspace of the same path
	Checkpoint string       `json:"checkpoint,omitempty"` // the newest; "" before the first
	Size       int64        `json:"size,omitempty"`       // of the newest checkpoint, in bytes
	Saved      time.Time    `json:"saved,omitzero"`
}

// Load counts the sessions of a tenant that have work.
type Load struct {
	Tenant  store.Tenant `json:"tenant,omitempty"`
	Working int          `json:"working"` // with an open turn
	Queued  int          `json:"queued"`  // whose next turn has not started
	Waiting int          `json:"waiting"` // of the working ones: waiting for an answer of the user
}

// HostRegistry records the hosts of a fleet, their heartbeats, and which host has
// which workspace. Workspaces are those of the context's tenant; hosts serve all
// tenants.
type HostRegistry interface {
	// Heartbeat records the state of a host and that it is alive. It returns
	// whether the host should drain.
	Heartbeat(ctx context.Context, m Host) (drain bool, err error)

	// Drain asks a host to take no new workspaces and to give up those it has,
	// until it is called with false; a restart of the host does not end it.
	// ErrNotFound if the host is unknown.
	Drain(ctx context.Context, host string, on bool) error

	// Loads returns the load of all tenants, by name.
	Loads(ctx context.Context) ([]Load, error)

	// Hosts returns the hosts with a heartbeat within the last day, by name.
	Hosts(ctx context.Context) ([]Host, error)

	// Place assigns a directory's workspace to a live host and returns it: the host
	// that has it, if that is live and neither full nor draining, otherwise the
	// live host with the most free capacity, in a new epoch. The host named lost
	// counts as dead. ErrUnavailable if no host qualifies.
	Place(ctx context.Context, dir, lost string) (Workspace, error)

	// Declare sets the repository that a directory is cloned from, before it is
	// placed. ErrConflict if it was created from something else.
	Declare(ctx context.Context, dir, source string) error

	// Workspace returns the workspace of a directory, or ErrNotFound.
	Workspace(ctx context.Context, dir string) (Workspace, error)

	// Workspaces returns the workspaces on a host, of all tenants.
	Workspaces(ctx context.Context, host string) ([]Workspace, error)

	// Saved records the newest checkpoint of a workspace. ErrConflict if the epoch
	// is not the newest: then another host has the workspace.
	Saved(ctx context.Context, dir string, epoch int64, checkpoint string, size int64) error

	// Allow stores what users have allowed in a workspace, for the next hosts, and
	// replaces what was stored before. ErrConflict if the epoch is not the newest.
	// Allowed returns it, "" if nothing was stored, or ErrNotFound.
	Allow(ctx context.Context, dir string, epoch int64, text string) error
	Allowed(ctx context.Context, dir string) (text string, err error)

	// Offer creates the workspace of a directory that exists only here, from a
	// checkpoint. No host has it yet. Repeating it is harmless until the workspace
	// is placed.
	Offer(ctx context.Context, dir, checkpoint string, size int64) error

	// Vacate records that a host no longer has a workspace, unless another host has
	// it now. Drop deletes the workspace: if the directory is placed again it
	// starts empty, in a new epoch.
	Vacate(ctx context.Context, dir string, epoch int64) error
	Drop(ctx context.Context, dir string) error
}
