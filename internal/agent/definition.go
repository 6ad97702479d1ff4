package agent

import (
	_ "embed" // for the prompts
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/extension/definition"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/mission/missionapi"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/suggest"
)

//go:embed prompts/build.md
var buildPrompt string

//go:embed prompts/plan.md
var planPrompt string

//go:embed prompts/explore.md
var explorePrompt string

//go:embed prompts/general.md
var generalPrompt string

//go:embed prompts/commander.md
var commanderPrompt string

//go:embed prompts/planner.md
var plannerPrompt string

//go:embed prompts/worker.md
var workerPrompt string

//go:embed prompts/reviewer.md
var reviewerPrompt string

//go:embed prompts/compaction.md
var compactionPrompt string

//go:embed prompts/title.md
var titlePrompt string

//go:embed prompts/summary.md
var summaryPrompt string

// Default is the name of the agent that is used if none is named.
const Default = "build"

// Definition defines an agent: its prompt, model, tools and limits.
type Definition struct {
	Name     string
	Prompt   string
	Steps    int      // the most steps of a turn; 0 means no limit
	Tools    []string // nil means all
	Subagent bool     // the task tool can start it
	ReadOnly bool     // none of its calls may write
	Team     bool     // it belongs to a mission's team: it gets no tools of MCP servers and cannot be chosen for a session
	Mode     string   // the permission mode its turns begin in; "" means the session's

	// For user-defined agents.
	Model       string            // "" means the session's
	Small       bool              // use the small model of the session's provider
	Temperature *float64          // nil means the model's default
	TopP        *float64          // nil means the model's default
	Plan        bool              // always works in plan mode
	Rules       []definition.Rule // further restrictions; the strictest counts
}

// builtin are the agents that users choose from.
var builtin = map[string]Definition{
	"build": {Name: "build", Prompt: buildPrompt},
	"plan":  {Name: "plan", Prompt: planPrompt, Mode: string(permission.ModePlan)},
	"explore": {Name: "explore", Prompt: explorePrompt, Steps: 20, Subagent: true, ReadOnly: true, Tools: []string{
		"read", "list", "glob", "grep", "diagnostics", "webfetch", "websearch", "codesearch",
	}},
	"general": {Name: "general", Prompt: generalPrompt, Steps: 100, Subagent: true},
}

// team are the agents of a mission. Only mission control starts them, except the planner,
// which the commander calls as a subagent.
var team = map[string]Definition{
	missionapi.AgentCommander: {Name: missionapi.AgentCommander, Prompt: commanderPrompt, Team: true, ReadOnly: true, Tools: []string{
		"read", "list", "glob", "grep", "question", "webfetch", "skill", "plan", "delegate", "task_status", "task_result", "task_message", "task_cancel", "seal", "block",
	}},
	missionapi.AgentPlanner: {Name: missionapi.AgentPlanner, Prompt: plannerPrompt, Team: true, ReadOnly: true, Subagent: true, Steps: 60, Tools: []string{
		"read", "list", "glob", "grep", "webfetch", "skill", "plan",
	}},
	missionapi.AgentWorker: {Name: missionapi.AgentWorker, Prompt: workerPrompt, Team: true, Steps: 200},
	missionapi.AgentReviewer: {Name: missionapi.AgentReviewer, Prompt: reviewerPrompt, Team: true, ReadOnly: true, Plan: true, Steps: 60, Tools: []string{
		"read", "list", "glob", "grep", "bash", "skill", "verdict",
	}},
}

// hidden are the agents that pawl calls itself, outside of the conversation. They have
// neither tools nor turns.
var hidden = map[string]Definition{
	model.AgentCompaction: {Name: model.AgentCompaction, Prompt: compactionPrompt},
	model.AgentTitle:      {Name: model.AgentTitle, Prompt: titlePrompt},
	model.AgentSummary:    {Name: model.AgentSummary, Prompt: summaryPrompt},
}

// Lookup returns the built-in agent of that name; "" means Default.
func Lookup(name string) (Definition, error) { return Find(name, nil) }

