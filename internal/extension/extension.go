// Package extension loads the Markdown extensions of a directory: the agents,
// commands, rules and skills that a session in it has. Files of a project are
// only read if it is trusted.
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
	Home     string                // the user's home directory; "" means none
	Config   string                // the user's Pawl configuration directory; "" means none
	Trusted  func(dir string) bool // whether a directory of a project is trusted; nil means none is
	Reserved []string              // agent names that extensions cannot use

	// Base returns where the extensions of a project directory are read from instead: the
	// top of a checkout, the project directory in it, and which directories of it are
	// trusted. It returns "" if they are read from the directory itself, as always if
	// Base is nil.
	Base func(dir string) (top, project string, trusted func(dir string) bool)
}

// Found holds the extensions of a directory. It is read once and does not
// change; the instructions of a skill are read when it is loaded.
type Found struct {
	Dir        string // the directory, with links resolved
	Top        string // the top of its repository, or Dir
	Repository bool
	Branch     string // the checked-out branch, "" if none; untrusted text

	Agents   *definition.AgentSet
	Commands *definition.CommandSet
	Rules    *rules.Set
	Skills   *skill.Set

	sources frontmatter.Sources // where rules are read from
	base    string              // the checkout that is read instead of Top; "" means Top
}

// Look reads the extensions of a directory. What cannot be read is a fault in
// the result, not an error: a session works without.
func (p Places) Look(ctx context.Context, dir string) *Found {
	f := &Found{Dir: real(dir)}
	f.Top = f.Dir
	if repo := openRepo(ctx, f.Dir); repo != nil {
		f.Repository, f.Top = true, repo.Top
		f.Branch, _ = repo.Branch(ctx) // "" if the branch is unknown
	}
	top, at := f.Top, f.Dir
	if p.Base != nil {
		if other, project, trusted := p.Base(f.Dir); other != "" {
			top, at, p.Trusted, f.base = real(other), real(project), trusted, real(other)
		}
	}
	s := frontmatter.Sources{Project: folder(top), Trusted: p.Trusted, Home: folder(p.Home), Config: folder(p.Config)}
	if rel, err := filepath.Rel(top, at); err == nil {
		s.Dir = rel
	}
	f.Agents = definition.Agents(s, p.Reserved...)
	p.reserve(f.Agents)
	f.Commands = definition.Commands(s)
	f.Skills = skill.Discover(s)
	f.sources = s
	f.sources.Trusted = p.covered(top, at)
	f.Rules = f.named(rules.Load(f.sources))
	return f
}

// reserve removes the user's agents with reserved names.
func (p Places) reserve(set *definition.AgentSet) {
	set.Agents = slices.DeleteFunc(set.Agents, func(a definition.Agent) bool {
		taken := slices.Contains(p.Reserved, a.Name)
		if taken {
			set.Faults = append(set.Faults, frontmatter.Fault{File: a.Origin.File, Text: "a built-in agent has this name: rename it"})
		}
		return taken
	})
}

// RulesFor returns the rules between the directory and a file below it, given by
// its absolute path, except those in given; see [rules.For].
func (f *Found) RulesFor(file string, given map[string]bool) *rules.Set {
	if rel, err := filepath.Rel(f.Top, file); err == nil && f.base != "" {
		file = filepath.Join(f.base, rel)
	}
	return f.named(rules.For(f.sources, file, given))
}

// named gives rules that were read from a base the paths that they have in the directory.
func (f *Found) named(set *rules.Set) *rules.Set {
	for i := range set.Files {
		file := &set.Files[i].Origin.File
		if rel, err := filepath.Rel(f.base, *file); err == nil && f.base != "" && filepath.IsLocal(rel) {
			*file = filepath.Join(f.Top, rel)
		}
	}
	return set
}

// Faults returns the problems of all extension files.
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
		return nil // no repository, or one that is not trustworthy
	}
	return repo
}

// real resolves links, or returns the path unchanged if that fails.
func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return filepath.Clean(path)
}
