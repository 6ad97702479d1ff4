//go:build sectest

package skill_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/extension/skill"
	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// Without a defense the same attacks succeed, so the tests would notice if it
// were missing.

func TestWeakenedTrust(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("skill.trust")()
	dir := real(t)
	put(t, dir, map[string]string{".agents/skills/a/SKILL.md": md("a", "d", "x")})
	if set := skill.Discover(frontmatter.Sources{Project: folder(t, dir)}); len(set.Skills) != 1 {
		t.Error(set.Show())
	}
}

func TestWeakenedLinks(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("path.links,read.links,path.root")()
	base := real(t)
	put(t, base, map[string]string{
		"repo/.agents/skills/a/SKILL.md": "->other.md", "repo/.agents/skills/a/other.md": md("a", "d", "x"), "repo/.claude": "->../out", "out/skills/b/SKILL.md": md("b", "d", "x"),
	})
	if set := project(t, filepath.Join(base, "repo")); strings.Join(namesOf(set), " ") != "a b" {
		t.Error(set.Show())
	}
}

func TestWeakenedFiles(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("skill.files")()
	dir := real(t)
	put(t, dir, map[string]string{".agents/skills/a/SKILL.md": md("a", "d", "x"), "secret": "s3cret"})
	if text, err := project(t, dir).ReadFile("a", "../../../secret"); string(text) != "s3cret" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestWeakenedRegular(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("skill.regular")()
	r := newRepository(t, map[string]string{"a/SKILL.md": md("a", "d", "x"), "a/link": "->/etc/passwd"})
	in := installer(t, real(t))
	apply(t, must(in.Add(t.Context(), r.source())), nil)
	if to, err := os.Readlink(filepath.Join(in.Dir, "a/link")); to != "/etc/passwd" {
		t.Errorf("%q, %v", to, err)
	}
}

func TestWeakenedSource(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("skill.source")()
	if shown, body := takeName(t); body != "hostile" {
		t.Errorf("%q is loaded: %s", body, shown)
	}
}

func TestWeakenedLock(t *testing.T) { //nolint:paralleltest // it turns a defense off
	r := newRepository(t, map[string]string{"a/SKILL.md": md("a", "d", "x")})
	dir := real(t)
	in := installer(t, dir)
	apply(t, must(in.Add(t.Context(), r.source())), nil)
	put(t, in.Dir, map[string]string{"a/SKILL.md": md("a", "d", "evil")})
	defer defense.Disable("skill.lock")()
	if loaded, err := user(t, dir).Load("a"); loaded.Body != "evil" || err != nil {
		t.Errorf("%q, %v", loaded.Body, err)
	}
}
