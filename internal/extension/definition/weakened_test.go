//go:build sectest

package definition_test

import (
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/internal/extension/definition"
	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// Without a defense the same attacks succeed, so the tests would notice if it
// were missing.

func TestWeakenedTrust(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("define.trust")()
	dir := put(t, map[string]string{".pawl/agents/a.md": "x", ".pawl/commands/a.md": "x"})
	s := frontmatter.Sources{Project: folder(t, dir)}
	if agents, commands := definition.Agents(s), definition.Commands(s); len(agents.Agents) != 1 || len(commands.Commands) != 1 {
		t.Error(agents.Show(), commands.Show())
	}
}

func TestWeakenedLinks(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("path.links,path.root,read.links")()
	base := put(t, map[string]string{"repo/dir": "->../out", "out/secret": "s3cret"})
	got, err := definition.Command{Body: "@dir/secret"}.Expand("", definition.FilesIn(folder(t, filepath.Join(base, "repo")).Tree))
	if len(got.Files) != 1 || err != nil {
		t.Error(got, err)
	}
}

func TestWeakenedNarrow(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("define.narrow")()
	dir := put(t, map[string]string{".pawl/agents/a.md": "---\npermission: {bash: allow}\n---\nx"})
	set := definition.Agents(frontmatter.Sources{Project: folder(t, dir), Trusted: func(string) bool { return true }})
	if len(set.Agents) != 1 || len(set.Agents[0].Rules) != 3 || set.Agents[0].Ignored != nil {
		t.Errorf("%+v", set.Agents)
	}
}
