package policy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/security/egress/proxy"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/workspace/transaction"
)

// hiddenNames are files of a workspace that are hidden from commands, and that tools
// need approval to read. Examples for committing (.env.example) are not among them.
var hiddenNames = []string{
	".env", ".env.local", ".env.*.local", ".env.dev", ".env.development", ".env.stage", ".env.staging", ".env.prod", ".env.production", ".env.secret*",
}

// secretFiles are the rules that make tools ask before they read hiddenNames.
var secretFiles = func() []permission.Rule {
	var rules []permission.Rule
	for _, name := range hiddenNames {
		rules = append(rules, permission.Rule{Kind: pawl.AccessRead, Pattern: "**/" + name, Decision: permission.Ask, Origin: permission.OriginPawl})
	}
	return rules
}()

// toolVariables are environment variables that locate tools and certificates. None
// contains a key.
var toolVariables = []string{
	"GOPATH", "GOROOT", "GOTOOLCHAIN", "CARGO_HOME", "RUSTUP_HOME", "JAVA_HOME", "NVM_DIR", "PYENV_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO", "CI",
}

// Wrap puts a command of a session into its sandbox. In yolo mode, and with a
// person's approval, it runs without a sandbox, but still without pawl's keys.
func (s *Safety) Wrap(ctx context.Context, r sandbox.Request) (sandbox.Wrapped, error) {
	worker, err := s.sandboxOnly(r.Workspace)
	if err != nil {
		return sandbox.Wrapped{}, err
	}
	if r.Escape || r.Mode == string(permission.ModeYolo) {
		if worker {
			return sandbox.Wrapped{}, fault.New(pawl.ErrDenied, "commands of a mission worker cannot run outside the sandbox")
		}
		env, err := s.openEnv()
		return sandbox.Unwrapped(r.Args, env), err
	}
	p, err := s.sessionProfile(ctx, r.Workspace, r.Dirs, r.Session)
	if err != nil {
		return sandbox.Wrapped{}, err
	}
	p.Work, p.ReadOnly, p.Pass = r.Dir, r.Mode == string(permission.ModePlan), proc.Marks()
	user, err := s.User()
	if err != nil {
		return sandbox.Wrapped{}, err
	}
	hosts := slices.Concat(user.Sandbox.Network, r.Network)
	wrap := func(p sandbox.Profile) (sandbox.Wrapped, error) {
		return s.withCaches(ctx, p, !r.Job, func(p sandbox.Profile) (sandbox.Wrapped, error) {
			return s.wrapOut(ctx, r.Args, p, r.Sandboxed || worker, hosts)
		})
	}
	if p.ReadOnly {
		if !worker || r.Job {
			return wrap(p)
		}
		return s.withDroppedView(ctx, p, wrap)
	}
	begin := s.withView
	if r.Job {
		begin = s.withJobView
	}
	w, all, err := begin(ctx, p, wrap)
	if err != nil {
		return w, err
	}
	outside := slices.Concat(hosts, p.Writable, w.Repository)
	if r.Review && (len(all) == 0 || len(outside) > 0) {
		w.Close()
		return sandbox.Wrapped{}, fault.New(pawl.ErrDenied, "not run: %w", errUnreviewable)
	}
	if len(all) == 0 {
		return w, nil
	}
	if err := s.transactions.Record(transaction.Call{Session: r.Session, ID: r.Call}, outside, all...); err != nil {
		w.Close()
		return sandbox.Wrapped{}, err
	}
	return w, nil
}

// wrapOut is wrap with a proxy to the hosts, if there are any.
func (s *Safety) wrapOut(ctx context.Context, args []string, p sandbox.Profile, boxed bool, hosts []string) (sandbox.Wrapped, error) {
	if len(hosts) == 0 {
		return s.wrap(ctx, args, p, boxed)
	}
	way, err := s.WayOut(hosts, func(proxy.Decision) {})
	if err != nil {
		return sandbox.Wrapped{}, err
	}
	p.ProxySocket = way.Socket()
	w, err := s.wrap(ctx, args, p, boxed)
	if err != nil {
		return w, errors.Join(err, way.Close())
	}
	w.OnClose(func() { _ = way.Close() }) // nobody uses it any more
	return w, nil
}

