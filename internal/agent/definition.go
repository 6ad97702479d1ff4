package agent

import (
	_ "embed" // the agent's prompt
	"fmt"

	"github.com/pawl-dev/pawl"
)

//go:embed build.md
var buildPrompt string

// Default is the agent that works when none is named.
const Default = "build"

// Definition is an agent: a prompt and bounds for the loop.
type Definition struct {
	Name   string
	Prompt string
	Steps  int // 0 means no limit
}

var builtin = map[string]Definition{
	"build": {Name: "build", Prompt: buildPrompt},
}

// Lookup returns the agent of that name; "" is the default one.
func Lookup(name string) (Definition, error) {
	if name == "" {
		name = Default
	}
	d, ok := builtin[name]
	if !ok {
		return Definition{}, fmt.Errorf("no agent is called %q: %w", name, pawl.ErrNotFound)
	}
	return d, nil
}
