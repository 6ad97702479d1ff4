//go:build sectest

package rules_test

import (
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/extension/rules"
	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// Without a defense the same attacks succeed, so the tests would notice if it
// were missing.

func TestWeakenedTrust(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("rules.trust")()
	dir := put(t, temp(t), map[string]string{"AGENTS.md": "top", "a/AGENTS.md": "below"})
	s := frontmatter.Sources{Project: folder(t, dir)}
	if got := texts(rules.Load(s)) + " " + texts(rules.For(s, filepath.Join(dir, "a/x"), nil)); got != "top below" {
		t.Error(got)
	}
}

func TestWeakenedLinks(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("path.links,path.root,read.links")()
	base := put(t, temp(t), map[string]string{"repo/AGENTS.md": "->secret", "repo/secret": "s3cret"})
	s := frontmatter.Sources{Project: folder(t, filepath.Join(base, "repo")), Trusted: func(string) bool { return true }}
	if got := texts(rules.Load(s)); got != "s3cret" {
		t.Error(got)
	}
}
