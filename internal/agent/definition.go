package agent

import (
	_ "embed" // the agents' prompts
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool"
)

//go:embed build.md
var buildPrompt string

//go:embed explore.md
var explorePrompt string

//go:embed general.md
var generalPrompt string

//go:embed compaction.md
var compactionPrompt string

//go:embed title.md
var titlePrompt string

//go:embed summary.md
var summaryPrompt string

// Default is the agent that works when none is named.
const Default = "build"

// Definition is an agent: a prompt and bounds for the loop.
type Definition struct {
	Name   string
	Prompt string
	Steps  int      // 0 means no limit
	Tools  []string // the tools it has; nil means all
	Child  bool     // a task may be given to it
}

var builtin = map[string]Definition{
	"build": {Name: "build", Prompt: buildPrompt},
	"explore": {Name: "explore", Prompt: explorePrompt, Steps: 20, Child: true, Tools: []string{
		"read", "list", "glob", "grep", "diagnostics", "webfetch", "websearch", "codesearch",
	}},
	"general": {Name: "general", Prompt: generalPrompt, Steps: 100, Child: true},
}

// hidden are the agents that pawl itself calls, beside the conversation. They
// have no tools and no turns.
var hidden = map[string]Definition{
	pawl.AgentCompaction: {Name: pawl.AgentCompaction, Prompt: compactionPrompt},
	pawl.AgentTitle:      {Name: pawl.AgentTitle, Prompt: titlePrompt},
	pawl.AgentSummary:    {Name: pawl.AgentSummary, Prompt: summaryPrompt},
}

// Lookup returns the agent of that name, for a turn; "" is the default one.
func Lookup(name string) (Definition, error) {
	if name == "" {
		name = Default
	}
	if _, ok := hidden[name]; ok {
		return Definition{}, fmt.Errorf("the agent %q is pawl's own and takes no prompts: choose another: %w", name, pawl.ErrInvalid)
	}
	d, ok := builtin[name]
	if !ok {
		return Definition{}, fmt.Errorf("no agent is called %q: %w", name, pawl.ErrNotFound)
	}
	return d, nil
}

// childAgents names the agents that a task may be given to.
func childAgents() []string {
	var names []string
	for _, d := range builtin {
		if d.Child {
			names = append(names, d.Name)
		}
	}
	slices.Sort(names)
	return names
}

// notForChildren are the tools that need a person, or would make a family tree.
var notForChildren = []string{"task", "question", "plan_exit"}

// toolsOf returns the tools of the open turn: those that its agent has, that
// its prompt permits and that make sense where it runs.
func (s *Stepper) toolsOf(j *journal) (*tool.Registry, error) {
	settings := j.history.Open().Settings
	def, err := Lookup(settings.Agent)
	if err != nil {
		return nil, err
	}
	child := j.history.Created().Parent != ""
	return s.Tools.Only(func(name string) bool {
		switch {
		case def.Tools != nil && !slices.Contains(def.Tools, name),
			len(settings.Tools) > 0 && !slices.Contains(settings.Tools, name),
			child && slices.Contains(notForChildren, name):
			return false
		case name == "plan_exit":
			return settings.Mode == "plan"
		default:
			return true
		}
	}), nil
}
