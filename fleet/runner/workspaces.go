package runner

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
)

// CheckpointStore stores the content of workspaces where all hosts can reach it.
type CheckpointStore interface {
	// Save stores the current content of dir as an increment to the checkpoint from ("" for none) and returns the new
	// checkpoint's id, which is from if nothing has changed.
	Save(ctx context.Context, key, dir, from string) (id string, size int64, err error)
	// Restore sets the content of dir to that of a checkpoint.
	Restore(ctx context.Context, key, dir, id string) error
	// Drop deletes all checkpoints of a key.
	Drop(ctx context.Context, key string) error
	// Prune deletes the checkpoints of a key that keep does not need.
	Prune(ctx context.Context, key, keep string) error
}

// Workspaces manages the workspaces on a host.
type Workspaces struct {
	Host        string
	Registry    fleet.HostRegistry
	Checkpoints CheckpointStore // nil disables checkpoints: there is one host, and its disk is trusted
	Dir         string          // for the state files of the workspaces
	Boot        string          // identifies the current boot of the host

	HostTimeout time.Duration // as Engine.HostTimeout

	// Root contains the workspaces: those of a tenant in the subdirectory of its name, those without a tenant in _. ""
	// allows workspaces anywhere. Own contains the worktrees that Pawl creates for mission workers, grouped by
	// repository; "" means that it creates none.
	Root, Own string

	Fetch   func(ctx context.Context, source, dir string) error // clones a repository into dir
	Free    func() (int64, error)                               // bytes available for workspaces
	Reserve int64                                               // the host counts as full below this many bytes
	Admit   func(ctx context.Context, dir string) error         // if not nil, called when a workspace has arrived on this host, before any step runs in it
	Clear   func(dir string) error                              // if not nil, removes other local data of a workspace

	// Observe, if not nil, is called after each operation on a whole workspace, with one of the kinds in observe.go.
	Observe func(kind, result string, d time.Duration, bytes int64)

	mu             sync.Mutex
	entries        map[string]*workspace
	stopping       bool // permanently: the process is shutting down
	drainRequested bool // by the operator, through the registry
}

// workspace is a workspace on this host.
type workspace struct {
	mu    sync.Mutex // held while it is restored or saved
	known bool       // the state was read from disk
	state workspaceState

	busy int       // number of steps running in it; guarded by Workspaces.mu
	used time.Time // when the last of them ended
}

// errMoved means that the workspace was assigned to another host.
var errMoved = errors.New("the workspace was moved to another host")

// errFull means that less than Reserve bytes are free.
var errFull = errors.New("the host's disk is full")

// Key returns the key under which the checkpoints of a tenant's workspace are stored.
func Key(t store.Tenant, dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return folder(t) + "/" + hex.EncodeToString(sum[:16])
}

// directory returns the name of a tenant's directory.
func folder(t store.Tenant) string { return cmp.Or(string(t), "_") }

// check rejects a directory that is not one of the tenant's workspaces. Everything above a workspace must belong to
// Pawl: anybody who could place a link there would choose what is restored, saved and deleted.
func (s *Workspaces) check(t store.Tenant, dir string) error {
	if s.Root == "" {
		return nil
	}
	above := filepath.Join(s.Root, folder(t))
	own := s.Own != "" && filepath.Dir(filepath.Dir(dir)) == s.Own
	if filepath.Clean(dir) != dir || filepath.Dir(dir) != above && !own {
		return fault.New(pawl.ErrInvalid, "not a workspace: workspaces are directories in %s", above)
	}
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return fault.New(pawl.ErrInvalid, "not a workspace: it is not a directory")
	}
	return nil
}

// Enter makes the workspace of p available on this host, restoring it if needed. Call leave after the work in it.
func (s *Workspaces) Enter(ctx context.Context, p Place) (leave func(), err error) {
	if err := s.check(store.TenantOf(ctx), p.Dir); err != nil {
		return nil, fmt.Errorf("workspace %s: %w", p.Dir, err)
	}
	if full, err := s.Full(); err != nil || full {
		return nil, errors.Join(err, fault.New(pawl.ErrUnavailable, "%w", errFull))
	}
	w := s.acquire(p.Dir)
	leave = func() { s.release(w) }
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := s.ensure(ctx, w, p); err != nil {
		leave()
		return nil, fmt.Errorf("workspace %s: %w", p.Dir, err)
	}
	return leave, nil
}

func (s *Workspaces) acquire(dir string) *workspace {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entries == nil {
		s.entries = map[string]*workspace{}
	}
	w := s.entries[dir]
	if w == nil {
		w = &workspace{}
		s.entries[dir] = w
	}
	w.busy++
	return w
}

func (s *Workspaces) release(w *workspace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.busy--
	w.used = time.Now()
}

// ensure restores the workspace unless it is on this host with the epoch of p.
func (s *Workspaces) ensure(ctx context.Context, w *workspace, p Place) error {
	tenant := store.TenantOf(ctx)
	if !w.known {
		w.state, w.known = s.readState(tenant, p.Dir), true
	}
	if w.state.Epoch == p.Epoch && w.state.Tenant == tenant && s.intact(w.state) {
		if _, err := os.Stat(p.Dir); err == nil {
			return nil
		}
	}
	row, err := s.Registry.Workspace(ctx, p.Dir)
	if err != nil {
		return err
	}
	if row.Epoch != p.Epoch || row.Host != s.Host {
		return errMoved
	}
	old := w.state
	if err := s.deleteState(w, tenant, p.Dir); err != nil { // a partial restore must not be taken for a complete one
		return err
	}
	if err := s.populate(ctx, row, old); err != nil {
		return err
	}
	if s.Admit != nil {
		if err := s.Admit(ctx, p.Dir); err != nil {
			return err
		}
	}
	w.state = workspaceState{Dir: p.Dir, Tenant: tenant, Epoch: p.Epoch, Checkpoint: row.Checkpoint, Boot: s.Boot}
	var large *agent.Stop
	if err := s.save(ctx, w); err != nil && !errors.As(err, &large) { // the first call that changes something gets this error
		w.state = workspaceState{}
		return err
	}
	return s.writeState(w.state)
}

