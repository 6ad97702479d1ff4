package doctor

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/security/policy"
)

// The origin of what pawl itself brings; the others are those of the files.
const builtIn = "built-in"

// item is one thing that sessions here have, or would have. Its texts may be a
// stranger's.
type item struct {
	Name     string   `json:"name"`
	Origin   string   `json:"origin"` // built-in, managed, user or project
	File     string   `json:"file,omitempty"`
	InEffect bool     `json:"in_effect"`
	Why      string   `json:"why,omitempty"`      // it is not
	By       string   `json:"by,omitempty"`       // the file of the one that is used in its place
	Fix      string   `json:"fix,omitempty"`      // the command after which it is
	Warnings []string `json:"warnings,omitempty"` // what of it counts for nothing
}

// itemGroup is all of a kind.
type itemGroup struct {
	Kind   string   `json:"kind"`
	Items  []item   `json:"items"`
	Faults []string `json:"faults,omitempty"` // what cannot be used, and why
	Show   string   `json:"show,omitempty"`   // the command that says more; with --trust, of what is not in effect too
	Mark   string   `json:"-"`                // before each name
}

// inventory looks at what there is for a directory twice: as it is, and as if all
// were trusted, so that what takes no effect can be told. To look runs nothing.
type inventory struct {
	dir   string
	guard *policy.Safety   // as it is
	told  *policy.Safety   // as if the directory were trusted
	found *extension.Found // as it is
	all   *extension.Found // as if all were trusted
}

// takeInventory returns what there is for this directory, by kind.
func takeInventory(ctx context.Context) ([]itemGroup, error) {
	v := &inventory{}
	var err error
	if v.dir, err = app.WorkingDir(); err != nil {
		return nil, err
	}
	if v.guard, err = policy.Open(); err != nil {
		return nil, err
	}
	if v.told, err = policy.Open(); err != nil {
		return nil, err
	}
	p, err := app.ExtensionPlaces(v.guard)
	if err != nil {
		return nil, err
	}
	v.found = app.FindExtensions(ctx, v.guard, p, v.dir, false)
	p.Trusted = func(string) bool { return true }
	v.all = p.Look(ctx, v.dir)
	return []itemGroup{v.agents(), v.commands(), v.rules(), v.skills(), v.servers(ctx), v.languages(), v.hooks(ctx)}, nil
}

// item makes an item of a file. used says whether it is among what was found
// without trusting anything.
func (v *inventory) item(name string, o frontmatter.Origin, used bool, by string) item {
	i := item{Name: name, Origin: string(o.Layer), File: o.File, InEffect: used}
	switch {
	case used:
	case o.Layer == frontmatter.Project && !v.guard.Instructs(v.level(o.File)):
		i.Why, i.Fix = v.distrust(v.level(o.File))
	case by != "":
		i.Why, i.By = "another of its name is used", by
	default:
		i.Why = "it has changed while pawl looked: look again"
	}
	return i
}

// distrust says why what a directory brings takes no effect, and what changes that.
func (v *inventory) distrust(dir string) (why, fix string) {
	if v.guard.Trusted(dir) {
		return "a change that somebody proposes is worked on", ""
	}
	return notTrusted, "pawl trust " + quoted(dir)
}

const notTrusted = "the folder is not trusted"

// quoted is a path as a shell reads it.
func quoted(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@%=:,", r)
	}
	if strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// level is the directory whose trust a file is in: the nearest one above the file,
// of those from the directory that is worked in to the top of its repository.
func (v *inventory) level(file string) string {
	for dir := v.all.Dir; dir != v.all.Top && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
			return dir
		}
	}
	return v.all.Top
}
