package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
)

// GC configures Store.GC.
type GC struct {
	Alive     func(pawl.SessionID) bool // reports whether a session exists; snapshots of others are removed; nil: all exist
	OlderThan time.Duration             // removes snapshots of sessions that took none for this long; 0: never
	Quota     int64                     // bytes of all snapshots; beyond it the oldest sessions lose theirs; 0: no limit
	DryRun    bool                      // only report what would be removed
}

// GCReport says what GC removed or, in a dry run, would remove.
type GCReport struct {
	Folders []FolderReport `json:"projects"` // sorted by directory
	Before  int64          `json:"before"`   // bytes
	After   int64          `json:"after"`
}

// FolderReport says what GC removed for one directory. In a dry run After is an
// upper bound: data may be shared with snapshots that stay, so only directories
// that would keep no snapshots are counted as freed.
type FolderReport struct {
	Dir     string    `json:"dir"`    // "" if unknown
	Before  int64     `json:"before"` // bytes, without files kept aside
	After   int64     `json:"after"`
	Removed []Removal `json:"removed"`
	Why     string    `json:"why,omitempty"` // the reason if all snapshots of the directory were removed, else ""
}

// Removal is a session whose snapshots of a directory were removed, with the
// reason.
type Removal struct {
	Owner pawl.SessionID `json:"session"`
	Why   string         `json:"why"`
}

// Reasons for removing snapshots.
const (
	whyRemoved = "the session was deleted"
	whyOld     = "not used for a long time"
	whyQuota   = "over the size limit"
	whyNobody  = "not used by any session"
	whyDamaged = "damaged"
)

// account is the state of one directory's store during GC.
type account struct {
	at     string
	owners map[pawl.SessionID]time.Time // time of each session's latest snapshot
	report FolderReport
}

// GC removes the snapshots of sessions that no longer exist, then those of sessions
// that took none for OlderThan, then those of the oldest sessions until the rest
// fits Quota. It frees the disk space of data that no snapshot uses, and removes
// all snapshots of a directory if they are damaged.
func (s *Store) GC(ctx context.Context, gc GC) (GCReport, error) {
	accounts, err := s.accounts(ctx)
	if err != nil {
		return GCReport{}, fmt.Errorf("clean up checkpoints: %w", err)
	}
	for _, a := range accounts {
		a.mark(gc, s.Clock())
		if err := s.settle(ctx, a, gc); err != nil {
			return report(accounts), fmt.Errorf("clean up checkpoints: %w", err)
		}
	}
	for gc.Quota > 0 && report(accounts).After > gc.Quota {
		owner, found := oldest(accounts)
		if !found {
			break
		}
		for _, a := range accounts {
			if _, there := a.owners[owner]; there {
				a.remove(owner, whyQuota)
				if err := s.settle(ctx, a, gc); err != nil {
					return report(accounts), fmt.Errorf("clean up checkpoints: %w", err)
				}
			}
		}
	}
	return report(accounts), nil
}

func (s *Store) accounts(ctx context.Context) (list []*account, err error) {
	err = s.each(ctx, func(f *folder) error {
		a := &account{at: f.at, owners: map[pawl.SessionID]time.Time{}, report: FolderReport{Dir: f.dir}}
		owners, err := f.owners()
		if err != nil {
			return err
		}
		for _, owner := range owners {
			if a.owners[owner], err = f.lastUse(owner); err != nil {
				return err
			}
		}
		a.report.Before, err = f.size()
		a.report.After = a.report.Before
		list = append(list, a)
		return err
	})
	return list, err
}

// lastUse returns the time of the owner's latest snapshot.
func (f *folder) lastUse(owner pawl.SessionID) (last time.Time, err error) {
	entries, err := os.ReadDir(f.ref(refsOwners + "/" + string(owner)))
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last, err
}

// size returns the bytes that the store uses, without files kept aside.
func (f *folder) size() (size int64, err error) {
	err = filepath.WalkDir(f.at, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if err == nil && path == f.path(asideName) {
				return fs.SkipDir
			}
			return err
		}
		info, err := e.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}

// mark removes the sessions that lose their snapshots regardless of the quota.
func (a *account) mark(gc GC, now time.Time) {
	for owner, last := range a.owners {
		switch {
		case gc.Alive != nil && !gc.Alive(owner):
			a.remove(owner, whyRemoved)
		case gc.OlderThan > 0 && last.Before(now.Add(-gc.OlderThan)):
			a.remove(owner, whyOld)
		}
	}
}