// WayOut opens a proxy to the hosts, and to no others. Its socket is hidden from all
// sandboxes, including those that were started before.
func (s *Safety) WayOut(hosts []string, decided func(proxy.Decision)) (*proxy.Proxy, error) {
	data, err := config.Data()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	p, err := proxy.Open(proxy.Config{Dir: data, Guard: s.Guard, Hosts: hosts, Decided: decided})
	if err != nil {
		return nil, fmt.Errorf("open a proxy to %s: %w", strings.Join(hosts, ", "), err)
	}
	return p, nil
}

// WrapServer puts a language server into a sandbox that only reads the workspace: it reads
// what a model wrote, and many run code of the project.
func (s *Safety) WrapServer(ctx context.Context, dir, root string, args, env []string) (sandbox.Wrapped, error) {
	p, err := s.ownerProfile(ctx, dir, ownerServer)
	if err != nil {
		return sandbox.Wrapped{}, err
	}
	worker, err := s.sandboxOnly(dir)
	if err != nil {
		return sandbox.Wrapped{}, err
	}
	p.Work, p.ReadOnly, p.Pass = root, true, proc.Marks()
	return s.withCaches(ctx, p, true, func(p sandbox.Profile) (sandbox.Wrapped, error) {
		p.Env = slices.Concat(p.Env, []string{"CARGO_TARGET_DIR=" + filepath.Join(p.CacheHome, "cargo-target")}, env)
		return s.wrap(ctx, args, p, worker)
	})
}

func (s *Safety) wrap(ctx context.Context, args []string, p sandbox.Profile, boxed bool) (sandbox.Wrapped, error) {
	backend, _ := s.detect(ctx)
	w, err := backend.Wrap(args, p)
	if errors.Is(err, sandbox.ErrNoSandbox) && !boxed && len(p.Views) == 0 {
		// A person has approved it: see permission.Policy.Sandboxed.
		env, err := s.openEnv()
		return sandbox.Unwrapped(args, env), err
	}
	if err != nil {
		return w, fmt.Errorf("the command cannot run in the sandbox: %w", err)
	}
	return w, nil
}

// Profile returns what a command of a person may access in a workspace.
func (s *Safety) Profile(ctx context.Context, dir string) (sandbox.Profile, error) {
	return s.ownerProfile(ctx, dir, ownerPerson)
}

// ownerProfile returns what a command may access in a workspace, with the caches of an
// owner that is no session.
func (s *Safety) ownerProfile(ctx context.Context, dir, kind string) (sandbox.Profile, error) {
	p, err := s.profile(ctx, dir, nil)
	if err == nil {
		err = s.useCaches(&p, ownerOf(kind, p.Dir))
	}
	return p, err
}

// sessionProfile returns what a command of a session may access in a workspace. Its
// temporary files and caches are invisible to other sessions.
func (s *Safety) sessionProfile(ctx context.Context, dir string, more []string, id pawl.SessionID) (sandbox.Profile, error) {
	p, err := s.profile(ctx, dir, more)
	if err != nil {
		return p, err
	}
	if p.Temp, err = s.dirs.temp(id); err != nil {
		return p, err
	}
	return p, s.useCaches(&p, string(id))
}

