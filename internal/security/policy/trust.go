package policy

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/trust"
)

// Directory describes the project configuration in a directory, and whether it is
// trusted.
type Directory struct {
	Path  string      `json:"path"`
	State trust.State `json:"state"`
	Hash  string      `json:"hash"`
	Parts trust.Parts `json:"parts"`
}

// String describes the state for people.
func (t Directory) String() string {
	said := map[trust.State]string{
		trust.Trusted: "is trusted", trust.Changed: "has changed since you trusted it", trust.Unknown: "is not trusted",
	}
	return fmt.Sprintf("%s %s.\n%s", trust.Quote(t.Path), said[t.State], t.Parts.Show())
}

// LookAt returns what the project configuration in a directory would enable, and
// whether it is trusted. It runs nothing of the directory. A linked git worktree is
// trusted like the directory that it was created from, if that repository lists it
// and everything that could run code is the same in both. The worktree of a mission
// is never trusted.
func (s *Safety) LookAt(ctx context.Context, dir string) (Directory, error) {
	t := Directory{State: trust.Unknown}
	var err error
	if dir, err = filepath.Abs(dir); err != nil {
		return t, err
	}
	if t.Path, err = filepath.EvalSymlinks(dir); err != nil {
		return t, err
	}
	repo, err := openRepo(ctx, t.Path)
	switch {
	case err == nil:
		t.Parts, err = trust.SurveyRepository(t.Path, repo.Common)
	case errors.Is(err, pawl.ErrNotFound), errors.Is(err, pawl.ErrDenied): // no git, no repository, or one that does not list the worktree
		t.Parts, err = trust.Survey(t.Path)
	}
	if err != nil {
		return t, err
	}
	t.Hash = t.Parts.Hash()
	if forbidsTrust(t.Path) {
		return t, nil
	}
	if t.State, err = s.trustOf(t.Path).State(t.Path, t.Hash); err != nil || t.State != trust.Unknown {
		return t, err
	}
	if repo != nil && repo.Linked && repo.Top == t.Path && filepath.Base(repo.Common) == ".git" {
		from := filepath.Dir(repo.Common)
		if state, err := s.trustOf(from).State(from, t.Hash); err != nil || state == trust.Trusted {
			t.State = state
			return t, err
		}
	}
	return t, nil
}

func openRepo(ctx context.Context, dir string) (*git.Repo, error) {
	g, err := git.Find(ctx, dir)
	if err != nil {
		return nil, err
	}
	return g.Open(ctx, dir)
}

// Trust returns the store of trusted directories.
func (s *Safety) Trust() trust.Store { return s.trust }

// Trusted reports whether the project configuration in a directory is trusted. After
// an error it is not.
func (s *Safety) Trusted(dir string) bool {
	p, err := s.projects.of(context.Background(), s, dir, false)
	return err == nil && p.trusted
}

// LookAgain discards what is known of directories. Call it before using files that
// may have just been added to a directory, such as skills.
func (s *Safety) LookAgain() {
	s.projects.mu.Lock()
	defer s.projects.mu.Unlock()
	for dir, k := range s.projects.known {
		k.at = time.Time{}
		s.projects.known[dir] = k
	}
}

// Instructs reports whether instructions of a project may reach models: it is
// trusted, and this is no CI job for a proposed change, which could contain any
// instructions.
func (s *Safety) Instructs(dir string) bool { return baseRef("") == "" && s.Trusted(dir) }

// Project returns the state of a directory for the calls of a session, and the keys
// of its configuration that are ignored. userTrusts means that the user said that it is
// trusted.
func (s *Safety) Project(ctx context.Context, dir string, userTrusts bool) (Directory, []config.Ignored, error) {
	p, err := s.projects.of(ctx, s, dir, userTrusts)
	return p.inspected, p.ignored, err
}

// project is the effective project configuration of a directory.
type project struct {
	inspected Directory // not looked at if the user has said that it is trusted
	trusted   bool
	rules     []permission.Rule
	hooks     hookList
	servers   []ServerFile
	ignored   []config.Ignored
}

// projects caches project configurations, which are slow to inspect. An entry
// expires after lookAgain, or when the user trusts another directory.
type projects struct {
	mu    sync.Mutex
	known map[string]knownProject
}

type knownProject struct {
	project
	userTrusts bool // the user has said for this run that it is trusted
	stamp      stamp
	at         time.Time
}

// lookAgain is how long an inspected directory is cached.
const lookAgain = time.Minute

// of returns the project of a directory. userTrusts means that the user said that it is
// trusted, which is remembered for this run.
func (ps *projects) of(ctx context.Context, s *Safety, dir string, userTrusts bool) (project, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return project{}, err
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	k, ok := ps.known[dir]
	userTrusts = (userTrusts || k.userTrusts) && !forbidsTrust(dir)
	if now := stampOf(s.trustOf(dir).Path); ok && k.userTrusts == userTrusts && k.stamp.same(now) && time.Since(k.at) < lookAgain {
		return k.project, nil
	}
	k = knownProject{userTrusts: userTrusts, stamp: stampOf(s.trustOf(dir).Path), at: time.Now()}
	if k.project, err = s.loadProject(ctx, dir, userTrusts); err != nil {
		return project{}, err
	}
	if ps.known == nil {
		ps.known = map[string]knownProject{}
	}
	ps.known[dir] = k
	return k.project, nil
}

// loadProject reads the project configuration of a directory, if it is trusted.
func (s *Safety) loadProject(ctx context.Context, dir string, userTrusts bool) (project, error) {
	p := project{trusted: userTrusts}
	if !p.trusted {
		var err error
		if p.inspected, err = s.LookAt(ctx, dir); err != nil {
			return p, fmt.Errorf("inspect the project configuration: %w", err)
		}
		p.trusted = p.inspected.State == trust.Trusted
	}
	if !p.trusted {
		g, ok, err := s.guardsOf(dir)
		if err == nil && ok {
			err = p.loadGuards(ctx, g)
		}
		return p, err
	}
	read, err := projectSource(ctx, dir, baseRef(""))
	if err != nil {
		return p, err
	}
	c, ignored, err := config.LoadProject(read)
	if err != nil {
		return p, err
	}
	p.ignored = ignored
	if err := p.hooks.addProject(c, read); err != nil {
		return p, err
	}
	if p.servers, err = projectServers(c, read); err != nil {
		return p, err
	}
	p.rules, err = permission.ParseRules(c.Rules, permission.OriginProject)
	return p, err
}