func (a *account) remove(owner pawl.SessionID, why string) {
	delete(a.owners, owner)
	a.report.Removed = append(a.report.Removed, Removal{owner, why})
}

// oldest returns the session whose latest snapshot is the oldest.
func oldest(accounts []*account) (owner pawl.SessionID, found bool) {
	last := map[pawl.SessionID]time.Time{}
	for _, a := range accounts {
		for o, at := range a.owners {
			if at.After(last[o]) {
				last[o] = at
			}
		}
	}
	for o, at := range last {
		if !found || at.Before(last[owner]) || at.Equal(last[owner]) && o < owner {
			owner, found = o, true
		}
	}
	return owner, found
}

func report(accounts []*account) (r GCReport) {
	for _, a := range accounts {
		slices.SortFunc(a.report.Removed, func(x, y Removal) int { return strings.Compare(string(x.Owner), string(y.Owner)) })
		r.Folders = append(r.Folders, a.report)
		r.Before += a.report.Before
		r.After += a.report.After
	}
	slices.SortFunc(r.Folders, func(x, y FolderReport) int { return strings.Compare(x.Dir, y.Dir) })
	return r
}

// settle removes the snapshots of the sessions in a.report.Removed from the store,
// and updates the report.
func (s *Store) settle(ctx context.Context, a *account, gc GC) error {
	if gc.DryRun {
		if len(a.owners) == 0 {
			a.report.After, a.report.Why = 0, whyNobody
		}
		return nil
	}
	return s.one(ctx, a.at, func(f *folder) error {
		for _, r := range a.report.Removed {
			if err := f.drop(r.Owner); err != nil {
				return err
			}
		}
		why, err := f.compact(ctx)
		if why != "" {
			a.report.Why = why
			err = errors.Join(err, f.removeAll(gc, s.Clock()))
		}
		if err != nil {
			return err
		}
		a.report.After, err = f.size()
		if errors.Is(err, fs.ErrNotExist) {
			a.report.After, err = 0, nil
		}
		return err
	})
}

// compact frees the disk space of unused data. why is the reason if all snapshots
// of the directory should be removed, else "".
func (f *folder) compact(ctx context.Context) (why string, err error) {
	temps, _ := filepath.Glob(f.path("temp-*")) // left by a crash
	for _, temp := range temps {
		if err := os.Remove(temp); err != nil {
			return "", err
		}
	}
	owners, err := f.owners()
	switch {
	case err != nil:
		return "", err
	case len(owners) == 0:
		return whyNobody, nil
	}
	for _, args := range [][]string{{"repack", "-a", "-d", "-q"}, {"prune", "--expire=now"}} {
		err := f.repo.Run(ctx, git.OwnCall{Args: args, Hold: f.file})
		var failed *git.Failed
		if errors.As(err, &failed) && f.readable(ctx) != nil {
			return whyDamaged, nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", nil
}

// readable reads all snapshots and returns an error if one is damaged. This tells
// damage from other failures of git, such as a full disk, which are no reason to
// remove snapshots.
func (f *folder) readable(ctx context.Context) error {
	err := f.repo.Run(ctx, git.OwnCall{Args: []string{"rev-list", "--objects", "--all", "--quiet"}, Hold: f.file})
	if err != nil {
		return err
	}
	drain := func(out io.Reader) error {
		_, err := io.Copy(io.Discard, out)
		return err
	}
	return f.repo.Run(ctx, git.OwnCall{Args: []string{"cat-file", "--batch", "--batch-all-objects"}, Out: drain, Hold: f.file})
}

// removeAll removes the snapshots of the directory. Files kept aside may be a
// user's work, so they stay until they are older than OlderThan.
func (f *folder) removeAll(gc GC, now time.Time) error {
	for _, name := range []string{tableName, pathName, repoName} {
		if err := os.RemoveAll(f.path(name)); err != nil {
			return err
		}
	}
	kept, err := os.ReadDir(f.path(asideName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range kept {
		info, err := e.Info()
		if err != nil || gc.OlderThan == 0 || !info.ModTime().Before(now.Add(-gc.OlderThan)) {
			return err
		}
	}
	return os.RemoveAll(f.at)
}
