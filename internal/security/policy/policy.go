// Package policy combines what limits a session: the user's and the administrator's
// configuration, grants, the trust in a project, the sandbox and its network proxy.
// It provides the permission policy for tool calls and the sandbox for commands.
package policy

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/security/egress"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/security/trust"
	"github.com/pawl-dev/pawl/internal/workspace/transaction"
)

// Safety determines what sessions may do, and creates the sandboxes for their
// commands. It reads its configuration files again when they change.
type Safety struct {
	Guard *egress.Guard // which addresses may be reached at all

	// Builtins configures pawl's built-in hooks.
	Builtins hook.Builtins

	// Allow is called with everything that people allow in a directory, before it takes
	// effect, so that it can move to other hosts with the directory (see Adopt). It is
	// nil if there are no other hosts.
	Allow func(ctx context.Context, dir, text string) error

	// Whole means that the worktrees of missions have their own git objects, because
	// their repository may be on another host.
	Whole bool

	detect func(context.Context) (sandbox.Backend, sandbox.Report) // finds the sandbox of this machine
	home   string
	dirs   privateDirs
	views  views

	transactions *transaction.Store // of commands

	user    cached[config.User]
	given   cached[[]permission.Grant]
	managed cached[config.Managed]

	grants   permission.Store
	trust    trust.Store
	apart    string     // where each directory has its own grants and trust, if it may move to other hosts
	allowing sync.Mutex // held while grants or trust change
	projects projects
	activity hook.Activity
}

// Open returns the Safety of this user on this machine.
func Open() (*Safety, error) {
	s := &Safety{Guard: &egress.Guard{}, detect: sandbox.Detect}
	data, err := config.Data()
	if err != nil {
		return nil, err
	}
	cache, err := config.Cache()
	if err != nil {
		return nil, err
	}
	if s.home, err = os.UserHomeDir(); err != nil {
		return nil, fmt.Errorf("find the home directory: %w", err)
	}
	s.grants = permission.Store{Path: filepath.Join(data, "grants.json")}
	s.trust = trust.Store{Path: filepath.Join(data, "trust.json")}
	s.apart = filepath.Join(data, "allowed")
	s.dirs = privateDirs{cache: cache}
	transactions, err := config.Transactions()
	if err != nil {
		return nil, err
	}
	s.transactions = transaction.Open(transactions)
	return s, nil
}

// Grants returns the store of grants.
func (s *Safety) Grants() permission.Store { return s.grants }

// User returns the user's current configuration.
func (s *Safety) User() (config.User, error) {
	path, err := config.UserFile()
	if err != nil {
		return config.User{}, err
	}
	return s.user.get(path, config.LoadUser)
}

// Policy returns the current permission policy for the calls of a session in a
// directory.
func (s *Safety) Policy(ctx context.Context, id pawl.SessionID, dir string, settings pawl.Settings) (permission.Policy, error) {
	p := permission.Policy{Home: s.home, Session: id, Absent: settings.Absent}
	user, err := s.User()
	if err != nil {
		return p, err
	}
	if p.Dir, err = filepath.EvalSymlinks(dir); err != nil {
		return p, err
	}
	if err := s.CheckDirs(p.Dir, settings.AddDirs); err != nil {
		return p, err
	}
	p.Dirs = settings.AddDirs
	if err := s.chooseMode(ctx, &p, cmp.Or(settings.Mode, user.Permissions.Mode)); err != nil {
		return p, err
	}
	if p.Rules, err = s.rules(user.Permissions.Rules, p.Dir); err != nil {
		return p, err
	}
	for _, host := range user.Sandbox.Network {
		p.Rules = append(p.Rules, permission.Rule{Tool: "bash", Kind: pawl.AccessNet, Pattern: host, Decision: permission.Allow, Origin: permission.OriginUser})
	}
	p.Rules = append(p.Rules, secretFiles...)
	own, err := ownRules(p.Dir)
	if err != nil {
		return p, err
	}
	p.Rules = append(p.Rules, own...)
	if p.TrustedOwners, err = s.trustedOwners(user); err != nil {
		return p, err
	}
	known, err := s.projects.of(ctx, s, dir, settings.Trusted)
	if err != nil {
		return p, err
	}
	p.Rules = append(p.Rules, known.rules...)
	if err := s.manage(&p); err != nil {
		return p, err
	}
	place, worker, err := s.Worktree(dir)
	if worker && err == nil {
		err = place.confine(&p)
	}
	if err != nil {
		return p, err
	}
	p.Review = p.Mode == permission.ModeAsk && !worker && s.reviewProblem(ctx, append([]string{p.Dir}, p.Dirs...), user.Sandbox) == nil
	p.Direct = p.Sandboxed && !worker && s.direct(ctx, p.Dir)
	grants := s.grantsOf(p.Dir)
	if p.Grants, err = s.given.get(grants.Path, grants.List); err != nil {
		return p, err
	}
	return p, nil
}

// chooseMode sets the mode: the chosen one or, by default, guard with a sandbox and
// ask without.
func (s *Safety) chooseMode(ctx context.Context, p *permission.Policy, chosen string) (err error) {
	if chosen != string(permission.ModeYolo) {
		backend, _ := s.detect(ctx)
		p.Sandboxed = backend.Name() != "none"
	}
	if chosen == "" {
		chosen = string(permission.ModeAsk)
		if p.Sandboxed {
			chosen = string(permission.ModeGuard)
		}
	}
	p.Mode, err = permission.ParseMode(chosen)
	return err
}
