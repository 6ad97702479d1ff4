//go:build sectest

package security

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/extension/definition"
	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/extension/rules"
	"github.com/pawl-dev/pawl/internal/extension/skill"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// tree opens a directory for what is read without following links.
func (a *attackEnv) tree(dir string) frontmatter.Directory {
	a.Helper()
	w, err := workspace.Open(dir)
	a.ok(err)
	a.Cleanup(func() { _ = w.Close() })
	return frontmatter.Directory{Tree: w, Path: dir}
}

// installedLinks: a repository has a skill with links to what is the user's, as a
// file and as a directory.
func installedLinks(a *attackEnv) {
	source := filepath.Join(a.outside, "source")
	a.ok(os.Mkdir(source, 0o700))
	secret := filepath.Join(a.home, "secret")
	a.write(secret, marker)
	a.write(filepath.Join(source, "s/SKILL.md"), "---\nname: s\ndescription: d\n---\nx\n")
	a.ok(os.Symlink(secret, filepath.Join(source, "s/file")))
	a.ok(os.Symlink(a.home, filepath.Join(source, "s/folder")))
	a.git(source, "init", "-q", ".")
	a.git(source, "add", "-A")
	a.git(source, "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qm", "x")
	g, err := git.Find(a.Context(), a.dir)
	a.ok(err)
	in := &skill.Installer{
		Dir: filepath.Join(a.home, "skills"), Local: true,
		Open: func(dir string) (skill.Tree, error) { return workspace.Open(dir) },
		Fetch: func(ctx context.Context, from skill.Source) (skill.Repository, error) {
			return g.Fetch(ctx, git.Remote{Address: from.Address, Ref: from.Ref, Local: from.Local})
		},
	}
	plan, err := in.Add(a.Context(), "file://"+source)
	a.ok(err)
	defer plan.Close()
	a.ok(plan.Apply())
	for _, name := range []string{"file", "folder"} {
		if to, err := os.Readlink(filepath.Join(in.Dir, "s", name)); err == nil {
			a.breach("a link to %s is installed: %s", to, plan.Show())
		}
	}
}

// importedByLink: rules and a command of a trusted project name files behind links
// that lead out.
func importedByLink(a *attackEnv) {
	secret := filepath.Join(a.outside, "secret.md")
	a.write(secret, marker)
	a.ok(os.Symlink(a.outside, filepath.Join(a.dir, "link")))
	a.write("AGENTS.md", "@link/secret.md\n@link/../outside/secret.md\n@"+secret+"\n")
	a.write(".pawl/commands/c.md", "@link/secret.md @link/../../outside/secret.md @../outside/secret.md @"+secret+"\n")
	s := frontmatter.Sources{Project: a.tree(a.dir), Trusted: func(string) bool { return true }}
	if text := rules.Load(s).Prompt(); strings.Contains(text, marker) {
		a.breach("rules import what is outside: %s", text)
	}
	c, ok := definition.Commands(s).Find("c")
	if !ok {
		a.Fatal("the command is not found")
	}
	x, err := c.Expand("", definition.FilesIn(s.Project.Tree))
	a.ok(err)
	if strings.Contains(x.Text, marker) {
		a.breach("a command takes in what is outside: %s", x.Text)
	}
}
