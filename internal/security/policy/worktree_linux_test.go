package policy

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/security/trust"
)

// worktrees returns the worktrees one and two of a repository, and the directory
// that they are in.
func worktrees(t *testing.T) (s *Safety, repo *git.Repo, top string) {
	t.Helper()
	s, dir, _ := open(t)
	gitIn(t, dir, "init", "-q", ".")
	gitIn(t, dir, "commit", "-q", "--allow-empty", "-m", "first")
	repo, err := openRepo(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if top, err = s.Allot(repo); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		place := filepath.Join(top, name)
		if err := errors.Join(os.MkdirAll(place, 0o700), repo.Borrow(place, "work", gitIn(t, dir, "rev-parse", "HEAD")), admitUnguarded(place)); err != nil {
			t.Fatal(err)
		}
	}
	return s, repo, top
}

// TestWorktree: a worktree is recognized by its path alone.
func TestWorktree(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, repo, top := worktrees(t)
	allotted := Allotment{Objects: []string{filepath.Join(repo.Common, "objects")}, Apart: []string{repo.Top, repo.Common}}
	all := filepath.Dir(top)
	for _, dir := range []string{"one/sub", ".making-1", "../none/one"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link, beside := filepath.Join(repo.Top, "link"), all+"-beside"
	if err := errors.Join(os.Symlink(filepath.Join(top, "one"), link), os.MkdirAll(filepath.Join(beside, "a/b"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, dir, want string
		err             error
	}{
		{"a worktree", filepath.Join(top, "one"), filepath.Join(top, "one"), nil},
		{"in one", filepath.Join(top, "one/sub"), filepath.Join(top, "one"), nil},
		{"by a link", link, filepath.Join(top, "one"), nil},
		{"spelled otherwise", top + "/two/../one/", filepath.Join(top, "one"), nil},
		{"the user's", repo.Top, "", nil},
		{"beside", beside + "/a/b", "", nil},
		{"the data folder", filepath.Dir(all), "", nil},
		{"all", all, "", pawl.ErrDenied},
		{"those of a repository", top, "", pawl.ErrDenied},
		{"one that is made", filepath.Join(top, ".making-1"), "", pawl.ErrDenied},
		{"nothing allotted", filepath.Join(all, "none/one"), "", pawl.ErrDenied},
	} {
		w, ok, err := s.Worktree(tt.dir)
		if ok != (tt.want != "") || !errors.Is(err, tt.err) {
			t.Errorf("%s: %v, %v", tt.name, ok, err)
		}
		if want := (Worktree{tt.want, allotted}); ok {
			if diff := cmp.Diff(want, w); diff != "" {
				t.Errorf("%s: %s", tt.name, diff)
			}
		}
		if _, err := s.Policy(t.Context(), session, tt.dir, pawl.Settings{}); !errors.Is(err, tt.err) {
			t.Errorf("%s: the policy: %v", tt.name, err)
		}
		if _, err := s.Profile(t.Context(), tt.dir); !errors.Is(err, tt.err) {
			t.Errorf("%s: the profile: %v", tt.name, err)
		}
	}
	for _, text := range []string{`{"objects":["/"],"more":1}`, `{`, ""} {
		if err := os.WriteFile(top+".json", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := s.Worktree(filepath.Join(top, "one")); ok || !errors.Is(err, pawl.ErrDenied) {
			t.Errorf("%q counts: %v", text, err)
		}
	}
	if err := errors.Join(os.WriteFile(top+".json", []byte(`{"objects":["/"],"apart":[]}`), 0o600), os.Chmod(top+".json", 0o644)); err != nil { //nolint:gosec // others may read it, so it counts for nothing
		t.Fatal(err)
	}
	if _, ok, err := s.Worktree(filepath.Join(top, "one")); ok || !errors.Is(err, pawl.ErrDenied) {
		t.Errorf("a file that others may read counts: %v", err)
	}
}

// TestAllot: a repository's objects are its own and those that it borrows.
func TestAllot(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, repo, top := worktrees(t)
	base := filepath.Dir(repo.Top)
	at := func(name string) string { return filepath.Join(base, name) }
	own := filepath.Join(repo.Common, "objects")
	for _, name := range []string{"a", "b"} {
		if err := os.MkdirAll(at(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  []string
		err   error
	}{
		{"none", nil, []string{own}, nil},
		{"a chain", map[string]string{own: "# mine\n\n" + at("a") + "\n" + at("gone") + "\n", at("a"): "../b\n"}, []string{own, at("a"), at("b")}, nil},
		{"a ring", map[string]string{own: at("a") + "\n", at("a"): own + "\n" + at("a") + "\n"}, []string{own, at("a")}, nil},
		{"another worktree's", map[string]string{own: filepath.Join(top, "two/.git/objects") + "\n"}, nil, pawl.ErrDenied},
		{"what holds all of them", map[string]string{own: base + "\n"}, nil, pawl.ErrDenied},
		{"in quotes", map[string]string{own: `"` + at("a") + `"` + "\n"}, nil, pawl.ErrInvalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for dir, text := range tt.files {
				putFile(t, filepath.Join(dir, "info/alternates"), text)
				t.Cleanup(func() { _ = os.Remove(filepath.Join(dir, "info/alternates")) })
			}
			got, err := s.Allot(repo)
			if !errors.Is(err, tt.err) {
				t.Fatalf("%v", err)
			}
			if err != nil {
				return
			}
			w, ok, err := s.Worktree(filepath.Join(got, "one"))
			if err != nil || !ok || got != top {
				t.Fatalf("%s, %v, %v", got, ok, err)
			}
			if diff := cmp.Diff(tt.want, w.Objects); diff != "" {
				t.Error(diff)
			}
		})
	}
	s.home = filepath.Join(repo.Top, "home") // a home directory that is a repository
	if _, err := s.Allot(repo); err != nil {
		t.Fatal(err)
	}
	if w, _, err := s.Worktree(filepath.Join(top, "one")); err != nil || !cmp.Equal(w.Apart, []string{repo.Common}) {
		t.Errorf("%v, %v", w.Apart, err)
	}
}

// TestWorktreeProfile: a command in a worktree sees that, the objects, and what
// programs the user has in the repository.
func TestWorktreeProfile(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, repo, top := worktrees(t)
	base := filepath.Dir(repo.Top)
	for _, dir := range []string{".venv/bin", "bin", "tools", "node_modules/.bin"} {
		if err := os.MkdirAll(filepath.Join(repo.Top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", os.Getenv("PATH")+":"+filepath.Join(repo.Top, dir))
	}
	configure(t, `{"sandbox":{"writable":["`+repo.Top+`/tools","`+top+`","`+base+`/outside"],"readable":["`+repo.Top+`","`+base+`/outside"]}}`)
	p, err := s.Profile(t.Context(), filepath.Join(top, "one"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{base + "/cache", base + "/data", repo.Top, repo.Common}, p.Apart); diff != "" {
		t.Error(diff)
	}
	want := []string{base + "/outside"}
	for _, name := range []string{".git/objects", ".venv", "bin", "tools", "node_modules"} {
		want = append(want, filepath.Join(repo.Top, name))
	}
	if diff := cmp.Diff(want, p.Readable); diff != "" {
		t.Error(diff)
	}
	cache, err := s.dirs.private("box", ownerOf(ownerPerson, p.Dir), "files")
	if diff := cmp.Diff([]string{base + "/outside"}, p.Writable); diff != "" || err != nil || p.CacheHome != cache {
		t.Error(diff, err, p.CacheHome)
	}
}

// TestWorktreeTrust: nothing that a worktree brings takes effect, whoever says
// that it may.
func TestWorktreeTrust(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, _, top := worktrees(t)
	dir := filepath.Join(top, "one")
	put(t, dir, ".pawl/config.json", `{"hooks":{"Stop":[{"command":"true"}]},"permissions":{"rules":[{"kind":"read","pattern":"x","decision":"deny"}]}}`)
	put(t, dir, ".mcp.json", `{"mcpServers":{"evil":{"command":"true"}}}`)
	seen, err := s.LookAt(t.Context(), dir)
	if err != nil || len(seen.Parts) < 2 {
		t.Fatalf("%+v, %v", seen, err)
	}
	if err := s.Trust().Trust(seen.Path, seen.Hash, time.Now()); err != nil {
		t.Fatal(err)
	}
	if seen, err = s.LookAt(t.Context(), dir); err != nil || seen.State != trust.Unknown {
		t.Errorf("it is %s, %v", seen.State, err)
	}
	settings := pawl.Settings{Trusted: true}
	before := policy(t, s, dir, pawl.Settings{})
	if diff := cmp.Diff(before, policy(t, s, dir, settings)); diff != "" {
		t.Errorf("the policy: %s", diff)
	}
	if hooks, _, err := s.HookCommands(t.Context(), dir, settings); err != nil || len(hooks) > 0 {
		t.Errorf("hooks: %v, %v", hooks, err)
	}
	if servers, err := s.Servers(t.Context(), dir, true); err != nil || len(servers) > 0 {
		t.Errorf("servers: %v, %v", servers, err)
	}
	if s.Trusted(dir) || s.Instructs(dir) {
		t.Error("it is trusted")
	}
}

// TestWorkersAreBoxed: a worker's commands run in a sandbox or not at all.
func TestWorkersAreBoxed(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, _, top := worktrees(t)
	configure(t, `{"permissions":{"rules":[{"kind":"escape","pattern":"true","decision":"allow"},{"kind":"exec","pattern":"true","decision":"allow"}]}}`)
	dir := filepath.Join(top, "one")
	if _, err := s.Policy(t.Context(), session, dir, pawl.Settings{Mode: "yolo"}); !errors.Is(err, pawl.ErrDenied) {
		t.Errorf("the mode yolo: %v", err)
	}
	p := policy(t, s, dir, pawl.Settings{Mode: "guard"})
	if got := decide(p, "bash", pawl.Access{Kind: pawl.AccessEscape, Target: "true"}); got != permission.Deny {
		t.Errorf("without its sandbox: %s", got)
	}
	if got := decide(p, "bash", pawl.Access{Kind: pawl.AccessExec, Target: "true"}); got != permission.Allow {
		t.Errorf("in its sandbox: %s", got)
	}
	r := sandbox.Request{Session: session, Workspace: dir, Dir: dir, Mode: "guard", Args: []string{"true"}}
	for _, change := range []func(*sandbox.Request){func(r *sandbox.Request) { r.Escape = true }, func(r *sandbox.Request) { r.Mode = "yolo" }} {
		r := r
		change(&r)
		if w, err := s.Wrap(t.Context(), r); !errors.Is(err, pawl.ErrDenied) {
			t.Errorf("%+v: %q, %v", r, w.Args, err)
		}
	}
	s.detect = func(context.Context) (sandbox.Backend, sandbox.Report) {
		return sandbox.None{Why: "a test"}, sandbox.Report{}
	}
	if got := decide(policy(t, s, dir, pawl.Settings{Mode: "guard"}), "bash", pawl.Access{Kind: pawl.AccessExec, Target: "true"}); got != permission.Deny {
		t.Errorf("where there is none: %s", got)
	}
	if w, err := s.Wrap(t.Context(), r); !errors.Is(err, sandbox.ErrNoSandbox) {
		t.Errorf("it would run: %q, %v", w.Args, err)
	}
	if w, err := s.WrapServer(t.Context(), dir, dir, []string{"true"}, nil); !errors.Is(err, sandbox.ErrNoSandbox) {
		t.Errorf("a language server would run: %q, %v", w.Args, err)
	}
}

// TestAdmit: a worktree that comes to a host where its repository is not may be
// worked in, apart from the mission's directory should that come too. What the host has
// allotted itself stays.
func TestAdmit(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, repo, top := worktrees(t)
	find := func(id pawl.SessionID) (string, error) {
		if id != "ONE" {
			t.Errorf("it asks for %s", id)
		}
		return repo.Top, nil
	}
	one := filepath.Join(top, "one")
	allotted := func(want Allotment) {
		t.Helper()
		if err := s.Admit(one, find); err != nil {
			t.Fatal(err)
		}
		w, ok, err := s.Worktree(one)
		if diff := cmp.Diff(want, w.Allotment); diff != "" || !ok || err != nil {
			t.Errorf("allotted is, %v, %v (-want +got):\n%s", ok, err, diff)
		}
	}
	allotted(Allotment{Objects: []string{filepath.Join(repo.Common, "objects")}, Apart: []string{repo.Top, repo.Common}})
	s.Whole = true
	if _, err := s.Allot(repo); err != nil {
		t.Fatal(err)
	}
	allotted(Allotment{Objects: []string{}, Apart: []string{repo.Top, repo.Common}})
	if err := os.Remove(top + ".json"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Worktree(one); !errors.Is(err, pawl.ErrDenied) {
		t.Errorf("nothing is allotted, and it is %v", err)
	}
	allotted(Allotment{Objects: []string{}, Apart: []string{repo.Top}})
	if err := s.Admit(repo.Top, nil); err != nil {
		t.Errorf("a folder that is no worktree: %v", err)
	}
}
