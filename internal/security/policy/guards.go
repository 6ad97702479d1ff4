package policy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/config/userfile"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/trust"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// maxGuards bounds the record of a worktree's guards, in bytes.
const maxGuards = 64 << 10

// Guarding says which project configuration applies in a worktree of a mission.
type Guarding struct {
	Repo     *git.Repo
	Project  string // the directory that the mission was started in
	Trusted  bool   // the user said that it is trusted
	Checkout string // the mission's base commit, checked out where no worker can write
	Worktree string
}

// guards is the record of the project configuration that applies in a worktree. It is
// stored in Pawl's data directory, where no worker can write.
type guards struct {
	Checkout string   `json:"checkout"`
	Project  string   `json:"project"` // the directory that the mission was started in
	Dir      string   `json:"dir"`     // the same directory in the checkout, relative to it
	Trusted  []string `json:"trusted"` // the directories of the checkout whose configuration is trusted: Dir or those above it
}

// base returns the project directory at the base commit.
func (g guards) base() string { return filepath.Join(g.Checkout, g.Dir) }

// trusts reports whether the configuration in a directory of the checkout is trusted.
func (g guards) trusts(dir string) bool {
	rel, err := filepath.Rel(g.Checkout, dir)
	return err == nil && slices.Contains(g.Trusted, rel)
}

// GuardWorktree lets the project configuration of a mission's base commit apply in a worktree,
// as far as it is trusted: rules, hooks, instructions and skills. What the user has
// trusted without committing it replaces what is committed. This is decided once for a
// checkout: all of its worktrees have the same guards, whatever happens to the project.
func (s *Safety) GuardWorktree(ctx context.Context, c Guarding) error {
	g, known, err := readGuards(c.Checkout)
	if err == nil && !known {
		if g, err = s.newGuards(ctx, c); err == nil {
			err = writeGuards(c.Checkout, g)
		}
	}
	if err == nil {
		err = writeGuards(c.Worktree, g)
	}
	if err != nil {
		return fmt.Errorf("guard a worktree: %w", err)
	}
	return nil
}

// newGuards determines the guards of the worktrees of a checkout.
func (s *Safety) newGuards(ctx context.Context, c Guarding) (guards, error) {
	g := guards{Checkout: c.Checkout, Trusted: []string{}}
	var err error
	if g.Project, err = filepath.EvalSymlinks(c.Project); err != nil {
		return g, err
	}
	if g.Dir, err = filepath.Rel(c.Repo.Top, g.Project); err != nil || !filepath.IsLocal(g.Dir) {
		return g, fault.New(pawl.ErrInvalid, "%s is not in the repository %s", g.Project, c.Repo.Top)
	}
	for rel := g.Dir; ; rel = filepath.Dir(rel) {
		ok, err := s.trustBase(ctx, c, rel, c.Trusted && rel == g.Dir)
		if err != nil {
			return g, err
		}
		if ok {
			g.Trusted = append(g.Trusted, rel)
		}
		if rel == "." {
			return g, nil
		}
	}
}

func writeGuards(worktree string, g guards) error {
	file, err := guardsFile(worktree)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return userfile.Replace(file, g, maxGuards)
}

// trustBase reports whether the configuration in a directory of the checkout is trusted:
// it is what the user trusts in the project, or it is replaced by that.
func (s *Safety) trustBase(ctx context.Context, c Guarding, rel string, userTrusts bool) (bool, error) {
	dir, base := filepath.Join(c.Repo.Top, rel), filepath.Join(c.Checkout, rel)
	parts, err := trust.SurveyRepository(base, c.Repo.Common)
	if errors.Is(err, fs.ErrNotExist) { // the commit does not have the directory
		parts, err = nil, os.MkdirAll(base, 0o700)
	}
	if err != nil {
		return false, err
	}
	if state, err := s.trustOf(dir).State(dir, parts.Hash()); err != nil || state == trust.Trusted {
		return err == nil, err
	}
	live, err := s.projects.of(ctx, s, dir, userTrusts)
	if err != nil || !live.trusted {
		return false, err
	}
	current, err := trust.SurveyRepository(dir, c.Repo.Common)
	if err != nil {
		return false, err
	}
	return true, replaceParts(dir, base, parts, current)
}

