// Package extension puts together what people bring in Markdown: for a directory, the
// agents, commands, rules and skills that a session in it has. Nothing of a
// project is read unless it is trusted.
package extension

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/extension/definition"
	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/extension/rules"
	"github.com/pawl-dev/pawl/internal/extension/skill"
	"github.com/pawl-dev/pawl/internal/git"
)

// Places says where to look besides a session's directory.
type Places struct {
	Home     string                // of the user; "" means none
	Config   string                // pawl's own directory for what the user configures; "" means none
	Trusted  func(dir string) bool // whether a directory of a project is; nil means that none is
	Reserved []string              // the names of agents that nobody can take
}

// Found is what a session in a directory has. It is read once and does not change;
// what a skill says is read when it is loaded.
type Found struct {
	Dir        string // the directory, real
	Top        string // of its repository, or Dir
	Repository bool
	Branch     string // that is checked out, "" if none is; a stranger's text

	Agents   *definition.AgentSet
	Commands *definition.CommandSet
	Rules    *rules.Set
	Skills   *skill.Set

	sources frontmatter.Sources // of rules
}

// Look reads what there is for a directory. What cannot be read is a fault in what
// it returns, not an error: a session works without.
func (p Places) Look(ctx context.Context, dir string) *Found {
	f := &Found{Dir: real(dir)}
	f.Top = f.Dir
	if repo := openRepo(ctx, f.Dir); repo != nil {
		f.Repository, f.Top = true, repo.Top
		f.Branch, _ = repo.Branch(ctx) // one that cannot be told is none
	}
	s := frontmatter.Sources{Project: folder(f.Top), Trusted: p.Trusted, Home: folder(p.Home), Config: folder(p.Config)}
	if rel, err := filepath.Rel(f.Top, f.Dir); err == nil {
		s.Dir = rel
	}
	f.Agents = definition.Agents(s, p.Reserved...)
	p.reserve(f.Agents)
	f.Commands = definition.Commands(s)
	f.Skills = skill.Discover(s)
	f.sources = s
	f.sources.Trusted = p.covered(f.Top, f.Dir)
	f.Rules = rules.Load(f.sources)
	return f
}

// reserve takes out the user's agents that have a reserved name.
func (p Places) reserve(set *definition.AgentSet) {
	set.Agents = slices.DeleteFunc(set.Agents, func(a definition.Agent) bool {
		taken := slices.Contains(p.Reserved, a.Name)
		if taken {
			set.Faults = append(set.Faults, frontmatter.Fault{File: a.Origin.File, Text: "it has the name of an agent that pawl brings: rename it"})
		}
		return taken
	})
}

// Near returns the rules on the way from the directory to a file below it, which is
// absolute, apart from those that were given; see [rules.Near].
func (f *Found) Near(file string, given map[string]bool) *rules.Set {
	return rules.Near(f.sources, file, given)
}

// Faults returns what is wrong with the files, of all kinds.
func (f *Found) Faults() []frontmatter.Fault {
	return slices.Concat(f.Agents.Faults, f.Commands.Faults, f.Rules.Faults, f.Skills.Faults)
}

func openRepo(ctx context.Context, dir string) *git.Repo {
	g, err := git.Find(ctx, dir)
	if err != nil {
		return nil
	}
	repo, err := g.Open(ctx, dir)
	if err != nil {
		return nil // there is none, or one that is not to be believed
	}
	return repo
}

// real returns a path without links, or as it is if it leads nowhere.
func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return filepath.Clean(path)
}
