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
	"github.com/pawl-dev/pawl/internal/weak"
)

// Keeper keeps what directories hold where all hosts can get it.
type Keeper interface {
	// Save keeps what a directory holds now, on top of a checkpoint, and returns the new
	// one: the same if nothing has changed.
	Save(ctx context.Context, key, dir, from string) (id string, size int64, err error)
	// Restore makes a directory hold what it held then.
	Restore(ctx context.Context, key, dir, id string) error
	// Drop removes all checkpoints of a key.
	Drop(ctx context.Context, key string) error
	// Prune removes those that are not needed for this one.
	Prune(ctx context.Context, key, keep string) error
}

// Workspaces are the workspaces of a host.
type Workspaces struct {
	Host   string
	Roster pawl.HostRegistry
	Keeper Keeper // nil keeps nothing: there is one host, and its disk is trusted
	Dir    string // of the host's own, for what it knows of its workspaces
	Boot   string // tells this start of the machine from others

	HostTimeout time.Duration // as Engine.HostTimeout

	// Root is where workspaces are: a tenant's in the directory of its name, those of no
	// tenant in _. "" means that they are anywhere. Own is where pawl makes directories
	// for its workers, those of each repository in one; "" means that it makes none.
	Root, Own string

	Fetch   func(ctx context.Context, source, dir string) error // makes a directory of a repository
	Free    func() (int64, error)                               // bytes that are free for workspaces
	Reserve int64                                               // with less the host is full
	Admit   func(ctx context.Context, dir string) error         // is told of a directory that has come to this host, before the work; nil means nobody
	Clear   func(dir string) error                              // removes what else there is of a directory; nil means nothing

	// Observe is told of what is done with whole workspaces: see told; nil means nobody is.
	Observe func(kind, result string, d time.Duration, bytes int64)

	mu       sync.Mutex
	spaces   map[string]*space
	draining bool // for good: the process ends
	asked    bool // to drain, by who runs the fleet
}

// space is a workspace on this host.
type space struct {
	mu    sync.Mutex // held while it is restored or saved
	known bool       // the mark was read
	mark  mark

	busy int       // trips in it; under the lock of Workspaces
	used time.Time // the last one's end
}

// errMoved: the workspace was given to another host meanwhile.
var errMoved = errors.New("the workspace was given to another host")

// errFull: the host has no room left on its disk.
var errFull = errors.New("the host's disk is full")

// Key is where the checkpoints of a tenant's directory are kept.
func Key(t pawl.Tenant, dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return folder(t) + "/" + hex.EncodeToString(sum[:16])
}

// directory is the name of a tenant's directory.
func folder(t pawl.Tenant) string { return cmp.Or(string(t), "_") }

// check refuses a directory that is none of the tenant's workspaces. What is above a
// workspace must be pawl's: somebody who could put a link there would choose what
// is restored, kept and removed.
func (s *Workspaces) check(t pawl.Tenant, dir string) error {
	if s.Root == "" || weak.On("fleet.root") {
		return nil
	}
	above := filepath.Join(s.Root, folder(t))
	own := s.Own != "" && filepath.Dir(filepath.Dir(dir)) == s.Own
	if filepath.Clean(dir) != dir || filepath.Dir(dir) != above && !own {
		return fmt.Errorf("it is no workspace: those are the folders in %s: %w", above, pawl.ErrInvalid)
	}
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("it is no workspace: there is something that is no folder: %w", pawl.ErrInvalid)
	}
	return nil
}

// Enter makes the directory be there as its place says. Call leave when the work in
// it is done.
func (s *Workspaces) Enter(ctx context.Context, p Place) (leave func(), err error) {
	if err := s.check(pawl.TenantOf(ctx), p.Dir); err != nil {
		return nil, fmt.Errorf("workspace %s: %w", p.Dir, err)
	}
	if full, err := s.Full(); err != nil || full {
		return nil, errors.Join(err, fmt.Errorf("%w: %w", errFull, pawl.ErrUnavailable))
	}
	w := s.take(p.Dir)
	leave = func() { s.leave(w) }
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := s.ensure(ctx, w, p); err != nil {
		leave()
		return nil, fmt.Errorf("workspace %s: %w", p.Dir, err)
	}
	return leave, nil
}

func (s *Workspaces) take(dir string) *space {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spaces == nil {
		s.spaces = map[string]*space{}
	}
	w := s.spaces[dir]
	if w == nil {
		w = &space{}
		s.spaces[dir] = w
	}
	w.busy++
	return w
}

func (s *Workspaces) leave(w *space) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.busy--
	w.used = time.Now()
}

// ensure restores the directory unless it is here from this epoch.
func (s *Workspaces) ensure(ctx context.Context, w *space, p Place) error {
	tenant := pawl.TenantOf(ctx)
	if !w.known {
		w.mark, w.known = s.readMark(tenant, p.Dir), true
	}
	if w.mark.Epoch == p.Epoch && w.mark.Tenant == tenant && s.sound(w.mark) {
		if _, err := os.Stat(p.Dir); err == nil {
			return nil
		}
	}
	row, err := s.Roster.Workspace(ctx, p.Dir)
	if err != nil {
		return err
	}
	if row.Epoch != p.Epoch || row.Host != s.Host {
		return errMoved
	}
	old := w.mark
	if err := s.unmark(w, tenant, p.Dir); err != nil { // what is brought by half must not be taken for whole
		return err
	}
	if err := s.bring(ctx, row, old); err != nil {
		return err
	}
	if s.Admit != nil {
		if err := s.Admit(ctx, p.Dir); err != nil {
			return err
		}
	}
	w.mark = mark{Dir: p.Dir, Tenant: tenant, Epoch: p.Epoch, Checkpoint: row.Checkpoint, Boot: s.Boot}
	var large *pawl.Stop
	if err := s.save(ctx, w); err != nil && !errors.As(err, &large) { // the first call that changes something is told
		w.mark = mark{}
		return err
	}
	return s.writeMark(w.mark)
}

