package policy

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config"
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
func TestBaseRef(t *testing.T) { //nolint:paralleltest // it sets environment variables
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
	t.Parallel()
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

// TestProjectPlaceholder: what the sandbox of a running command puts in the place of
// files that do not exist does not make the directory's configuration unreadable.
func TestProjectPlaceholder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, serversFile), 0o500); err != nil {
		t.Fatal(err)
	}
	read, err := projectSource(t.Context(), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if files, err := projectServers(config.Project{}, read); len(files) != 0 || err != nil {
		t.Errorf("%v, %v", files, err)
	}
}