// profile returns what a command may access in a workspace. Pawl's log, keys,
// configuration and the files of other sandboxes are hidden; in the worktree of a
// mission, so are the other worktrees and the repository. more are further project
// directories.
func (s *Safety) profile(ctx context.Context, dir string, more []string) (sandbox.Profile, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return sandbox.Profile{}, err
	}
	user, err := s.User()
	if err != nil {
		return sandbox.Profile{}, err
	}
	place, worker, err := s.Worktree(dir)
	if err != nil {
		return sandbox.Profile{}, err
	}
	if err := s.CheckDirs(dir, more); err != nil {
		return sandbox.Profile{}, err
	}
	p := sandbox.Profile{
		Dir: dir, Dirs: more, Env: slices.Concat(toolVariables, user.Sandbox.Env), Apart: []string{s.dirs.cache},
		Hidden: slices.Concat(hiddenNames, user.Sandbox.Hidden), Writable: directories(user.Sandbox.Writable), Readable: existing(user.Sandbox.Readable),
	}
	own, err := ownFiles()
	if err != nil {
		return p, err
	}
	denied, err := s.denied(ctx, dir, more)
	if err != nil {
		return p, err
	}
	p.Hidden = append(p.Hidden, denied...)
	if !worker {
		p.Hidden = append(p.Hidden, own...)
	} else {
		g, _, err := s.guardsOf(dir)
		if err != nil {
			return p, err
		}
		place.enclose(&p, own)
		p.Readable = append(p.Readable, g.readable()...)
	}
	p.Readable = append(p.Readable, s.userSkills(append([]string{dir}, more...))...)
	return p, nil
}

// directories returns the paths that are directories.
func directories(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || !info.IsDir()
	})
}

// existing returns the paths that exist.
func existing(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		_, err := os.Stat(path)
		return err != nil
	})
}

// ownFiles returns pawl's data and configuration files.
func ownFiles() ([]string, error) {
	data, err := config.Data()
	if err != nil {
		return nil, err
	}
	user, err := config.UserFile()
	if err != nil {
		return nil, err
	}
	userDir, err := config.UserFolder()
	if err != nil {
		return nil, err
	}
	store, err := config.Store()
	if err != nil {
		return nil, err
	}
	own := []string{data, user, userDir}
	if at := filepath.Dir(user); filepath.Base(at) == "pawl" && at != userDir {
		own = append(own, at)
	}
	if path := strings.TrimPrefix(store, "sqlite:"); !strings.Contains(path, "://") {
		own = append(own, path, path+"-wal", path+"-shm", filepath.Join(filepath.Dir(path), "blobs"))
	}
	for i, path := range own {
		if own[i], err = filepath.Abs(path); err != nil {
			return nil, err
		}
	}
	return own, nil
}

// End removes the temporary files and caches of a session.
func (s *Safety) End(id pawl.SessionID) { s.dirs.drop(id) }

// Close releases the resources of all sandboxes.
func (s *Safety) Close() { sandbox.Release() }

// openEnv returns pawl's environment without variables that look like keys, for
// commands that run without a sandbox.
func (s *Safety) openEnv() ([]string, error) {
	user, err := s.User()
	if err != nil {
		return nil, err
	}
	var env []string
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); !secretName(name) || slices.Contains(user.Sandbox.Env, name) {
			env = append(env, entry)
		}
	}
	return env, nil
}

// secretName reports whether a variable's name suggests that it contains a key.
func secretName(name string) bool {
	name = strings.ToUpper(name)
	for _, word := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "AUTHORIZATION"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return strings.HasPrefix(name, "AWS_") && name != "AWS_REGION" && name != "AWS_DEFAULT_REGION"
}

// WrapCheck puts a check of a gate into a sandbox. It returns an error if there is
// no sandbox.
func (s *Safety) WrapCheck(ctx context.Context, args []string, p sandbox.Profile, hosts []string) (sandbox.Wrapped, error) {
	own, err := ownFiles()
	if err != nil {
		return sandbox.Wrapped{}, err
	}
	p.Pass, p.Env, p.Hidden = proc.Marks(), slices.Concat(toolVariables, p.Env), append(p.Hidden, own...)
	p.Apart = append(p.Apart, s.dirs.cache)
	return s.wrapOut(ctx, args, p, true, hosts)
}