// bring makes the directory hold what it did, or what it begins as. One that is there
// and was never kept is taken as it is.
func (s *Workspaces) bring(ctx context.Context, row pawl.Workspace, old mark) error {
	if old.Epoch != 0 && old.Epoch < row.Born { // it is left of one that was dropped
		if err := s.remove(row.Dir); err != nil {
			return err
		}
	}
	_, err := os.Stat(row.Dir)
	began := time.Now()
	switch {
	case row.Checkpoint != "" && s.Keeper != nil:
		if err := os.MkdirAll(row.Dir, 0o700); err != nil {
			return err
		}
		err := s.Keeper.Restore(ctx, Key(row.Tenant, row.Dir), row.Dir, row.Checkpoint)
		s.told(spaceRestore, began, row.Size, err)
		return err
	case err == nil && (old.Epoch == 0 || old.Epoch == row.Epoch):
		return nil
	case row.Source != "" && s.Fetch != nil:
		err := s.Fetch(ctx, row.Source, row.Dir)
		s.told(spaceFetch, began, 0, err)
		return err
	default:
		return os.MkdirAll(row.Dir, 0o700)
	}
}

// remove removes a directory, and what else there is of it here.
func (s *Workspaces) remove(dir string) error {
	if s.Clear != nil {
		if err := s.Clear(dir); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}

// Save keeps what the directory holds now. ErrConflict if it was given to another host.
func (s *Workspaces) Save(ctx context.Context, dir string) error {
	w, err := s.hold(dir)
	if err != nil {
		return err
	}
	defer w.mu.Unlock()
	return s.save(ctx, w)
}

// hold returns a workspace that is here, locked.
func (s *Workspaces) hold(dir string) (*space, error) {
	s.mu.Lock()
	w := s.spaces[dir]
	s.mu.Unlock()
	if w == nil {
		return nil, fmt.Errorf("workspace %s is not here: %w", dir, errMoved)
	}
	w.mu.Lock()
	return w, nil
}

// Allow keeps what people have allowed in a directory, for the hosts that have it next.
func (s *Workspaces) Allow(ctx context.Context, dir, text string) error {
	w, err := s.hold(dir)
	if err != nil {
		return err
	}
	defer w.mu.Unlock()
	return s.Roster.Allow(ctx, dir, w.mark.Epoch, text)
}

// keepPatience bounds how long a call waits that has run, because its directory cannot
// be kept. Then nobody knows its outcome.
const keepPatience = time.Minute

// Keep is Save for a call that has run: if the directory cannot be kept now it is tried
// again for a while, since the call itself cannot be.
func (s *Workspaces) Keep(ctx context.Context, dir string) error {
	began := time.Now()
	for wait := soonest; ; wait = min(2*wait, latest) {
		err := s.Save(ctx, dir)
		var stop *pawl.Stop
		if err == nil || errors.As(err, &stop) || errors.Is(err, errMoved) || errors.Is(err, pawl.ErrConflict) ||
			ctx.Err() != nil || time.Since(began) > keepPatience {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

func (s *Workspaces) save(ctx context.Context, w *space) error {
	if s.Keeper == nil {
		return nil
	}
	began := time.Now()
	id, size, err := s.Keeper.Save(ctx, Key(w.mark.Tenant, w.mark.Dir), w.mark.Dir, w.mark.Checkpoint)
	if err == nil && id == w.mark.Checkpoint {
		s.told(spaceLook, began, size, nil)
		return nil
	}
	s.told(spaceSave, began, size, err)
	if errors.Is(err, pawl.ErrInvalid) {
		return &pawl.Stop{Reason: pawl.ReasonError, Fault: pawl.FaultInternal, Message: err.Error()} // it is too large: another try ends the same
	}
	if err != nil {
		return fmt.Errorf("keep workspace %s: %w", w.mark.Dir, err)
	}
	if err := s.Roster.Saved(ctx, w.mark.Dir, w.mark.Epoch, id, size); err != nil {
		return fmt.Errorf("keep workspace %s: %w", w.mark.Dir, err)
	}
	w.mark.Checkpoint = id
	return s.writeMark(w.mark)
}

// Full reports whether the host has no room for work.
func (s *Workspaces) Full() (bool, error) {
	if s.Free == nil {
		return false, nil
	}
	free, err := s.Free()
	return free < s.Reserve, err
}

// Drain makes the host take no new workspaces, and let go of those it has.
func (s *Workspaces) Drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = true
}

// Leaving reports whether workspaces are to go elsewhere.
func (s *Workspaces) Leaving() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining || s.asked
}

// ends reports whether the host drains of its own accord.
func (s *Workspaces) ends() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// ask has the host drain until that is taken back.
func (s *Workspaces) ask(drain bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = drain
}

// Empty waits until nobody works in a workspace here.
func (s *Workspaces) Empty(ctx context.Context) error {
	tick := time.NewTicker(soonest)
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

// Count returns how many workspaces are worked in, and how many are known here.
func (s *Workspaces) Count() (busy, kept int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.spaces {
		if w.busy > 0 {
			busy++
		}
	}
	return busy, len(s.spaces)
}
