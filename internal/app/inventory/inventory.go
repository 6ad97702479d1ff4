// Package inventory lists the extensions of a directory: which exist, where they come from, and
// whether they are active. 'pawl extensions list', 'pawl doctor' and 'pawl trust' use the same list.
package inventory

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/policy"
)

// The kinds of extensions.
const (
	Agents   = "agents"
	Commands = "commands"
	Skills   = "skills"
	Hooks    = "hooks"
	MCP      = "mcp"
	Rules    = "rules"
	LSP      = "lsp"
)

// Kinds are all kinds, in the order in which they are listed.
var Kinds = []string{Agents, Commands, Skills, Hooks, MCP, Rules, LSP}

// BuiltIn is the source of built-in extensions.
const BuiltIn = "built-in"

// Reasons why an extension is inactive.
const (
	notTrusted = "project not trusted"
	inCI       = "CI job for a proposed change"
)

// Item is an extension that sessions in the directory use, or would use if it were active. It may
// contain untrusted text.
type Item struct {
	Kind        string   `json:"kind"`
	Name        string   `json:"name"`
	Source      string   `json:"source"` // built-in, managed, user or project
	File        string   `json:"file,omitempty"`
	Active      bool     `json:"active"`
	Reason      string   `json:"reason,omitempty"` // why it is inactive
	By          string   `json:"by,omitempty"`     // file of the item with the same name that is used instead
	Fix         string   `json:"fix,omitempty"`    // command that activates it
	Description string   `json:"description,omitempty"`
	Warnings    []string `json:"warnings,omitempty"` // about parts of it that are ignored
	Hook        *Hook    `json:"hook,omitempty"`     // of a hook
}

// Fault is a file, or a part of one, that cannot be used. Text is untrusted.
type Fault struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// Inventory lists the extensions of a directory.
type Inventory struct {
	Project    policy.Directory `json:"-"` // the project configuration, and whether it is trusted
	ProjectErr error            `json:"-"` // why Project is unknown
	Items      []Item           `json:"extensions"`
	Faults     []Fault          `json:"faults"`
}

// Take returns the extensions of a directory. It runs none of them.
func Take(ctx context.Context, dir string) (*Inventory, error) {
	v := &collector{Inventory: &Inventory{Items: []Item{}, Faults: []Fault{}}, dir: dir}
	var err error
	if v.guard, err = policy.Open(); err != nil {
		return nil, err
	}
	if v.trusted, err = policy.Open(); err != nil {
		return nil, err
	}
	v.Project, v.ProjectErr = v.guard.LookAt(ctx, dir)
	p, err := app.ExtensionPlaces(v.guard)
	if err != nil {
		return nil, err
	}
	v.found = app.FindExtensions(ctx, v.guard, p, v.dir, false)
	p.Trusted = func(string) bool { return true }
	v.all = p.Look(ctx, v.dir)
	v.agents()
	v.commands()
	v.skills()
	v.hooks(ctx)
	v.servers(ctx)
	v.rules()
	v.languages()
	return v.Inventory, nil
}

// TakeHere calls Take for the working directory.
func TakeHere(ctx context.Context) (*Inventory, error) {
	dir, err := app.WorkingDir()
	if err != nil {
		return nil, err
	}
	return Take(ctx, dir)
}

// Of returns the part of the inventory with one kind, or all if kind is "".
func (v *Inventory) Of(kind string) *Inventory {
	if kind == "" {
		return v
	}
	return &Inventory{
		Project: v.Project, ProjectErr: v.ProjectErr,
		Items:  slices.DeleteFunc(slices.Clone(v.Items), func(i Item) bool { return i.Kind != kind }),
		Faults: slices.DeleteFunc(slices.Clone(v.Faults), func(f Fault) bool { return f.Kind != kind }),
	}
}

// WithoutInternal returns the inventory without the built-in hooks, which only implement Pawl.
func (v *Inventory) WithoutInternal() *Inventory {
	internal := func(i Item) bool { return i.Kind == Hooks && i.Source == BuiltIn }
	return &Inventory{Project: v.Project, ProjectErr: v.ProjectErr, Items: slices.DeleteFunc(slices.Clone(v.Items), internal), Faults: v.Faults}
}

// Summary returns how many extensions are active and inactive, with the reasons.
func (v *Inventory) Summary() string {
	active := 0
	var reasons []string
	for _, i := range v.Items {
		if i.Active {
			active++
		} else if !slices.Contains(reasons, i.Reason) {
			reasons = append(reasons, i.Reason)
		}
	}
	text := fmt.Sprintf("%d active", active)
	if n := len(v.Items) - active; n > 0 {
		text += fmt.Sprintf(", %d inactive (%s)", n, strings.Join(reasons, "; "))
	}
	return text
}

// titles are the names of the kinds in the singular.
var titles = map[string]string{
	Agents: "agent", Commands: "command", Skills: "skill", Hooks: "hook", MCP: "MCP server", Rules: "rules file", LSP: "language server",
}

// ProjectLine returns a line with the number of extensions that depend on the trust in the project,
// or "" without any.
func (v *Inventory) ProjectLine() string {
	var counts []string
	for _, kind := range Kinds {
		n := 0
		for _, i := range v.Items {
			if i.Kind == kind && (i.Source == string(frontmatter.Project) || kind == LSP && i.File != "") {
				n++
			}
		}
		if n > 0 {
			counts = append(counts, humanize.Plural(n, titles[kind]))
		}
	}
	if len(counts) == 0 {
		return ""
	}
	return "Extensions: " + strings.Join(counts, ", ") + ". Run `pawl extensions list` to see them.\n"
}

// Fixes returns the commands that activate inactive extensions, without duplicates.
func (v *Inventory) Fixes() []string {
	var fixes []string
	for _, i := range v.Items {
		if i.Fix != "" && !slices.Contains(fixes, i.Fix) {
			fixes = append(fixes, i.Fix)
		}
	}
	return fixes
}

// collector collects the extensions of a directory twice: as they are, and as if everything were
// trusted. The difference is what is inactive.
type collector struct {
	*Inventory
	dir     string
	guard   *policy.Safety   // with the actual trust
	trusted *policy.Safety   // for reading the directory as if it were trusted
	found   *extension.Found // active
	all     *extension.Found // if everything were trusted
}

// item returns the item for a file. used means that it is active; by is the file that is used
// instead, if any.
func (v *collector) item(kind, name string, o frontmatter.Origin, used bool, by string) Item {
	i := Item{Kind: kind, Name: name, Source: string(o.Layer), File: o.File, Active: used}
	switch {
	case used:
	case o.Layer == frontmatter.Project && !v.guard.Instructs(v.trustDir(o.File)):
		i.Reason, i.Fix = v.distrust(v.trustDir(o.File))
	case by != "":
		i.Reason, i.By = "another one with this name is used", by
	default:
		i.Reason = "changed while it was read"
	}
	return i
}

// distrust returns why the project configuration in dir is inactive, and the command that changes
// that.
func (v *collector) distrust(dir string) (reason, fix string) {
	if v.guard.Trusted(dir) {
		return inCI, ""
	}
	return notTrusted, "pawl trust " + shellQuote(dir)
}

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
func (v *collector) trustDir(file string) string {
	for dir := v.all.Dir; dir != v.all.Top && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
			return dir
		}
	}
	return v.all.Top
}
