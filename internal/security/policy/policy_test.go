package policy

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

const session pawl.SessionID = "01JD0000000000000000000000"

func policy(t *testing.T, s *Safety, dir string, settings pawl.Settings) permission.Policy {
	t.Helper()
	p, err := s.Policy(t.Context(), session, dir, settings)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func decide(p permission.Policy, tool string, a ...pawl.Access) permission.Decision {
	return permission.Decide(p, permission.Call{Tool: tool, Risk: toolapi.RiskDangerous, Access: a}).Decision
}

func configure(t *testing.T, text string) {
	t.Helper()
	put(t, os.Getenv("XDG_CONFIG_HOME"), "pawl/pawl.json", text)
}

// TestMode: the prompt's mode, or the user's, or guard where there is a sandbox.
func TestMode(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, dir, _ := open(t)
	if got := policy(t, s, dir, pawl.Settings{}).Mode; got != permission.ModeGuard {
		t.Errorf("nobody has chosen: %s", got)
	}
	configure(t, `{"permissions":{"mode":"auto"}}`)
	if got := policy(t, s, dir, pawl.Settings{}).Mode; got != permission.ModeAuto {
		t.Errorf("the user has chosen: %s", got)
	}
	if got := policy(t, s, dir, pawl.Settings{Mode: "plan"}).Mode; got != permission.ModePlan {
		t.Errorf("the prompt says: %s", got)
	}
	configure(t, `{"permissions":{"mode":"loose"}}`)
	if _, err := s.Policy(t.Context(), session, dir, pawl.Settings{}); err == nil {
		t.Error("an unknown mode is taken")
	}
	configure(t, `{"permissions":`)
	if _, err := s.Policy(t.Context(), session, dir, pawl.Settings{Mode: "ask"}); err == nil {
		t.Error("a configuration that cannot be read is passed over")
	}
}

// TestSecretFiles: what is hidden from commands is asked for by tools.
func TestSecretFiles(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, dir, _ := open(t)
	p := policy(t, s, dir, pawl.Settings{})
	for path, want := range map[string]permission.Decision{
		".env": permission.Ask, "a/b/.env.local": permission.Ask, ".ENV": permission.Ask, ".env.x.local": permission.Ask,
		".env.example": permission.Allow, "env": permission.Allow, "main.go": permission.Allow,
	} {
		if got := decide(p, "read", pawl.Access{Kind: pawl.AccessRead, Target: path}); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// TestGrant: what a person permits permanently is kept for the directory, and only
// what may be granted is.
func TestGrant(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, dir, outside := open(t)
	access := pawl.Access{Kind: pawl.AccessExec, Target: "go vet"}
	ask := pawl.Settings{Mode: "ask"}
	if got := decide(policy(t, s, dir, ask), "bash", access); got != permission.Ask {
		t.Fatalf("got %s", got)
	}
	if err := s.SaveRules(t.Context(), dir, "", []json.RawMessage{json.RawMessage(`{"tool":"bash","pattern":"go vet","decision":"allow"}`)}); err != nil {
		t.Fatal(err)
	}
	if got := decide(policy(t, s, dir, ask), "bash", access); got != permission.Allow {
		t.Errorf("it was granted: %s", got)
	}
	if got := decide(policy(t, s, outside, ask), "bash", access); got != permission.Ask {
		t.Errorf("elsewhere: %s", got)
	}
	for _, rule := range []string{`{"tool":"bash","pattern":"bash *","decision":"allow"}`, `{"tool":"bash","patern":"ls","decision":"allow"}`, `{}`, `7`} {
		if err := s.SaveRules(t.Context(), dir, "", []json.RawMessage{json.RawMessage(rule)}); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%s: %v", rule, err)
		}
	}
}

// TestProject: a directory's rules count once it is trusted, and then only tighten.
func TestProject(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, dir, _ := open(t)
	put(t, dir, ".pawl/config.json", `{"mode":"yolo","permissions":{"rules":[{"tool":"bash","pattern":"make *","decision":"deny"},{"kind":"net","pattern":"evil.test","decision":"allow"}]}}`)
	run := pawl.Access{Kind: pawl.AccessExec, Target: "make x"}
	reach := pawl.Access{Kind: pawl.AccessNet, Target: "evil.test"}
	p := policy(t, s, dir, pawl.Settings{})
	if decide(p, "bash", run) != permission.Allow || s.Trusted(dir) {
		t.Error("the folder has a say, and nobody trusts it")
	}
	folder, err := s.LookAt(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Trust().Trust(folder.Path, folder.Hash, time.Now()); err != nil {
		t.Fatal(err)
	}
	p = policy(t, s, dir, pawl.Settings{})
	if decide(p, "bash", run) != permission.Deny || !s.Trusted(dir) {
		t.Error("it is trusted, and its rule does not count")
	}
	if decide(p, "bash", run, reach) != permission.Deny || decide(p, "webfetch", reach) != permission.Ask || p.Mode != permission.ModeGuard {
		t.Error("a project has loosened something")
	}
	if err := s.Trust().Revoke(dir); err != nil {
		t.Fatal(err)
	}
	if s.Trusted(dir) {
		t.Error("it is still trusted")
	}
	if decide(policy(t, s, dir, pawl.Settings{Trusted: true}), "bash", run) != permission.Deny {
		t.Error("for this run it was named trusted")
	}
}

// TestSandboxKeys: what the user names for commands reaches them.
func TestSandboxKeys(t *testing.T) {
	s, dir, outside := open(t)
	t.Setenv("MY_TOKEN", "x")
	t.Setenv("OTHER_TOKEN", "x")
	configure(t, `{"sandbox":{"network":["proxy.test"],"writable":[`+quote(outside)+`,"/nowhere/at/all"],"env":["MY_TOKEN"],"hidden":["*.pem"]}}`)
	p := policy(t, s, dir, pawl.Settings{})
	if got := decide(p, "bash", pawl.Access{Kind: pawl.AccessExec, Target: "ls"}, pawl.Access{Kind: pawl.AccessNet, Target: "proxy.test"}); got != permission.Allow {
		t.Errorf("the host is named: %s", got)
	}
	if got := decide(p, "bash", pawl.Access{Kind: pawl.AccessNet, Target: "other.test"}); got != permission.Ask {
		t.Errorf("another host: %s", got)
	}
	profile, err := s.Profile(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(profile.Writable, outside) || slices.Contains(profile.Writable, "/nowhere/at/all") || !slices.Contains(profile.Env, "MY_TOKEN") || !slices.Contains(profile.Hidden, "*.pem") {
		t.Errorf("%+v", profile)
	}
	w, err := s.Wrap(t.Context(), sandbox.Request{Session: session, Workspace: dir, Dir: dir, Mode: "yolo", Args: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if env := strings.Join(w.Env, "\n"); !strings.Contains(env, "MY_TOKEN=") || strings.Contains(env, "OTHER_TOKEN=") {
		t.Errorf("without a box it gets %s", env)
	}
}

// TestDeniedFiles: what the user's rules let nobody read is out of the sight of
// commands too.
func TestDeniedFiles(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, dir, _ := open(t)
	put(t, dir, "keys/a", "x")
	put(t, dir, "sub/secret.txt", "x")
	put(t, dir, "main.go", "x")
	configure(t, `{"permissions":{"rules":[{"kind":"read","pattern":"keys","decision":"deny"},{"kind":"read","pattern":"**/secret.txt","decision":"deny"},{"kind":"read","pattern":"~/private/","decision":"deny"},{"kind":"read","pattern":"/srv/*.key","decision":"deny"}]}}`)
	got, err := s.denied(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(s.home, "private"), filepath.Join(dir, "keys"), filepath.Join(dir, "sub/secret.txt")}
	if !slices.Equal(want, got) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// TestPrivateFolders: what others have put where pawl keeps a session's files is
// not used.
func TestPrivateFolders(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(path string) error{
		"a link":      func(path string) error { return os.Symlink(os.TempDir(), path) },
		"open to all": func(path string) error { return errors.Join(os.Mkdir(path, 0o700), os.Chmod(path, 0o777)) }, //nolint:gosec // the point
		"a file":      func(path string) error { return os.WriteFile(path, nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			f := privateDirs{cache: t.TempDir()}
			if err := plant(filepath.Join(f.cache, "tmp")); err != nil {
				t.Fatal(err)
			}
			if path, err := f.temp(session); err == nil {
				t.Errorf("got %s", path)
			}
		})
	}
	f := privateDirs{cache: t.TempDir()}
	if _, err := f.temp("../../x"); err == nil {
		t.Error("a session's name leads out")
	}
	path, err := f.temp(session)
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, "ro/file", "x")
	if err := os.Chmod(filepath.Join(path, "ro"), 0o500); err != nil { //nolint:gosec // a directory
		t.Fatal(err)
	}
	f.drop(session)
	if _, err := os.Stat(path); err == nil {
		t.Error("it was not removed")
	}
}

// TestNoSandbox: what was permitted for a sandbox does not run where none exists;
// what a person has permitted without one does.
func TestNoSandbox(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, dir, _ := open(t)
	s.detect = func(context.Context) (sandbox.Backend, sandbox.Report) {
		return sandbox.None{Why: "a test"}, sandbox.Report{}
	}
	r := sandbox.Request{Session: session, Workspace: dir, Dir: dir, Mode: "guard", Args: []string{"true"}, Sandboxed: true}
	if w, err := s.Wrap(t.Context(), r); !errors.Is(err, sandbox.ErrNoSandbox) {
		t.Errorf("got %+v, %v", w, err)
	}
	r.Sandboxed = false
	w, err := s.Wrap(t.Context(), r)
	if err != nil || !slices.Equal(w.Args, r.Args) {
		t.Errorf("got %+v, %v", w, err)
	}
	if w, err := s.WrapTools(t.Context(), dir, dir, []string{"true"}, nil); !errors.Is(err, sandbox.ErrNoSandbox) {
		t.Errorf("a folder's MCP server would run: %q, %v", w.Args, err)
	}
	if p := policy(t, s, dir, pawl.Settings{}); p.Sandboxed || p.Mode != permission.ModeAsk {
		t.Errorf("without a sandbox the mode is %s", p.Mode)
	}
}

// TestDeniedByTheProject: a trusted project's rules bind commands too.
func TestDeniedByTheProject(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, dir, _ := open(t)
	put(t, dir, "private/a", "x")
	put(t, dir, ".pawl/config.json", `{"permissions":{"rules":[{"kind":"read","pattern":"private","decision":"deny"}]}}`)
	if got, err := s.denied(t.Context(), dir, nil); err != nil || len(got) > 0 {
		t.Errorf("nobody trusts it: %q, %v", got, err)
	}
	policy(t, s, dir, pawl.Settings{Trusted: true})
	if got, err := s.denied(t.Context(), dir, nil); err != nil || !slices.Equal(got, []string{filepath.Join(dir, "private")}) {
		t.Errorf("got %q, %v", got, err)
	}
}
