// Package tool implements the built-in tools that a model can call: a
// registry, and one file per tool with its description for the model in a .md
// file beside it.
package tool

import (
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/security/egress"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/tool/search"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/tool/websearch"
)

// Registry is an ordered, immutable set of tools.
type Registry struct {
	tools  []toolapi.Tool
	byName map[string]toolapi.Tool
}

// NewRegistry returns a registry of the tools. It returns an error if two have
// the same name.
func NewRegistry(tools ...toolapi.Tool) (*Registry, error) {
	r := &Registry{tools: tools, byName: make(map[string]toolapi.Tool, len(tools))}
	for _, t := range tools {
		if _, taken := r.byName[t.Name]; taken || t.Name == "" {
			return nil, fmt.Errorf("register tool %q: the name is empty or taken", t.Name)
		}
		r.byName[t.Name] = t
	}
	return r, nil
}

// Config holds what the tools need besides the session that they run in. With
// the zero value, tools whose part is missing return an error that says so.
type Config struct {
	Blobs  store.Blobs // stores large outputs
	Jobs   *Jobs       // runs commands; nil means that commands cannot run
	Faults Checker     // language servers; nil means no diagnostics

	Search     search.Engine // of grep; nil means search.Default
	Web        *egress.Guard // decides which addresses webfetch may reach; nil means public ones
	WebSearch  Searcher      // nil means not configured
	CodeSearch Searcher      // nil means not configured
}

// Builtin returns a registry of the built-in tools.
func Builtin(c Config) (*Registry, error) {
	if c.Jobs == nil {
		c.Jobs = NewJobs(c.Blobs, noSandbox{})
	}
	if c.Search == nil {
		c.Search = search.Default()
	}
	if c.Web == nil {
		c.Web = &egress.Guard{}
	}
	if c.WebSearch == nil {
		c.WebSearch = websearch.None("websearch")
	}
	if c.CodeSearch == nil {
		c.CodeSearch = websearch.None("codesearch")
	}
	var faults Diagnoser
	var diagnostics []toolapi.Tool
	if c.Faults != nil {
		faults, diagnostics = NewDiagnoser(c.Faults), []toolapi.Tool{Diagnostics(c.Faults)}
	}
	return NewRegistry(append([]toolapi.Tool{
		Read(c.Blobs), List(), Glob(), Grep(c.Search), Write(faults), Edit(faults), ApplyPatch(faults),
		Bash(c.Jobs), BashOutput(c.Jobs), BashKill(c.Jobs),
		WebFetch(c.Web), WebSearch(c.WebSearch), CodeSearch(c.CodeSearch),
		TodoRead(), TodoWrite(), Question(), Task(), PlanExit(),
	}, diagnostics...)...)
}

// Only returns a registry of the tools for which keep returns true.
func (r *Registry) Only(keep func(name string) bool) *Registry {
	some := &Registry{byName: map[string]toolapi.Tool{}}
	for _, t := range r.tools {
		if keep(t.Name) {
			some.tools = append(some.tools, t)
			some.byName[t.Name] = t
		}
	}
	return some
}

// With returns a registry with more tools, e.g. those of an MCP server. It
// returns an error if two have the same name.
func (r *Registry) With(more ...toolapi.Tool) (*Registry, error) {
	return NewRegistry(slices.Concat(r.tools, more)...)
}

// Replace returns a registry with a tool in the place of the one that has its
// name. Without one, it returns the same tools.
func (r *Registry) Replace(t toolapi.Tool) *Registry {
	other := r.Only(func(string) bool { return true })
	for i := range other.tools {
		if other.tools[i].Name == t.Name {
			other.tools[i], other.byName[t.Name] = t, t
		}
	}
	return other
}

// Names returns the names of the tools in order.
func (r *Registry) Names() []string {
	names := make([]string, len(r.tools))
	for i, t := range r.tools {
		names[i] = t.Name
	}
	return names
}

// Tool returns the tool with that name.
func (r *Registry) Tool(name string) (toolapi.Tool, bool) {
	t, ok := r.byName[name]
	return t, ok
}

// Specs returns the descriptions of the tools for the model, always in the
// same order.
func (r *Registry) Specs() []toolapi.Spec {
	specs := make([]toolapi.Spec, len(r.tools))
	for i, t := range r.tools {
		specs[i] = t.Spec
	}
	return specs
}
