package skill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config/userfile"
	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Tree is a frontmatter.Tree that must be closed.
type Tree interface {
	frontmatter.Tree
	io.Closer
}

// Installer installs skills into one directory and records them in a lock
// file.
type Installer struct {
	Dir   string                                                     // absolute: .agents/skills of a project, or skills in Pawl's own directory
	Open  func(dir string) (Tree, error)                             // e.g. of a workspace
	Fetch func(ctx context.Context, from Source) (Repository, error) // e.g. by hardened git
	Local bool                                                       // allow sources on this machine: for tests and CI
	Now   func() time.Time                                           // nil means time.Now
}

// Action says what happens to a skill.
type Action string

// The actions.
const (
	Install Action = "install" // it is new
	Replace Action = "update"  // it differs from the installed one
	Keep    Action = "keep"    // it is unchanged, or pinned
	Dropped Action = "gone"    // its source no longer has it: it stays as it is
	Refuse  Action = "refuse"  // it cannot be installed
)

// Change is the planned change of one skill. Texts are untrusted.
type Change struct {
	Name        string   `json:"name"` // or its directory's name, if it cannot be read
	Action      Action   `json:"action"`
	Description string   `json:"description,omitempty"`
	Source      string   `json:"source"`
	Was         string   `json:"was,omitempty"`     // the installed commit
	Instead     string   `json:"instead,omitempty"` // the source it was installed from, if it is another one
	Commit      string   `json:"commit,omitempty"`
	SHA256      string   `json:"sha256,omitempty"`
	Added       []string `json:"added,omitempty"` // files
	Changed     []string `json:"changed,omitempty"`
	Removed     []string `json:"removed,omitempty"`
	Why         string   `json:"why,omitempty"` // why it is refused
	Faults      []string `json:"faults,omitempty"`

	path string // path in the repository
	had  string // hash of the existing skill when the plan was made
}

// Plan is a planned installation. The new files are staged in a directory of
// their own, where no one looks for skills, until Apply moves them. Close
// deletes what was not moved.
type Plan struct {
	Changes []Change `json:"changes"`

	in      *Installer
	staging string
	held    *os.File // the staging directory, locked: others see that it is in use
}

// Add fetches a source and plans to install its skills: those with the given
// names, or all. Nothing is installed until the plan is applied.
func (in *Installer) Add(ctx context.Context, source string, only ...string) (*Plan, error) {
	from, err := ParseSource(source, in.Local)
	if err != nil {
		return nil, fmt.Errorf("add skills: %w", err)
	}
	return in.plan(func(p *Plan, lock Lock) error {
		found, err := p.bring(ctx, from, lock, func(name string) bool { return len(only) == 0 || slices.Contains(only, name) })
		if err != nil {
			return fmt.Errorf("add skills: %w", err)
		}
		for _, name := range only {
			if !slices.Contains(found, name) {
				return fault.New(pawl.ErrNotFound, "%s has no skill %.80q; it has %.500q", from, name, found)
			}
		}
		if len(found) == 0 {
			return fault.New(pawl.ErrNotFound, "%s has no %s", from, File)
		}
		return nil
	})
}

// Update fetches the sources of installed skills, those with the given names
// or all, and plans to install their current versions. The plan shows what
// changes.
func (in *Installer) Update(ctx context.Context, only ...string) (*Plan, error) {
	return in.plan(func(p *Plan, lock Lock) error {
		for _, name := range only {
			if _, ok := lock.Skills[name]; !ok {
				return fault.New(pawl.ErrNotFound, "skill %.80q was not installed by Pawl", name)
			}
		}
		bySource := map[string][]string{}
		for name, e := range lock.Skills {
			if len(only) == 0 || slices.Contains(only, name) {
				bySource[e.Source] = append(bySource[e.Source], name)
			}
		}
		for _, source := range slices.Sorted(maps.Keys(bySource)) {
			if err := p.refresh(ctx, source, bySource[source], lock); err != nil {
				return fmt.Errorf("update skills: %w", err)
			}
		}
		slices.SortFunc(p.Changes, func(a, b Change) int { return strings.Compare(a.Name, b.Name) })
		return nil
	})
}

