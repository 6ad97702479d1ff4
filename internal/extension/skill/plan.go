package skill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config/userfile"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// one plans the change of one skill of a repository and returns its name. A
// problem with the skill is part of the plan; an error means that planning
// failed.
func (p *Plan) one(ctx context.Context, r Repository, from Source, items []item, root string, lock Lock, want func(string) bool) (string, error) {
	c := Change{Name: path.Base(root), Source: from.String(), Commit: r.Commit(), path: root}
	text, err := r.ReadFile(ctx, path.Join(root, File))
	if err != nil {
		return "", err
	}
	if s, _, err := parse(text, ""); err == nil {
		c.Name = s.Name
	}
	if !want(c.Name) {
		return c.Name, nil
	}
	if slices.ContainsFunc(p.Changes, func(other Change) bool { return other.Name == c.Name }) {
		c.Action, c.Why = Refuse, "another skill of the source has the same name"
		p.Changes = append(p.Changes, c)
		return c.Name, nil
	}
	s, err := p.in.stage(ctx, r, items, root, p.staging)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		c.Action, c.Why, err = Refuse, err.Error(), nil
	default:
		c.Description, c.SHA256, c.Faults = s.skill.Description, s.hash, s.skill.Faults
		err = p.in.compare(&c, s, lock)
	}
	p.Changes = append(p.Changes, c)
	return c.Name, err
}

// compare determines how a staged skill differs from the existing one.
func (in *Installer) compare(c *Change, s staged, lock Lock) error {
	t, err := in.Open(in.Dir)
	if err != nil {
		return err
	}
	defer t.Close()
	entry, locked := lock.Skills[c.Name]
	had, files, err := in.present(t, c.Name)
	switch {
	case locked && !sameRepository(entry.Source, c.Source):
		c.Action, c.Why = Refuse, fmt.Sprintf("a skill of this name is installed from %s: to replace it, run `pawl skills remove %s` first", entry.Source, c.Name)
		return nil
	case err != nil && locked: // it is damaged, and will be replaced
		files = nil
	case err != nil:
		c.Action, c.Why = Refuse, fmt.Sprintf("a file of this name exists: %v", err)
		return nil
	case had != "" && !locked:
		c.Action, c.Why = Refuse, "a skill of this name exists and was not installed by Pawl: move it first"
		return nil
	}
	if c.had, c.Was = had, entry.Commit; locked && entry.Source != c.Source {
		c.Instead = entry.Source
	}
	for name, hash := range s.files {
		if old, ok := files[name]; !ok {
			c.Added = append(c.Added, name)
		} else if old != hash {
			c.Changed = append(c.Changed, name)
		}
	}
	for name := range files {
		if _, ok := s.files[name]; !ok {
			c.Removed = append(c.Removed, name)
		}
	}
	for _, list := range [][]string{c.Added, c.Changed, c.Removed} {
		slices.Sort(list)
	}
	switch {
	case !locked:
		c.Action = Install
	case had == s.hash && entry.SHA256 == s.hash:
		c.Action = Keep
	default:
		c.Action = Replace
	}
	return nil
}

// sameRepository reports whether two sources are in the same repository.
// Permission to install from one does not allow replacing skills of another.
func sameRepository(a, b string) bool {
	one, err := ParseSource(a, true)
	other, err2 := ParseSource(b, true)
	return err == nil && err2 == nil && one.Address == other.Address
}

// present returns the hashes of the existing skill, "" if no skill is there.
func (in *Installer) present(t Tree, name string) (string, map[string]string, error) {
	if _, err := os.Lstat(filepath.Join(in.Dir, name)); errors.Is(err, fs.ErrNotExist) {
		return "", nil, nil
	}
	return hashFolder(t, name)
}

