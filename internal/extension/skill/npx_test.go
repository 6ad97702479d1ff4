//go:build npx

package skill_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/extension/skill"
)

// The installer that many people use, and a Node that is new enough for it.
var npx = []string{"--yes", "--package=node@22.20.0", "--package=skills@1.7.4", "--", "skills"}

// TestNpxSkills: what `npx skills add` leaves in a project and in a home directory is
// found, each skill once, and its links are no faults. It needs npm's registry.
func TestNpxSkills(t *testing.T) {
	t.Parallel()
	r := newRepository(t, map[string]string{
		"skills/hello-world/SKILL.md": md("hello-world", "Says hello.", "Hello."), "skills/hello-world/scripts/run.sh": "#!/bin/sh\n", "skills/second/SKILL.md": md("second", "The second.", "x"),
	})
	base := real(t)
	put(t, base, map[string]string{"repo/README.md": "x", "home/.keep": "", "cache/.keep": ""})
	run := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "npx", append(npx[:len(npx):len(npx)], args...)...) //nolint:gosec // the tests' own words
		cmd.Dir = filepath.Join(base, "repo")
		cmd.Env = append(os.Environ(), "HOME="+filepath.Join(base, "home"), "npm_config_cache="+filepath.Join(base, "cache"), "DISABLE_TELEMETRY=1", "DO_NOT_TRACK=1", "CI=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("npx %q: %v: %s", args, err, out)
		}
	}
	run("add", r.source(), "--skill", "*", "-a", "claude-code", "-a", "opencode", "-y")
	run("add", r.source(), "--skill", "second", "-g", "-a", "claude-code", "-y")
	if to, err := os.Readlink(filepath.Join(base, "repo/.claude/skills/second")); err != nil || to != "../../.agents/skills/second" {
		t.Errorf("it shares its skills in another way by now: %q, %v", to, err)
	}
	set := skill.Discover(frontmatter.Sources{Project: folder(t, filepath.Join(base, "repo")), Trusted: trusted, Home: folder(t, filepath.Join(base, "home"))})
	want := `hello-world  project agents  /repo/.agents/skills/hello-world/SKILL.md
second  project agents  /repo/.agents/skills/second/SKILL.md
second  hidden  /home/.claude/skills/second/SKILL.md: the one at /repo/.agents/skills/second/SKILL.md is used
`
	if diff := cmp.Diff(want, strings.ReplaceAll(set.Show(), base, "")); diff != "" {
		t.Error(diff)
	}
	loaded, err := set.Load("hello-world")
	if diff := cmp.Diff([]string{"scripts/run.sh"}, loaded.Files); diff != "" || loaded.Body != "Hello." || err != nil {
		t.Error(diff, loaded.Body, err)
	}
}
