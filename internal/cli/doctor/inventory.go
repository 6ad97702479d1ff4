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

// builtIn is the origin of built-in items.
const builtIn = "built-in"

// item is an extension that sessions in the directory use, or would use if it were in effect. It may
// contain untrusted text.
type item struct {
	Name     string   `json:"name"`
	Origin   string   `json:"origin"` // built-in, managed, user or project
	File     string   `json:"file,omitempty"`
	InEffect bool     `json:"in_effect"`
	Why      string   `json:"why,omitempty"`      // reason why it is not in effect
	By       string   `json:"by,omitempty"`       // file of the item with the same name that is used instead
	Fix      string   `json:"fix,omitempty"`      // command that puts it in effect
	Warnings []string `json:"warnings,omitempty"` // about parts of it that are ignored
}

// itemGroup lists the items of one kind.
type itemGroup struct {
	Kind   string   `json:"kind"`
	Items  []item   `json:"items"`
	Faults []string `json:"faults,omitempty"` // files that cannot be used, with the reason
	Show   string   `json:"show,omitempty"`   // command that lists them; --trust includes untrusted ones
	Mark   string   `json:"-"`                // prefix of each name
}

// inventory collects the extensions of a directory twice: as they are in effect, and as if everything
// were trusted. The difference is what is not in effect. It runs none of them.
type inventory struct {
	dir     string
	guard   *policy.Safety   // with the actual trust
	trusted *policy.Safety   // for reading the directory as if it were trusted
	found   *extension.Found // in effect
	all     *extension.Found // if everything were trusted
}

// takeInventory returns the extensions of the working directory, grouped by kind.
func takeInventory(ctx context.Context) ([]itemGroup, error) {
	v := &inventory{}
	var err error
	if v.dir, err = app.WorkingDir(); err != nil {
		return nil, err
	}
	if v.guard, err = policy.Open(); err != nil {
		return nil, err
	}
	if v.trusted, err = policy.Open(); err != nil {
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

// item returns the item for a file. used means that it is in effect; by is the file that is used
// instead, if any.
func (v *inventory) item(name string, o frontmatter.Origin, used bool, by string) item {
	i := item{Name: name, Origin: string(o.Layer), File: o.File, InEffect: used}
	switch {
	case used:
	case o.Layer == frontmatter.Project && !v.guard.Instructs(v.trustDir(o.File)):
		i.Why, i.Fix = v.distrust(v.trustDir(o.File))
	case by != "":
		i.Why, i.By = "another of its name is used", by
	default:
		i.Why = "it has changed while pawl looked: look again"
	}
	return i
}

// distrust returns why the project configuration in dir is not in effect, and the command that
// changes that.
func (v *inventory) distrust(dir string) (why, fix string) {
	if v.guard.Trusted(dir) {
		return "a change that somebody proposes is worked on", ""
	}
	return notTrusted, "pawl trust " + shellQuote(dir)
}

const notTrusted = "the folder is not trusted"

// shellQuote quotes a path for a POSIX shell if necessary.
func shellQuote(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@%=:,", r)
	}
	if strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// trustDir returns the directory whose trust decides about a file: the first one that contains it,
// going from the working directory up to the top of the repository.
func (v *inventory) trustDir(file string) string {
	for dir := v.all.Dir; dir != v.all.Top && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
			return dir
		}
	}
	return v.all.Top
}