// Find is Lookup among the built-in agents and the user-defined ones in f, which may be
// nil. A user-defined agent cannot replace a built-in one.
func Find(name string, f *extension.Found) (Definition, error) {
	if name == "" {
		name = Default
	}
	if _, ok := hidden[name]; ok {
		return Definition{}, fault.New(pawl.ErrInvalid, "agent %q is internal and accepts no prompts", name).Hint("Run `pawl extensions list agents` to see all agents.")
	}
	if d, ok := union(builtin, team)[name]; ok {
		return d, nil
	}
	if f != nil {
		for _, a := range f.Agents.Agents {
			if a.Name == name {
				return userDefined(a), nil
			}
		}
	}
	all := agentNames(f, false)
	err := fault.New(pawl.ErrNotFound, "unknown agent %q: use one of %s", name, strings.Join(all, ", "))
	if meant := suggest.Name(name, all); meant != "" {
		err = err.Hint("Did you mean %q?", meant)
	}
	return Definition{}, err
}

// ModeOf returns the permission mode for a prompt with these settings: the chosen one or,
// if the agent has a mode of its own, that one. Choosing another mode for such an agent is
// an error, because it would not do what the user expects.
func ModeOf(s pawl.Settings) (string, error) {
	mode := builtin[s.Agent].Mode
	switch {
	case mode == "" || s.Mode == mode:
		return s.Mode, nil
	case s.Mode == "":
		return mode, nil
	}
	return "", fault.New(pawl.ErrInvalid, "agent %s always starts in mode %s, not %.40q", s.Agent, mode, s.Mode).Hint("Omit --mode, or choose another agent.")
}

// Reserved returns the names of all built-in agents, which user-defined ones cannot have.
func Reserved() []string {
	return slices.Sorted(maps.Keys(union(union(builtin, hidden), team)))
}

// Offered returns the names of the built-in agents that take prompts outside of missions.
func Offered() []string { return slices.Sorted(maps.Keys(builtin)) }

func union(a, b map[string]Definition) map[string]Definition {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// userDefined returns the Definition of a user-defined agent.
func userDefined(a definition.Agent) Definition {
	return Definition{
		Name: a.Name, Prompt: a.Prompt, Steps: a.Steps, Tools: a.Tools, Subagent: a.Mode != "primary",
		Model: a.Model, Small: a.Class == definition.ClassSmall, Temperature: a.Temperature, TopP: a.TopP, Plan: a.Plan, Rules: a.Rules,
	}
}

// agentNames returns the names of the agents, or only of those that can be subagents.
func agentNames(f *extension.Found, subagents bool) []string {
	var list []string
	for _, d := range builtin {
		if d.Subagent || !subagents {
			list = append(list, d.Name)
		}
	}
	if f != nil {
		for _, a := range f.Agents.Agents {
			if a.Mode != "primary" || !subagents {
				list = append(list, a.Name)
			}
		}
	}
	slices.Sort(list)
	return list
}

// restrictions returns the agent's rules as rules of a policy. They can only tighten it:
// rules that allow are skipped. A rule with an invalid pattern applies to every use of
// its tool.
func (d Definition) restrictions(tools []string) []permission.Rule {
	var rules []permission.Rule
	for _, r := range d.Rules {
		about := []string{r.Tool}
		switch {
		case permission.Decision(r.Decision) == permission.Allow:
			continue // an agent cannot extend its own permissions
		case r.Tool == "*":
			about, rules = tools, append(rules, serverRule(r))
		case r.Tool == definition.AllServers:
			about, rules = nil, append(rules, serverRule(r))
		}
		for _, name := range about {
			rule := permission.Rule{Tool: name, Pattern: r.Pattern, Decision: permission.Decision(r.Decision), Origin: permission.OriginProject}
			if rule.Check() != nil {
				rule.Pattern = ""
			}
			rules = append(rules, rule)
		}
	}
	return rules
}

// serverRule returns an agent's rule about the tools of all MCP servers.
func serverRule(r definition.Rule) permission.Rule {
	return permission.Rule{Kind: pawl.AccessMCP, Decision: permission.Decision(r.Decision), Origin: permission.OriginProject}
}