// Apply moves the staged skills into place. It writes the lock file first: if
// something fails after that, skills that do not match it are not loaded. If
// something has changed since the plan was made, it does nothing and returns
// pawl.ErrConflict.
func (p *Plan) Apply() error {
	lockPath := filepath.Join(p.in.Dir, LockFile)
	unlock, err := userfile.Lock(lockPath)
	if err != nil {
		return fmt.Errorf("install skills: %w", err)
	}
	defer unlock()
	lock, err := p.in.lock()
	if err != nil {
		return fmt.Errorf("install skills: %w", err)
	}
	todo := slices.DeleteFunc(slices.Clone(p.Changes), func(c Change) bool { return c.Action != Install && c.Action != Replace })
	now := time.Now
	if p.in.Now != nil {
		now = p.in.Now
	}
	for _, c := range todo {
		if err := p.unchanged(c, lock); err != nil {
			return fmt.Errorf("install skills: %w", err)
		}
	}
	for _, c := range todo {
		lock.Skills[c.Name] = Entry{Source: c.Source, Path: c.path, Commit: c.Commit, SHA256: c.SHA256, Installed: now().UTC().Truncate(time.Second)}
	}
	if len(todo) > 0 {
		if err := userfile.Replace(lockPath, lock, maxLock); err != nil {
			return fmt.Errorf("install skills: %w", err)
		}
	}
	for _, c := range todo {
		if err := p.move(c.Name); err != nil {
			return fmt.Errorf("install skill %s: %w", c.Name, err)
		}
	}
	return nil
}

// unchanged returns an error if the staged skill or the existing one has
// changed since the plan was made.
func (p *Plan) unchanged(c Change, lock Lock) error {
	if _, err := p.in.restage(p.staging, c.Name, c.path, c.SHA256); err != nil {
		return err
	}
	t, err := p.in.Open(p.in.Dir)
	if err != nil {
		return err
	}
	defer t.Close()
	had, _, err := p.in.present(t, c.Name)
	if err != nil {
		had = "" // damaged, as before
	}
	if had != c.had || lock.Skills[c.Name].Commit != c.Was {
		return fault.New(pawl.ErrConflict, "skill %s has changed since the plan was made: try again", c.Name)
	}
	return nil
}

// move moves a staged skill into place, and the existing one into the staging
// directory, which is deleted at the end.
func (p *Plan) move(name string) error {
	place := filepath.Join(p.in.Dir, name)
	if err := os.Rename(place, filepath.Join(p.staging, ".old-"+name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(filepath.Join(p.staging, name), place)
}

// Close deletes the staging directory.
func (p *Plan) Close() error { return errors.Join(os.RemoveAll(p.staging), p.held.Close()) }

// Show formats the plan for the user who decides on it.
func (p *Plan) Show() string {
	var b strings.Builder
	for _, c := range p.Changes {
		fmt.Fprintf(&b, "%s  %s  from %s", c.Action, sanitize.Line(c.Name), sanitize.Line(c.Source))
		switch {
		case c.Was != "" && c.Was != c.Commit:
			fmt.Fprintf(&b, "  %.12s, was %.12s", c.Commit, c.Was)
		case c.Commit != "":
			fmt.Fprintf(&b, "  %.12s", c.Commit)
		}
		b.WriteByte('\n')
		for _, part := range []struct{ what, text string }{{"", c.Description}, {"replaces the one from ", c.Instead}, {"reason: ", c.Why}} {
			if part.text != "" {
				fmt.Fprintf(&b, "  %s%s\n", part.what, sanitize.Line(part.text))
			}
		}
		for _, part := range []struct {
			sign  string
			files []string
		}{{"+", c.Added}, {"~", c.Changed}, {"-", c.Removed}} {
			for _, f := range part.files {
				fmt.Fprintf(&b, "  %s %s\n", part.sign, sanitize.Line(f))
			}
		}
		for _, fault := range c.Faults {
			fmt.Fprintf(&b, "  warning: %s\n", sanitize.Line(fault))
		}
	}
	return b.String()
}
