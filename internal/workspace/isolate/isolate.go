// Package isolate keeps the copy-on-write views of isolated sessions. A process that works
// on such a session sees the view at the project's own path, in a mount namespace of its
// own; see [View.Run]. What it has changed is applied, committed to a branch or
// discarded when the user says so.
package isolate

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/namespace"
	"github.com/pawl-dev/pawl/internal/strictjson"
	"github.com/pawl-dev/pawl/internal/workspace/transaction"
	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// Store has the views in a directory, which need not exist.
type Store struct{ Dir string }

// View is a copy-on-write view of a project.
type View struct {
	Name string // the name of its directory
	Root string // the project, its real path
	dir  string
	info info
}

// info is what the file of a view records.
type info struct {
	Root  string `json:"root"`
	Since int64  `json:"since"` // tree.Now at its begin
}

// The parts of a view.
const (
	infoName     = "view.json" // its modification time is that of the last use
	lockName     = "lock"
	upperName    = "upper"
	workName     = "work"
	maskName     = "mask"
	applyName    = "apply"
	sessionsName = "sessions"
)

// Create creates a view of a project.
func (s Store) Create(root string) (v View, err error) {
	if err := s.Check(root); err != nil {
		return v, err
	}
	root, err = filepath.EvalSymlinks(root)
	if err != nil {
		return v, err
	}
	v = View{Name: strings.ToLower(rand.Text()), Root: root}
	v.dir = filepath.Join(s.Dir, v.Name)
	if err := os.MkdirAll(v.dir, 0o700); err != nil {
		return v, fmt.Errorf("create a view: %w", err)
	}
	defer func() {
		if err != nil {
			tree.RemoveAll(v.dir)
		}
	}()
	for _, name := range []string{upperName, workName, maskName, sessionsName} {
		if err := os.Mkdir(filepath.Join(v.dir, name), 0o700); err != nil {
			return v, fmt.Errorf("create a view: %w", err)
		}
	}
	top, err := os.Stat(root)
	if err != nil {
		return v, err
	}
	if err := os.Chmod(v.path(upperName), top.Mode().Perm()); err != nil { // the root of a view has its mode
		return v, err
	}
	if v.info.Since, err = tree.Now(root); err != nil {
		return v, err
	}
	v.info.Root = root
	return v, v.writeInfo()
}

