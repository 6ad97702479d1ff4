package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/pawltest"
	"github.com/pawl-dev/pawl/internal/sectest"
)

// gitIn runs plain git, for a fixture.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e"}, args...)...) //nolint:gosec // the tests' own words
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func putFile(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestBaseRef: where a change is looked at, the project's configuration is that
// of what it is to be merged into. Row A11.
func TestBaseRef(t *testing.T) {
	const strict, loose = `{"permissions":{"rules":[1]}}`, `{"permissions":{"rules":[2]}}`
	base := t.TempDir()
	gitIn(t, base, "init", "-q", "-b", "main", ".")
	putFile(t, base+"/.pawl/config.json", strict)
	putFile(t, base+"/sub/.pawl/config.json", loose)
	gitIn(t, base, "add", ".")
	gitIn(t, base, "commit", "-qm", "base")
	commit := gitIn(t, base, "rev-parse", "HEAD")
	dir := filepath.Join(t.TempDir(), "clone")
	gitIn(t, base, "clone", "-q", base, dir)
	putFile(t, dir+"/.pawl/config.json", loose)
	gitIn(t, dir, "commit", "-qam", "proposed")
	gitIn(t, dir, "tag", "main") // names that the change can bring
	gitIn(t, dir, "branch", "origin/main", "HEAD")

	read := func(dir, ref string) string {
		t.Helper()
		source, err := projectSource(t.Context(), dir, ref)
		if err != nil {
			t.Fatal(err)
		}
		p, _, err := config.LoadProject(source)
		if err != nil {
			t.Fatal(err)
		}
		return string(p.Rules)
	}
	for ref, want := range map[string]string{"": "[2]", "main": "[1]", "refs/remotes/origin/main": "[1]", commit: "[1]", "refs/heads/main": "[2]"} {
		if got := read(dir, ref); got != want {
			t.Errorf("from %q: %s, want %s", ref, got, want)
		}
	}
	if got := read(filepath.Join(dir, "sub"), "main"); got != "[2]" {
		t.Errorf("below the top: %s", got)
	}
	gitIn(t, base, "rm", "-rq", ".pawl")
	gitIn(t, base, "commit", "-qm", "without")
	gitIn(t, dir, "fetch", "-q")
	if got := read(dir, "main"); got != "" {
		t.Errorf("the base has none, and the change's is taken: %s", got)
	}
	for _, ref := range []string{"none", "--output=x", "main~1", "a:b"} {
		if _, err := projectSource(t.Context(), dir, ref); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%q: %v", ref, err)
		}
	}
	for name, tt := range map[string]struct{ ci, base, named, want string }{
		"at home":       {"", "main", "", ""},
		"a push":        {"true", "", "", ""},
		"a change":      {"true", "main", "", "main"},
		"one is named":  {"true", "main", "v1", "v1"},
		"named at home": {"", "", "v1", "v1"},
	} {
		t.Setenv("CI", tt.ci)
		t.Setenv("GITHUB_BASE_REF", tt.base)
		t.Setenv("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "")
		if got := baseRef(tt.named); got != tt.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestProjectLinks: a project's configuration is in the project.
func TestProjectLinks(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	putFile(t, outside+"/config.json", `{}`)
	putFile(t, dir+"/real/config.json", `{}`)
	for _, target := range []string{outside, "real", "none"} {
		if err := os.Symlink(target, dir+"/.pawl"); err != nil {
			t.Fatal(err)
		}
		source, err := projectSource(t.Context(), dir, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := config.LoadProject(source); !errors.Is(err, pawl.ErrDenied) {
			t.Errorf("%s: %v", target, err)
		}
		if err := os.Remove(dir + "/.pawl"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHostileFolder: what a folder brings has no effect on pawl: it runs nothing
// of it, asks no address of it, reads no variable of it. Rows A1 to A10, A16 to A19.
func TestHostileFolder(t *testing.T) {
	root := t.TempDir()
	canary := filepath.Join(root, "canary")
	if err := os.Mkdir(canary, 0o700); err != nil {
		t.Fatal(err)
	}
	b := pawltest.NewBox(t, pawltest.Binary(t, ""), pawltest.Stores["sqlite"](t))
	sectest.Hostile(t, b.Dir, canary)
	b.Env = append(b.Env, "HOME="+root, "PAWL_DATA="+root+"/data", "XDG_CONFIG_HOME="+root+"/config")
	b.Write(t, "s.jsonl", `{"text":"said"}`+"\n")
	b.Write(t, "evil.jsonl", `{"text":"evil"}`+"\n")
	for _, args := range [][]string{
		{"trust", "--status"}, {"trust"}, {"trust", "--list"}, {"version"}, {"session", "list"}, {"permissions", "list"}, {"config", "managed"}, {"stats"}, {"models"},
	} {
		if out := b.Run(t, args...); out.Code != 0 && out.Code != exitDenied {
			t.Errorf("%q: %+v", args, out)
		}
	}
	if out := b.Must(t, "permissions", "list"); !strings.HasPrefix(out.Stdout, "mode ask\n") {
		t.Errorf("the folder has set the mode: %s", out.Stdout)
	}
	if out := b.Must(t, "run", "--mode", "plan", "--model", "script:s.jsonl", "hello"); out.Stdout != "said\n" {
		t.Errorf("%+v", out)
	}
	if got := b.Must(t, "session", "export", "--format", "jsonl", "last").Stdout; strings.Contains(got, sectest.Marker) {
		t.Error("the folder's instructions are in the session")
	}
	if got := sectest.Tripped(t, canary); len(got) > 0 {
		t.Errorf("gone off: %q", got)
	}
	for _, name := range []string{".pawl/data", ".pawl/evil.db"} {
		if exists(filepath.Join(b.Dir, name)) {
			t.Errorf("%s is there: a variable of the folder's was read", name)
		}
	}
}

// TestManagedPolicy: the real program, with an /etc of its own. No variable
// moves the policy, and one that others could have written stops pawl. Row A20.
func TestManagedPolicy(t *testing.T) {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		t.Fatal(err)
	}
	bin := pawltest.Binary(t, "")
	run := func(mode, folder os.FileMode, env ...string) pawltest.Output {
		t.Helper()
		etc := t.TempDir()
		path := filepath.Join(etc, "managed.json")
		if err := errors.Join(os.WriteFile(path, []byte(`{"max_mode":"ask","sandbox_required":true}`), 0o600), os.Chmod(path, mode), os.Chmod(etc, folder)); err != nil {
			t.Fatal(err)
		}
		other := filepath.Join(t.TempDir(), "other.json")
		putFile(t, other, `{"max_mode":"yolo"}`)
		cmd := exec.Command(bwrap, "--unshare-user", "--uid", "0", "--gid", "0", "--ro-bind", "/", "/", "--tmpfs", "/etc", "--dev-bind", "/dev", "/dev", "--bind", etc, "/etc/pawl", bin, "config", "managed") //nolint:gosec // our own words
		cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + etc, "PAWL_MANAGED=" + other, "PAWL_MANAGED_CONFIG_PATH=" + other, "PAWL_CONFIG=" + other, "XDG_CONFIG_DIRS=" + filepath.Dir(other)}
		cmd.Env = append(cmd.Env, env...)
		return pawltest.Wait(t, cmd)
	}
	want := pawltest.Output{Stdout: "no mode looser than ask\ncommands are run in a sandbox or not at all\n"}
	if diff := cmp.Diff(want, run(0o644, 0o755)); diff != "" {
		t.Error(diff)
	}
	for _, modes := range [][2]os.FileMode{{0o664, 0o755}, {0o646, 0o755}, {0o644, 0o775}, {0o644, 0o757}} {
		if out := run(modes[0], modes[1]); out.Code != 1 || !strings.Contains(out.Stderr, "can be written by others than root") || out.Stdout != "" {
			t.Errorf("%o %o: %+v", modes[0], modes[1], out)
		}
	}
}
