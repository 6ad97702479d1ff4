// Package tool holds the tools that a model can call: a registry, and one file
// per tool with its description for the model in a .md beside it.
package tool

import (
	"fmt"

	"github.com/pawl-dev/pawl"
)

// Registry is an ordered set of tools. It does not change once made.
type Registry struct {
	tools  []pawl.Tool
	byName map[string]pawl.Tool
}

// NewRegistry returns a registry of the tools. Two of one name are an error:
// none may shadow another.
func NewRegistry(tools ...pawl.Tool) (*Registry, error) {
	r := &Registry{tools: tools, byName: make(map[string]pawl.Tool, len(tools))}
	for _, t := range tools {
		if _, taken := r.byName[t.Name]; taken || t.Name == "" {
			return nil, fmt.Errorf("register tool %q: the name is empty or taken", t.Name)
		}
		r.byName[t.Name] = t
	}
	return r, nil
}

// Builtin returns the tools that pawl brings.
func Builtin(blobs pawl.Blobs) (*Registry, error) {
	return NewRegistry(Read(blobs), List(), Write(), Edit(), Bash())
}

// Tool returns the tool of that name.
func (r *Registry) Tool(name string) (pawl.Tool, bool) {
	t, ok := r.byName[name]
	return t, ok
}

// Specs returns what a model is told of the tools, always in the same order.
func (r *Registry) Specs() []pawl.ToolSpec {
	specs := make([]pawl.ToolSpec, len(r.tools))
	for i, t := range r.tools {
		specs[i] = t.ToolSpec
	}
	return specs
}
