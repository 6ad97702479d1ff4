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
	"github.com/pawl-dev/pawl/internal/weak"
)

// Directory is what a directory brings, and whether it may take effect.
type Folder struct {
	Path  string      `json:"path"`
	State trust.State `json:"state"`
	Hash  string      `json:"hash"`
	Parts trust.Parts `json:"parts"`
}

// String says it for people.
func (t Folder) String() string {
	said := map[trust.State]string{
		trust.Trusted: "is trusted", trust.Changed: "has changed since you trusted it", trust.Unknown: "is not trusted",
	}
	return fmt.Sprintf("%s %s.\n%s", trust.Plain(t.Path), said[t.State], t.Parts.Show())
}

// LookAt says what a directory would enable and whether it is trusted. Nothing of
// the directory's is run or takes effect by this. A linked worktree is trusted with
// the directory that it was made from, if that repository names it as its own and
// what could run something is the same in both. A worktree never is.
func (s *Safety) LookAt(ctx context.Context, dir string) (Folder, error) {
	t := Folder{State: trust.Unknown}
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
	case errors.Is(err, pawl.ErrNotFound), errors.Is(err, pawl.ErrDenied): // no git, no repository, or one that is not to be believed
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

// Trust is where trust is kept.
func (s *Safety) Trust() trust.Store { return s.trust }

// Trusted reports whether what a directory brings may take effect. What cannot be
// told is not trusted.
func (s *Safety) Trusted(dir string) bool {
	p, err := s.projects.of(context.Background(), s, dir, false)
	return err == nil && p.trusted
}

// LookAgain has each directory looked at anew when it is asked about next. It is for
// who acts upon what may have come to a directory just now: what was looked at a
// moment ago does not vouch for it.
func (s *Safety) LookAgain() {
	if weak.On("skill.anew") {
		return
	}
	s.projects.mu.Lock()
	defer s.projects.mu.Unlock()
	for dir, k := range s.projects.known {
		k.at = time.Time{}
		s.projects.known[dir] = k
	}
}

// Instructs reports whether what a directory says to models may take effect: it is
// trusted, and no CI works there on a change that somebody proposes and that
// could say anything.
func (s *Safety) Instructs(dir string) bool { return baseRef("") == "" && s.Trusted(dir) }

// Project is a directory as the calls of a session in it know it, and the keys of
// its configuration that count for nothing. told is that the user has named it
// trusted.
func (s *Safety) Project(ctx context.Context, dir string, told bool) (Folder, []config.Ignored, error) {
	p, err := s.projects.of(ctx, s, dir, told)
	return p.folder, p.ignored, err
}

// project is a directory as far as it may configure pawl.
type project struct {
	folder  Folder // not looked at if the user has said that it is trusted
	trusted bool
	rules   []permission.Rule
	hooks   hookList
	servers []ServerFile
	ignored []config.Ignored
}

// projects are what is known of directories. To look at one takes a while, so that
// is done anew only after a time, or when the user trusts another directory.
type projects struct {
	mu    sync.Mutex
	known map[string]knownProject
}

type knownProject struct {
	project
	told  bool // the user has said for this run that it is trusted
	stamp stamp
	at    time.Time
}

// lookAgain is how long a directory is taken for what it was.
const lookAgain = time.Minute

// of returns what is known of a directory. told is that the user has named it
// trusted for this run, which stays.
func (ps *projects) of(ctx context.Context, s *Safety, dir string, told bool) (project, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return project{}, err
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	k, ok := ps.known[dir]
	told = (told || k.told) && !forbidsTrust(dir)
	if now := stampOf(s.trustOf(dir).Path); ok && k.told == told && k.stamp.same(now) && time.Since(k.at) < lookAgain {
		return k.project, nil
	}
	k = knownProject{told: told, stamp: stampOf(s.trustOf(dir).Path), at: time.Now()}
	if k.project, err = s.loadProject(ctx, dir, told); err != nil {
		return project{}, err
	}
	if ps.known == nil {
		ps.known = map[string]knownProject{}
	}
	ps.known[dir] = k
	return k.project, nil
}

// loadProject reads what a directory says, if it is trusted.
func (s *Safety) loadProject(ctx context.Context, dir string, told bool) (project, error) {
	p := project{trusted: told || weak.On("trust")}
	if !p.trusted {
		var err error
		if p.folder, err = s.LookAt(ctx, dir); err != nil {
			return p, fmt.Errorf("look at what the folder brings: %w", err)
		}
		p.trusted = p.folder.State == trust.Trusted
	}
	if !p.trusted {
		return p, nil
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
