package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/config/userfile"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// Worktree is the worktree of a worker of a mission. Its session may read and write
// there. The worktrees of others and the repository, except for its git objects, are
// hidden.
type Worktree struct {
	Dir       string // its real path
	Allotment        // of its repository
}

// Worktree returns the worktree that a directory is in, and whether it is in one. It
// goes by the path and by what Allot has written. A directory among the worktrees
// that is none, or that has no allotment, is an error: no session may work there.
func (s *Safety) Worktree(dir string) (Worktree, bool, error) {
	dir, top, in, err := amongWorktrees(dir)
	if err != nil || !in {
		return Worktree{}, false, err
	}
	rel, err := filepath.Rel(top, dir)
	if err != nil {
		return Worktree{}, false, err
	}
	parts := strings.Split(rel, string(filepath.Separator))
	if len(parts) < 2 || strings.HasPrefix(parts[1], ".") {
		return Worktree{}, false, fault.New(pawl.ErrDenied, "%s is used by Pawl itself: work in another directory", dir)
	}
	w := Worktree{Dir: filepath.Join(top, parts[0], parts[1])}
	text, err := userfile.Read(filepath.Join(top, parts[0]+".json"), maxAllotment)
	if err == nil {
		err = strictjson.Decode(text, &w.Allotment)
	}
	if err != nil {
		return Worktree{}, false, fault.New(pawl.ErrDenied, "worktree %s has no allotted objects: create it again: %w", w.Dir, err)
	}
	return w, true, nil
}

// Admit writes the allotment of a worktree that has moved here from the host of its
// repository. It has its own git objects. The directory of its mission, which
// commander returns, is hidden in case it moves here too. For other directories it
// does nothing.
func (s *Safety) Admit(dir string, commander func(worker pawl.SessionID) (string, error)) error {
	_, top, in, err := amongWorktrees(dir)
	if err != nil || !in {
		return err
	}
	if err := admitUnguarded(dir); err != nil {
		return fmt.Errorf("admit the worktree %s: %w", dir, err)
	}
	if _, _, err := s.Worktree(dir); err == nil {
		return nil // its repository is here, or another of its workers was admitted
	}
	above, err := commander(pawl.SessionID(strings.ToUpper(filepath.Base(dir))))
	if err != nil {
		return fmt.Errorf("admit the worktree %s: %w", dir, err)
	}
	a := Allotment{Objects: []string{}, Apart: []string{}}
	if !holds(above, s.home) {
		a.Apart = append(a.Apart, above)
	}
	if err := userfile.Replace(filepath.Join(top, filepath.Base(filepath.Dir(dir))+".json"), a, maxAllotment); err != nil {
		return fmt.Errorf("admit the worktree %s: %w", dir, err)
	}
	return nil
}

// amongWorktrees returns the real paths of a directory and of the directory of all
// worktrees, and whether the former is in the latter.
func amongWorktrees(dir string) (real, top string, in bool, err error) {
	if top, err = config.Worktrees(); err != nil {
		return "", "", false, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", "", false, err
	}
	if real, err = filepath.EvalSymlinks(dir); err != nil {
		return "", "", false, err
	}
	if top, err = filepath.EvalSymlinks(top); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return real, "", false, err
	}
	return real, top, holds(top, real), nil
}

// forbidsTrust reports whether a directory can never be trusted, because it is a
// worktree, which a worker has written, or because of an error.
func forbidsTrust(dir string) bool {
	_, _, in, err := amongWorktrees(dir)
	return in || err != nil
}

// confine restricts a policy for a worktree: commands run in a sandbox or not at all,
// whatever a person would approve, because only the sandbox separates workers.
func (w Worktree) confine(p *permission.Policy) error {
	if p.Mode == permission.ModeYolo {
		return fault.New(pawl.ErrDenied, "commands of a mission worker must run in the sandbox, which mode yolo does not use").Hint("Use --mode auto.")
	}
	denied := permission.Rule{Kind: pawl.AccessEscape, Decision: permission.Deny, Origin: permission.OriginPawl}
	if p.Rules = append(p.Rules, denied); !p.Sandboxed {
		denied.Kind = pawl.AccessExec
		p.Rules = append(p.Rules, denied)
	}
	return nil
}

// sandboxOnly reports whether commands in a directory must not run without a sandbox.
func (s *Safety) sandboxOnly(dir string) (bool, error) {
	_, worker, err := s.Worktree(dir)
	return worker, err
}

// enclose restricts a profile for a worktree. Those of pawl's own files that contain
// the worktree stay reachable on the way to it; directories that the user lets commands
// read or write are dropped where they overlap.
func (w Worktree) enclose(p *sandbox.Profile, own []string) {
	for _, path := range own {
		if real, err := filepath.EvalSymlinks(path); err == nil && holds(real, p.Dir) {
			p.Apart = append(p.Apart, path)
		} else {
			p.Hidden = append(p.Hidden, path)
		}
	}
	p.Apart = slices.Concat(p.Apart, w.Apart)
	p.Readable = slices.Concat(outside(p.Apart, p.Readable), w.Objects, programsIn(w.Apart))
	p.Writable = outside(p.Apart, p.Writable)
}

// outside returns the paths that are in none of dirs.
func outside(dirs, paths []string) []string {
	dirs = spellings(dirs)
	return slices.DeleteFunc(paths, func(path string) bool {
		return slices.ContainsFunc(spellings([]string{path}), func(path string) bool {
			return slices.ContainsFunc(dirs, func(dir string) bool { return holds(dir, path) })
		})
	})
}

// programsIn returns the directories in PATH that are below one of dirs, such as
// virtual environments.
func programsIn(dirs []string) []string {
	var found []string
	for _, path := range filepath.SplitList(os.Getenv("PATH")) {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || !filepath.IsAbs(path) {
			continue
		}
		inside := func(path string) bool {
			return slices.ContainsFunc(dirs, func(dir string) bool { return dir != path && holds(dir, path) })
		}
		above := filepath.Dir(real)
		switch base := filepath.Base(real); {
		case (base == "bin" || base == ".bin") && inside(above):
			found = append(found, above)
		case inside(real):
			found = append(found, real)
		}
	}
	return found
}
