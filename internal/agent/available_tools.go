package agent

import (
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension/definition"
	"github.com/pawl-dev/pawl/internal/mission/missionapi"
	"github.com/pawl-dev/pawl/internal/tool"
)

var missionTools = missionapi.Tools()

// notForSubagents are the tools that need the user, or would start further subagents.
var notForSubagents = []string{"task", "question", "plan_exit"}

// availableTools returns the tools that the open turn offers: the built-in ones and those
// of the MCP servers that are up.
func (s *Stepper) availableTools(j *journal) (*tool.Registry, error) {
	keep, err := s.toolFilter(j)
	if err != nil {
		return nil, err
	}
	tools := s.Tools.Only(keep)
	if def, err := j.agent(j.history.Open().Settings.Agent); s.Servers == nil || err == nil && def.Team {
		return tools, nil // MCP servers run outside of a worker's sandbox
	}
	return tools.With(s.Servers.Tools(j.rootSession(), j.history.Created().Dir, keep)...)
}

// toolFilter returns a function that reports by name which tools the open turn may use:
// those that its agent has, its settings allow and that make sense for its session. Only
// agents that list them by name have the tools of missions.
func (s *Stepper) toolFilter(j *journal) (func(name string) bool, error) {
	settings := j.history.Open().Settings
	def, err := j.agent(settings.Agent)
	if err != nil {
		return nil, err
	}
	subagent := j.history.Created().Parent != ""
	return func(name string) bool {
		switch {
		case (!def.Team || def.Tools == nil) && slices.Contains(missionTools, name),
			name == "skill" && j.project.found == nil, // otherwise a skill can be added at any time
			name == "task" && len(def.Rules) > 0,      // the rules would not apply to a subagent
			def.Tools != nil && !definition.Includes(def.Tools, name),
			len(settings.Tools) > 0 && !definition.Includes(settings.Tools, name),
			subagent && slices.Contains(notForSubagents, name):
			return false
		case name == "plan_exit":
			return settings.Mode == "plan" && !def.Plan
		default:
			return true
		}
	}, nil
}

// inheritedTools names the tools that a subagent of the open turn may use: those of its
// parent, including tools of MCP servers that are not up yet.
func (s *Stepper) inheritedTools(j *journal, own Definition, parent pawl.Settings) ([]string, error) {
	keep, err := s.toolFilter(j)
	if err != nil {
		return nil, err
	}
	var listed []string // nil means all
	if len(parent.Tools) > 0 {
		listed = parent.Tools
	}
	return append(s.Tools.Only(keep).Names(), definition.Intersect(own.Tools, listed)...), nil
}