// refresh plans the changes of the skills of one source.
func (p *Plan) refresh(ctx context.Context, source string, installed []string, lock Lock) error {
	from, err := ParseSource(source, p.in.Local)
	if err != nil {
		return err
	}
	var found []string
	if !from.pinned() {
		if found, err = p.bring(ctx, from, lock, func(name string) bool { return slices.Contains(installed, name) }); err != nil {
			return err
		}
	}
	slices.Sort(installed)
	for _, name := range installed {
		if slices.Contains(found, name) {
			continue
		}
		e, action := lock.Skills[name], Dropped
		if from.pinned() {
			action = Keep
		}
		p.Changes = append(p.Changes, Change{Name: name, Action: action, Source: source, Was: e.Commit, Commit: e.Commit, SHA256: e.SHA256})
	}
	return nil
}

// plan creates a plan with a staging directory beside the skills, so that
// files can be moved into place.
func (in *Installer) plan(fill func(*Plan, Lock) error) (*Plan, error) {
	if err := in.ready(); err != nil {
		return nil, err
	}
	lock, err := in.lock()
	if err != nil {
		return nil, err
	}
	p := &Plan{in: in}
	if err := p.begin(); err != nil {
		return nil, err
	}
	if err := fill(p, lock); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// begin creates the staging directory. It removes abandoned ones, whose
// process was killed.
func (p *Plan) begin() error {
	unlock, err := userfile.Lock(filepath.Join(p.in.Dir, LockFile))
	if err != nil {
		return err
	}
	defer unlock()
	left, err := filepath.Glob(filepath.Join(p.in.Dir, ".staging-*"))
	if err != nil {
		return err
	}
	for _, dir := range left {
		if f, err := hold(dir); err == nil {
			if err := errors.Join(os.RemoveAll(dir), f.Close()); err != nil {
				return err
			}
		}
	}
	if p.staging, err = os.MkdirTemp(p.in.Dir, ".staging-"); err != nil { // new, with mode 0700
		return err
	}
	p.held, err = hold(p.staging)
	return err
}

// hold locks a directory, unless another process has. The lock ends when it is
// closed or the process ends.
func hold(dir string) (*os.File, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ready creates the directory. It returns an error if it is reached through a
// link.
func (in *Installer) ready() error {
	for _, dir := range []string{filepath.Dir(in.Dir), in.Dir} {
		if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fault.New(pawl.ErrDenied, "%s is a symbolic link: use the path of its target", dir)
		}
	}
	return os.MkdirAll(in.Dir, 0o755)
}

// lock reads the lock file.
func (in *Installer) lock() (Lock, error) {
	t, err := in.Open(in.Dir)
	if err != nil {
		return Lock{}, err
	}
	defer t.Close()
	lock, err := readLock(t, ".")
	if err != nil {
		return Lock{}, fmt.Errorf("read %s: %w", filepath.Join(in.Dir, LockFile), err)
	}
	return lock, nil
}

// bring fetches a source, stages the requested skills, and returns the names
// of all skills of the source.
func (p *Plan) bring(ctx context.Context, from Source, lock Lock, want func(name string) bool) ([]string, error) {
	r, err := p.in.Fetch(ctx, from)
	if err != nil && partOfID.MatchString(from.Ref) {
		return nil, fmt.Errorf("%w (if %s is a commit, use its full id)", err, from.Ref)
	}
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // what was fetched is of no more use, wherever it is
	items, err := list(r, from.Path)
	if err != nil {
		return nil, err
	}
	dirs, err := roots(items)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, root := range dirs {
		name, err := p.one(ctx, r, from, items, root, lock, want)
		if err != nil {
			return nil, err
		}
		found = append(found, name)
	}
	return found, nil
}
