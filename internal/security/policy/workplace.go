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
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/weak"
)

// Worktree is a directory that a worker of a mission has to itself. Its session may
// read and write there, and sees nothing of what the others have, nor of the
// repository that it was made of, but for the objects.
type Workplace struct {
	Dir       string // its real path
	Allotment        // of its repository
}

// Worktree says whether a directory is a worktree, or in one. It goes by the path
// and by what Allot has written. A directory among the worktrees that is none, or
// that nothing was allotted to, is an error: no session may work there.
func (s *Safety) Workplace(dir string) (Workplace, bool, error) {
	dir, top, in, err := amongWorkplaces(dir)
	if err != nil || !in {
		return Workplace{}, false, err
	}
	rel, err := filepath.Rel(top, dir)
	if err != nil {
		return Workplace{}, false, err
	}
	parts := strings.Split(rel, string(filepath.Separator))
	if len(parts) < 2 || strings.HasPrefix(parts[1], ".") {
		return Workplace{}, false, fmt.Errorf("%s is pawl's own: work in another folder: %w", dir, pawl.ErrDenied)
	}
	w := Workplace{Dir: filepath.Join(top, parts[0], parts[1])}
	text, err := userfile.Read(filepath.Join(top, parts[0]+".json"), maxAllotment)
	if err == nil {
		err = pawl.Decode(text, &w.Allotment)
	}
	if err != nil {
		return Workplace{}, false, fmt.Errorf("%s has no objects allotted to it: make the workplace anew: %w: %w", w.Dir, err, pawl.ErrDenied)
	}
	return w, true, nil
}

// Admit allots what a worktree needs that has come from another host, where its
// repository is: it has objects of its own, and the directory of its mission, which
// commander finds, is out of sight should it come here too. Other directories need nothing.
func (s *Safety) Admit(dir string, commander func(worker pawl.SessionID) (string, error)) error {
	_, top, in, err := amongWorkplaces(dir)
	if err != nil || !in {
		return err
	}
	if _, _, err := s.Workplace(dir); err == nil {
		return nil // its repository is here, or another of its workers was
	}
	above, err := commander(pawl.SessionID(strings.ToUpper(filepath.Base(dir))))
	if err != nil {
		return fmt.Errorf("admit the workplace %s: %w", dir, err)
	}
	a := Allotment{Objects: []string{}, Apart: []string{}}
	if !holds(above, s.home) {
		a.Apart = append(a.Apart, above)
	}
	if err := userfile.Replace(filepath.Join(top, filepath.Base(filepath.Dir(dir))+".json"), a, maxAllotment); err != nil {
		return fmt.Errorf("admit the workplace %s: %w", dir, err)
	}
	return nil
}

// amongWorkplaces returns the real paths of a directory and of that for all
// worktrees, and whether the one is in the other.
func amongWorkplaces(dir string) (real, top string, in bool, err error) {
	if top, err = config.Workplaces(); err != nil {
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

// forbidsTrust reports whether nothing that a directory brings may ever take effect:
// what is in a worktree was written by a worker. What cannot be told is not
// trusted either.
func forbidsTrust(dir string) bool {
	_, _, in, err := amongWorkplaces(dir)
	return (in || err != nil) && !weak.On("workplace.trust")
}

// confine makes a policy one for a worktree. Commands run in a sandbox there or
// not at all, whatever a person would permit: without one nothing is apart.
func (w Workplace) confine(p *permission.Policy) error {
	if weak.On("workplace.box") {
		return nil
	}
	if p.Mode == permission.ModeYolo {
		return fmt.Errorf("a worker's commands run in a sandbox, and the mode yolo has none: use --mode auto: %w", pawl.ErrDenied)
	}
	denied := permission.Rule{Kind: pawl.AccessEscape, Decision: permission.Deny, Origin: permission.OriginPawl}
	if p.Rules = append(p.Rules, denied); !p.Boxed {
		denied.Kind = pawl.AccessExec
		p.Rules = append(p.Rules, denied)
	}
	return nil
}

// boxedOnly reports whether commands in a directory run in a sandbox or not at all.
func (s *Safety) boxedOnly(dir string) (bool, error) {
	_, worker, err := s.Workplace(dir)
	return worker && !weak.On("workplace.box"), err
}

// enclose makes a profile one for a worktree. Of pawl's own files some hold it;
// what others have left in the cache is theirs. What the user lets commands write
// to does not count where a worker has no business.
func (w Workplace) enclose(p *sandbox.Profile, own []string, cache string) error {
	for _, path := range own {
		if real, err := filepath.EvalSymlinks(path); err == nil && holds(real, p.Dir) {
			p.Apart = append(p.Apart, path)
		} else {
			p.Hidden = append(p.Hidden, path)
		}
	}
	p.Apart = slices.Concat(p.Apart, []string{cache}, w.Apart)
	p.Readable = slices.Concat(w.Objects, programsIn(w.Apart))
	p.Writable = outside(p.Apart, p.Writable)
	if weak.On("workplace.apart") {
		p.Apart = nil
	}
	if weak.On("workplace.objects") {
		objects, err := objectsOf(filepath.Join(w.Dir, ".git", "objects"))
		p.Readable = objects[min(1, len(objects)):]
		return err
	}
	return nil
}

// outside returns the paths that are in none of the directories.
func outside(folders, paths []string) []string {
	folders = spellings(folders)
	return slices.DeleteFunc(paths, func(path string) bool {
		return slices.ContainsFunc(spellings([]string{path}), func(path string) bool {
			return slices.ContainsFunc(folders, func(folder string) bool { return holds(folder, path) })
		})
	})
}

// programsIn returns the directories of programs that the user has in others, as
// virtual environments are: by PATH.
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