// writeInfo writes the file that makes the directory a view. It appears whole or not at
// all: a damaged one would stop all sessions, which must not run if a view may be theirs.
func (v View) writeInfo() error {
	text, err := json.Marshal(v.info)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(v.path(infoName+".new"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(v.path(infoName+".new"), v.path(infoName))
}

// Check returns an error if a project cannot be isolated.
func (s Store) Check(root string) error {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(filepath.Join(root, ".git")); err == nil && !info.IsDir() {
		return fault.New(pawl.ErrInvalid, "%s is a linked worktree or a submodule: its git directory is outside, and would not be isolated", root).
			Hint("Work in a clone.")
	}
	store, err := filepath.Abs(s.Dir)
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(store); err == nil {
		store = real
	}
	if rel, err := filepath.Rel(root, store); err == nil && filepath.IsLocal(rel) {
		return fault.New(pawl.ErrInvalid, "%s contains Pawl's own files, so it cannot be isolated", root)
	}
	return nil
}

func (v View) path(name string) string { return filepath.Join(v.dir, name) }

// Get returns the view with a name.
func (s Store) Get(name string) (View, error) {
	v := View{Name: name, dir: filepath.Join(s.Dir, name)}
	if !filepath.IsLocal(name) || strings.ContainsRune(name, filepath.Separator) {
		return v, fault.New(pawl.ErrInvalid, "invalid view %q", name)
	}
	text, err := os.ReadFile(v.path(infoName))
	if err != nil {
		return v, err
	}
	if err := strictjson.Decode(text, &v.info); err != nil {
		return v, fmt.Errorf("read the view %s: %w", name, err)
	}
	v.Root = v.info.Root
	return v, nil
}

// List returns all views.
func (s Store) List() (list []View, err error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		v, err := s.Get(e.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is being created or removed
		}
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// Find returns the view of a session, and whether it has one.
func (s Store) Find(id pawl.SessionID) (View, bool, error) {
	list, err := s.List()
	if err != nil {
		return View{}, false, err
	}
	for _, v := range list {
		_, err := os.Lstat(filepath.Join(v.path(sessionsName), string(id)))
		if err == nil {
			return v, true, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return View{}, false, err
		}
	}
	return View{}, false, nil
}

// Sessions returns the sessions that work on the view.
func (v View) Sessions() (list []pawl.SessionID, err error) {
	entries, err := os.ReadDir(v.path(sessionsName))
	for _, e := range entries {
		list = append(list, pawl.SessionID(e.Name()))
	}
	return list, err
}

// Used returns when the view was last used.
func (v View) Used() (time.Time, error) {
	info, err := os.Stat(v.path(infoName))
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// Sees returns an error if a session works on a view that this process does not see.
func (s Store) Sees(id pawl.SessionID) error {
	v, ok, err := s.Find(id)
	if err != nil {
		return fmt.Errorf("find the view of the session: %w", err)
	}
	if ok && os.Getenv(namespace.IsolatedVar) != v.Name {
		return fault.New(pawl.ErrDenied, "session %s is isolated: its files are in a view that this process does not see", id).
			Hint("Run `pawl session changes %s` to see what it has changed.", id)
	}
	return nil
}

// Admit returns an error unless this process may work on a session in a directory: it
// must see the view that the session works on, or the project itself if it has none. A
// session without a view gets that of an isolated process.
func (s Store) Admit(id pawl.SessionID, dir string) error {
	v, ok, err := s.Find(id)
	if err != nil {
		return fmt.Errorf("find the view of the session: %w", err)
	}
	own := os.Getenv(namespace.IsolatedVar)
	switch {
	case own == "" && !ok || ok && own == v.Name:
		return nil
	case own == "":
		return fault.New(pawl.ErrDenied, "session %s is isolated", id).
			Hint("Run `pawl resume %[1]s` to continue it on its view, or `pawl session apply %[1]s` or `pawl session discard %[1]s` first.", id)
	case ok:
		return fault.New(pawl.ErrDenied, "session %s is isolated on another view", id).Hint("Run `pawl resume %s` outside of this one.", id)
	}
	if v, err = s.Get(own); err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(v.Root, real); err != nil || !filepath.IsLocal(rel) {
		return fault.New(pawl.ErrDenied, "session %s works in %s, outside of the isolated project %s", id, dir, v.Root)
	}
	return os.WriteFile(filepath.Join(v.path(sessionsName), string(id)), nil, 0o600)
}

// ErrInUse means that a process works on the view.
var ErrInUse = fault.New(pawl.ErrBusy, "the session is still running")

// lock locks the view until the file is closed.
func (v View) lock() (*os.File, error) {
	f, err := os.OpenFile(v.path(lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrInUse
		}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// locked calls f while the view is locked.
func (v View) locked(f func(held *os.File) error) error {
	held, err := v.lock()
	if err != nil {
		return err
	}
	return errors.Join(f(held), held.Close())
}

// notApplied returns an error if Apply has been interrupted: what the session changes from
// then on would be lost, and half of the changes would stay in the project.
func (v View) notApplied() error {
	started, err := tree.Started(v.path(applyName))
	if started {
		return fault.New(pawl.ErrConflict, "the changes of the session are already being applied: `pawl session apply` was interrupted").
			Hint("Run `pawl session apply` again to complete it.")
	}
	return err
}

// Recover completes the calls of Apply that were interrupted, so that no project stays half
// changed. Apply still ends the view and tells the outcome, also that of a call that cannot
// be completed now.
func (s Store) Recover(ctx context.Context) {
	if os.Getenv(namespace.IsolatedVar) != "" {
		return // the project is not visible here
	}
	list, _ := s.List() // a view that cannot be read is reported by Admit
	for _, v := range list {
		if started, err := tree.Started(v.path(applyName)); !started || err != nil {
			continue
		}
		_ = v.locked(func(*os.File) error {
			_, err := tree.Resume(ctx, v.path(applyName))
			return err
		})
	}
}

// layers returns the view for package tree.
func (v View) layers() tree.View {
	return tree.View{Upper: v.path(upperName), Lower: v.Root, Mask: v.path(maskName)}
}

// Changes returns what was changed in the view, and what of that Apply would refuse.
func (v View) Changes(ctx context.Context) ([]tree.Change, []transaction.Refusal, error) {
	changes, refused, err := transaction.Changes(ctx, v.layers(), func(all []tree.Change) []tree.Change { return all })
	slices.SortFunc(changes, func(a, b tree.Change) int { return strings.Compare(a.Path, b.Path) })
	return changes, refused, err
}

// Apply applies the changes to the project and ends the view. What was changed in the
// project since the view was created stays. If a former call was interrupted, it
// completes that one. If something was not applied, Kept returns where it is.
func (v View) Apply(ctx context.Context) (out transaction.Outcome, err error) {
	err = v.locked(func(held *os.File) error {
		result, err := tree.Resume(ctx, v.path(applyName))
		switch {
		case errors.Is(err, tree.ErrNotStarted) || errors.Is(err, fs.ErrNotExist):
			if err := v.recover(held); err != nil {
				return err
			}
			result, out.Refused, err = v.apply(ctx)
		case err == nil:
			_, out.Refused, err = v.Changes(ctx)
		}
		if err != nil {
			return fmt.Errorf("apply the changes of the session: %w", err)
		}
		out.Applied = result.Applied
		for _, c := range result.Conflicts {
			out.Refused = append(out.Refused, transaction.Refusal{Path: c.Path, Reason: c.Reason})
		}
		return v.end(len(out.Refused) > 0)
	})
	return out, err
}

// Kept returns the directory with all files that the session has changed or created. It
// exists until the view is discarded, and after Apply if something was not applied.
func (v View) Kept() string { return v.path(upperName) }

func (v View) apply(ctx context.Context) (tree.Result, []transaction.Refusal, error) {
	changes, refused, err := v.Changes(ctx)
	if err != nil || len(changes) == 0 {
		return tree.Result{}, refused, err
	}
	tree.RemoveAll(v.path(applyName))
	if err := os.Mkdir(v.path(applyName), 0o700); err != nil {
		return tree.Result{}, refused, err
	}
	t := tree.Transaction{Dir: v.path(applyName), Root: v.Root, View: v.layers(), Since: v.info.Since, Copy: true}
	result, err := t.Apply(ctx, changes)
	return result, refused, err
}

// Discard removes the view with everything that was changed in it.
func (v View) Discard() error {
	return v.locked(func(*os.File) error {
		if err := v.notApplied(); err != nil {
			return err
		}
		return v.end(false)
	})
}

// end detaches the view from its sessions, and removes it unless its files are to be kept.
func (v View) end(keep bool) error {
	if err := os.Remove(v.path(infoName)); err != nil { // from here on it is no view
		return err
	}
	if !keep {
		tree.RemoveAll(v.dir)
	}
	return nil
}

// Sweep removes views that were not used since a time, and those that obsolete reports, and
// returns them. It keeps what a process works on.
func (s Store) Sweep(before time.Time, obsolete func(View) bool, dry bool) (removed []string, err error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		dir := filepath.Join(s.Dir, e.Name())
		v, err := s.Get(e.Name())
		used := time.Now()
		if err == nil {
			used, err = v.Used()
		} else if info, statErr := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && statErr == nil { // an applied one
			used, err = info.ModTime(), nil
		}
		if err != nil {
			return removed, err
		}
		if !used.Before(before) && (v.Root == "" || !obsolete(v)) {
			continue
		}
		if held, err := v.lock(); err == nil {
			if !dry {
				tree.RemoveAll(dir)
			}
			_ = held.Close() // nothing was written
			removed = append(removed, dir)
		}
	}
	return removed, nil
}
