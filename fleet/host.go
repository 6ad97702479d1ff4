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
	Capacity int       `json:"capacity"`  // how many workspaces may be in use at once
	Busy     int       `json:"busy"`      // workspaces that are worked in
	Kept     int       `json:"kept"`      // workspaces that are on its disk
	DiskFree int64     `json:"disk_free"` // bytes
	Full     bool      `json:"full,omitempty"`
	Draining bool      `json:"draining,omitempty"` // takes no new workspaces
	Seen     time.Time `json:"seen,omitzero"`      // by the store's clock
	Live     bool      `json:"live"`               // it was seen lately
}

// Workspace is a directory of a fleet: where it is now, and where to get it from if
// that is lost. The directory has the same path on every host.
type Workspace struct {
	Dir        string       `json:"dir"`
	Tenant     store.Tenant `json:"tenant,omitempty"`
	Source     string       `json:"source,omitempty"`     // a repository that it begins as; "" begins empty
	Host       string       `json:"host,omitempty"`       // "" is nowhere
	Epoch      int64        `json:"epoch"`                // grows with each host it is given to, and never comes twice: only the last one's work counts
	Born       int64        `json:"born,omitempty"`       // no host had it in an epoch before this one: what is there from then is left of one that was dropped
	Checkpoint string       `json:"checkpoint,omitempty"` // the newest; "" if none exists yet
	Size       int64        `json:"size,omitempty"`       // bytes, of the newest checkpoint
	Saved      time.Time    `json:"saved,omitzero"`
}

// Load is how many sessions of a tenant have work.
type Load struct {
	Tenant  store.Tenant `json:"tenant,omitempty"`
	Working int          `json:"working"` // with an open turn
	Queued  int          `json:"queued"`  // whose next turn has not begun
	Waiting int          `json:"waiting"` // of those that are working: their newest event is a question to a person
}

// HostRegistry knows the hosts of a fleet and which workspace is where. It is for the
// tenant of the context, but for hosts, which serve all.
type HostRegistry interface {
	// Heartbeat records a host's state and that it is alive. It returns whether the
	// host is asked to drain.
	Heartbeat(ctx context.Context, m Host) (drain bool, err error)

	// Drain asks a host to take no new workspaces and to let go of those it has, until
	// that is undone: also if it comes up anew. ErrNotFound if nobody knows it.
	Drain(ctx context.Context, host string, on bool) error

	// Loads returns how much work there is, for all tenants, by name.
	Loads(ctx context.Context) ([]Load, error)

	// Hosts returns all that were seen within the last day, by name.
	Hosts(ctx context.Context) ([]Host, error)

	// Place returns a directory's workspace on a live host: where it is, if that host is
	// live and neither full nor draining, and else on the live one with the most space,
	// in a later epoch. A host that is named as lost is not live to the caller.
	// ErrUnavailable if none exists.
	Place(ctx context.Context, dir, lost string) (Workspace, error)

	// Declare says which repository a directory begins as, before it is placed.
	// ErrConflict if it began as something else.
	Declare(ctx context.Context, dir, source string) error

	// Workspace returns a directory's workspace, or ErrNotFound.
	Workspace(ctx context.Context, dir string) (Workspace, error)

	// Workspaces returns those that are on a host, for all tenants.
	Workspaces(ctx context.Context, host string) ([]Workspace, error)

	// Saved records the newest checkpoint of a workspace. ErrConflict if the epoch is
	// not the last one: then the workspace is another host's.
	Saved(ctx context.Context, dir string, epoch int64, checkpoint string, size int64) error

	// Allow keeps what people have allowed in a workspace, in place of what was kept
	// before, for the hosts that have it next. ErrConflict if the epoch is not the last
	// one. Allowed returns that, "" if nothing was, or ErrNotFound.
	Allow(ctx context.Context, dir string, epoch int64, text string) error
	Allowed(ctx context.Context, dir string) (text string, err error)

	// Offer makes a workspace of a directory that was made here and is to be worked in
	// anywhere: it is nowhere yet, and begins as the checkpoint. Doing it again is
	// harmless as long as nobody has taken it.
	Offer(ctx context.Context, dir, checkpoint string, size int64) error

	// Vacate says that a workspace is not on a host any more, unless it was given to
	// another. Drop forgets it permanently: should the directory be placed again, it begins
	// anew, in an epoch that no host has known.
	Vacate(ctx context.Context, dir string, epoch int64) error
	Drop(ctx context.Context, dir string) error
}