// replaceParts replaces the configuration files of a checkout by those of the project.
func replaceParts(dir, base string, old, current trust.Parts) error {
	from, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenRoot(base)
	if err != nil {
		return err
	}
	defer to.Close()
	for _, p := range old {
		if p.IsFile() {
			if err := to.Remove(p.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	for _, p := range current {
		if p.IsFile() && p.Kind != trust.KindLink {
			if err := copyPart(from, to, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyPart copies a configuration file that was surveyed.
func copyPart(from, to *os.Root, p trust.Part) error {
	info, err := from.Lstat(p.Path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	text, err := from.ReadFile(p.Path)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != p.Hash {
		return fault.New(pawl.ErrConflict, "%s changed while it was read", p.Path)
	}
	if err := to.MkdirAll(path.Dir(p.Path), 0o700); err != nil {
		return err
	}
	return to.WriteFile(p.Path, text, info.Mode().Perm())
}

// guardsOf returns the guards of the worktree that a directory is in, and whether the
// project is trusted, so that they apply. If they cannot be read, no session may work
// there.
func (s *Safety) guardsOf(dir string) (guards, bool, error) {
	w, worker, err := s.Worktree(dir)
	if err != nil || !worker {
		return guards{}, false, err
	}
	g, known, err := readGuards(w.Dir)
	switch {
	case err != nil:
		return guards{}, false, err
	case !known:
		return guards{}, false, fault.New(pawl.ErrDenied, "worktree %s has no guards: create it again", w.Dir)
	case len(g.Trusted) == 0:
		return guards{}, false, nil
	}
	if _, err := os.Stat(g.base()); err != nil {
		return guards{}, false, fault.New(pawl.ErrDenied, "the guards of worktree %s are missing: %s", w.Dir, err.Error())
	}
	return g, true, nil
}

// readGuards reads the record of a worktree's guards, if there is one.
func readGuards(worktree string) (g guards, known bool, err error) {
	file, err := guardsFile(worktree)
	if err != nil {
		return g, false, err
	}
	text, err := userfile.Read(file, maxGuards)
	if err != nil || text == nil {
		return g, false, err
	}
	if err := strictjson.Decode(text, &g); err != nil {
		return g, false, fault.New(pawl.ErrDenied, "the guards of worktree %s cannot be read: %w", worktree, err)
	}
	return g, true, nil
}

// guardsFile returns the record of a worktree's guards.
func guardsFile(worktree string) (string, error) {
	data, err := config.Data()
	if err != nil {
		return "", err
	}
	return filepath.Join(data, "guards", filepath.Base(worktree)+".json"), nil
}

// admitUnguarded records that no guards apply in a worktree from another host, whose base
// commit is not here, unless there is a record.
func admitUnguarded(worktree string) error {
	if _, known, err := readGuards(worktree); err != nil || known {
		return err
	}
	return writeGuards(worktree, guards{Trusted: []string{}})
}

// Unguard removes the record of a worktree's guards. The worktree is removed with it.
func (s *Safety) Unguard(worktree string) error {
	file, err := guardsFile(worktree)
	if err == nil {
		err = os.Remove(file)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Base returns where the extensions of a worktree are read from instead of from its own
// files: the top of a checkout and the project directory in it. It returns "" for other
// directories. trusted reports which directories of the checkout are trusted.
func (s *Safety) Base(dir string) (top, project string, trusted func(dir string) bool) {
	g, ok, err := s.guardsOf(dir)
	if err != nil || !ok {
		return "", "", nil
	}
	return g.Checkout, g.base(), func(dir string) bool { return baseRef("") == "" && g.trusts(dir) }
}

// loadGuards adds the rules and hooks that apply in a worktree to a project.
func (p *project) loadGuards(ctx context.Context, g guards) error {
	if !g.trusts(g.base()) {
		return nil
	}
	dir, ref := g.base(), baseRef("")
	if ref != "" {
		dir = g.Project // the checkout does not have the branches of the remote
	}
	read, err := projectSource(ctx, dir, ref)
	if err != nil {
		return err
	}
	c, ignored, err := config.LoadProject(read)
	if err != nil {
		return err
	}
	p.ignored = ignored
	if err := p.hooks.addProject(c, read); err != nil {
		return err
	}
	for i := range p.hooks.commands {
		useBase(&p.hooks.commands[i], g.base())
	}
	p.rules, err = permission.ParseRules(c.Rules, permission.OriginProject)
	return err
}

// skillDirs are the directories of skills in a project, whose scripts commands may run.
var skillDirs = []string{".agents/skills", ".pawl/skills", ".claude/skills", ".opencode/skill", ".opencode/skills"}

// readable returns the parts of the checkout that commands in the worktree may read. The
// other files stay hidden: rules may deny reading them.
func (g guards) readable() []string {
	var all []string
	for _, dir := range g.Trusted {
		for _, name := range skillDirs {
			all = append(all, filepath.Join(g.Checkout, dir, name))
		}
	}
	return directories(all)
}