// populate restores the workspace, or creates it from its source. An existing directory that has no checkpoint is used
// as it is.
func (s *Workspaces) populate(ctx context.Context, row fleet.Workspace, old workspaceState) error {
	if old.Epoch != 0 && old.Epoch < row.Born { // left over from a workspace that was dropped
		if err := s.remove(row.Dir); err != nil {
			return err
		}
	}
	_, err := os.Stat(row.Dir)
	began := time.Now()
	switch {
	case row.Checkpoint != "" && s.Checkpoints != nil:
		if err := os.MkdirAll(row.Dir, 0o700); err != nil {
			return err
		}
		err := s.Checkpoints.Restore(ctx, Key(row.Tenant, row.Dir), row.Dir, row.Checkpoint)
		s.observe(spaceRestore, began, row.Size, err)
		return err
	case err == nil && (old.Epoch == 0 || old.Epoch == row.Epoch):
		return nil
	case row.Source != "" && s.Fetch != nil:
		err := s.Fetch(ctx, row.Source, row.Dir)
		s.observe(spaceFetch, began, 0, err)
		return err
	default:
		return os.MkdirAll(row.Dir, 0o700)
	}
}

// remove deletes a directory and other local data of it.
func (s *Workspaces) remove(dir string) error {
	if s.Clear != nil {
		if err := s.Clear(dir); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}

// Save saves a checkpoint of the workspace. It returns ErrConflict if another host has it.
func (s *Workspaces) Save(ctx context.Context, dir string) error {
	w, err := s.lock(dir)
	if err != nil {
		return err
	}
	defer w.mu.Unlock()
	return s.save(ctx, w)
}

// lock returns a workspace of this host, locked, or errMoved.
func (s *Workspaces) lock(dir string) (*workspace, error) {
	s.mu.Lock()
	w := s.entries[dir]
	s.mu.Unlock()
	if w == nil {
		return nil, fmt.Errorf("workspace %s is not here: %w", dir, errMoved)
	}
	w.mu.Lock()
	return w, nil
}

// Allow stores the saved permissions of a workspace in the registry, for the next hosts that have it.
func (s *Workspaces) Allow(ctx context.Context, dir, text string) error {
	w, err := s.lock(dir)
	if err != nil {
		return err
	}
	defer w.mu.Unlock()
	return s.Registry.Allow(ctx, dir, w.state.Epoch, text)
}

// saveTimeout bounds the retries of SaveRetrying. After it the outcome of the call is unknown.
const saveTimeout = time.Minute

// SaveRetrying is Save after a tool call. It retries with backoff, because the call itself cannot be repeated.
func (s *Workspaces) SaveRetrying(ctx context.Context, dir string) error {
	began := time.Now()
	for wait := minBackoff; ; wait = min(2*wait, maxBackoff) {
		err := s.Save(ctx, dir)
		var stop *agent.Stop
		if err == nil || errors.As(err, &stop) || errors.Is(err, errMoved) || errors.Is(err, pawl.ErrConflict) ||
			ctx.Err() != nil || time.Since(began) > saveTimeout {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

func (s *Workspaces) save(ctx context.Context, w *workspace) error {
	if s.Checkpoints == nil {
		return nil
	}
	began := time.Now()
	id, size, err := s.Checkpoints.Save(ctx, Key(w.state.Tenant, w.state.Dir), w.state.Dir, w.state.Checkpoint)
	if err == nil && id == w.state.Checkpoint {
		s.observe(spaceLook, began, size, nil)
		return nil
	}
	s.observe(spaceSave, began, size, err)
	if errors.Is(err, pawl.ErrInvalid) {
		return &agent.Stop{Reason: pawl.ReasonError, Fault: pawl.FaultInternal, Message: err.Error()} // too large: a retry would fail too
	}
	if err != nil {
		return fmt.Errorf("save workspace %s: %w", w.state.Dir, err)
	}
	if err := s.Registry.Saved(ctx, w.state.Dir, w.state.Epoch, id, size); err != nil {
		return fmt.Errorf("save workspace %s: %w", w.state.Dir, err)
	}
	w.state.Checkpoint = id
	return s.writeState(w.state)
}

// Full reports whether the host lacks disk space for work.
func (s *Workspaces) Full() (bool, error) {
	if s.Free == nil {
		return false, nil
	}
	free, err := s.Free()
	return free < s.Reserve, err
}

// Drain makes the host take no new workspaces and give up those it has. It cannot be undone.
func (s *Workspaces) Drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
}

// Draining reports whether workspaces should move to other hosts.
func (s *Workspaces) Draining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopping || s.drainRequested
}

// isStopping reports whether Drain was called.
func (s *Workspaces) isStopping() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopping
}

// requestDrain makes the host drain, or stop draining, on request of the operator.
func (s *Workspaces) requestDrain(drain bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drainRequested = drain
}

// WaitIdle waits until no step runs on this host.
func (s *Workspaces) WaitIdle(ctx context.Context) error {
	tick := time.NewTicker(minBackoff)
	defer tick.Stop()
	for {
		if busy, _ := s.Count(); busy == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// Count returns how many workspaces are in use, and how many are on this host.
func (s *Workspaces) Count() (busy, kept int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.entries {
		if w.busy > 0 {
			busy++
		}
	}
	return busy, len(s.entries)
}
