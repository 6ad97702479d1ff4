package agent

import (
	"cmp"
	_ "embed" // the agents' prompts
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/extension/definition"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/suggest"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/weak"
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

// Default is the agent that works when none is named.
const Default = "build"

// Definition is an agent: a prompt and bounds for the loop.
type Definition struct {
	Name   string
	Prompt string
	Steps  int      // 0 means no limit
	Tools  []string // the tools it has; nil means all
	Child  bool     // a task may be given to it
	Looks  bool     // it only looks: no call of it may write
	Team   bool     // it is of a mission's team: no tools of servers, and no session of its own
	Begins string   // the mode that its turns begin in; "" means the session's

	// Of those that people have defined.
	Model       string            // "" means the session's
	Small       bool              // or the small one of the same provider
	Temperature *float64          // nil means the model's own
	TopP        *float64          // nil means the model's own
	Plan        bool              // it only ever works in the mode plan
	Rules       []definition.Rule // what it may not do; the strictest counts
}

var builtin = map[string]Definition{
	"build": {Name: "build", Prompt: buildPrompt},
	"plan":  {Name: "plan", Prompt: planPrompt, Begins: string(permission.ModePlan)},
	"explore": {Name: "explore", Prompt: explorePrompt, Steps: 20, Child: true, Looks: true, Tools: []string{
		"read", "list", "glob", "grep", "diagnostics", "webfetch", "websearch", "codesearch",
	}},
	"general": {Name: "general", Prompt: generalPrompt, Steps: 100, Child: true},
}

// team are the agents of a mission. Only mission control gives them work, but for
// the planner, whom the Commander calls.
var team = map[string]Definition{
	pawl.AgentCommander: {Name: pawl.AgentCommander, Prompt: commanderPrompt, Team: true, Looks: true, Tools: []string{
		"read", "list", "glob", "grep", "question", "webfetch", "plan", "delegate", "task_status", "task_result", "task_message", "task_cancel", "seal", "block",
	}},
	pawl.AgentPlanner: {Name: pawl.AgentPlanner, Prompt: plannerPrompt, Team: true, Looks: true, Child: true, Steps: 60, Tools: []string{
		"read", "list", "glob", "grep", "webfetch", "plan",
	}},
	pawl.AgentWorker: {Name: pawl.AgentWorker, Prompt: workerPrompt, Team: true, Steps: 200},
	pawl.AgentReviewer: {Name: pawl.AgentReviewer, Prompt: reviewerPrompt, Team: true, Looks: true, Steps: 60, Tools: []string{
		"read", "list", "glob", "grep", "verdict",
	}},
}

// hidden are the agents that pawl itself calls, beside the conversation. They
// have no tools and no turns.
var hidden = map[string]Definition{
	pawl.AgentCompaction: {Name: pawl.AgentCompaction, Prompt: compactionPrompt},
	pawl.AgentTitle:      {Name: pawl.AgentTitle, Prompt: titlePrompt},
	pawl.AgentSummary:    {Name: pawl.AgentSummary, Prompt: summaryPrompt},
}

// Lookup returns pawl's own agent of that name, for a turn; "" is the default one.
func Lookup(name string) (Definition, error) { return Find(name, nil) }

// Find is Lookup among the agents too that people have defined, which cannot take
// the place of pawl's own.
func Find(name string, f *extension.Found) (Definition, error) {
	if name == "" {
		name = Default
	}
	if _, ok := hidden[name]; ok {
		return Definition{}, fmt.Errorf("the agent %q is pawl's own and takes no prompts: choose another: %w", name, pawl.ErrInvalid)
	}
	if d, ok := union(builtin, team)[name]; ok {
		return d, nil
	}
	if f != nil {
		for _, a := range f.Agents.Agents {
			if a.Name == name {
				return defined(a), nil
			}
		}
	}
	all := names(f, false)
	meant := cmp.Or(suggest.Ask("", name, all), ";")
	return Definition{}, fmt.Errorf("no agent is called %q%s there are: %s: %w", name, meant, strings.Join(all, ", "), pawl.ErrNotFound)
}

// ModeOf returns the mode that a prompt is to be accepted with: the one that was
// chosen or, for an agent whose turns begin in a mode, that one. To choose another
// for such an agent is refused: it could only surprise.
func ModeOf(s pawl.Settings) (string, error) {
	begins := builtin[s.Agent].Begins
	switch {
	case begins == "" || s.Mode == begins:
		return s.Mode, nil
	case s.Mode == "":
		return begins, nil
	}
	return "", fmt.Errorf("the agent %s begins in the mode %s, not in %.40q: choose no mode, or another agent: %w", s.Agent, begins, s.Mode, pawl.ErrInvalid)
}

// Reserved names pawl's own agents.
func Reserved() []string {
	return slices.Sorted(maps.Keys(union(union(builtin, hidden), team)))
}

// Offered names those of pawl's own that people choose from.
func Offered() []string {
	return slices.Sorted(maps.Keys(union(builtin, hidden)))
}

func union(a, b map[string]Definition) map[string]Definition {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// defined makes an agent of what somebody has written down.
func defined(a definition.Agent) Definition {
	return Definition{
		Name: a.Name, Prompt: a.Prompt, Steps: a.Steps, Tools: a.Tools, Child: a.Mode != "primary",
		Model: a.Model, Small: a.Class == definition.ClassSmall, Temperature: a.Temperature, TopP: a.TopP, Plan: a.Plan, Rules: a.Rules,
	}
}

// names returns the names of agents, or of those that a task may be given to.
func names(f *extension.Found, child bool) []string {
	var list []string
	for _, d := range builtin {
		if d.Child || !child {
			list = append(list, d.Name)
		}
	}
	if f != nil {
		for _, a := range f.Agents.Agents {
			if a.Mode != "primary" || !child {
				list = append(list, a.Name)
			}
		}
	}
	slices.Sort(list)
	return list
}

// narrowing returns the rules of an agent as those of a policy, which can only
// tighten it. One whose pattern cannot be read is about all that the tool does.
func (d Definition) narrowing(tools []string) []permission.Rule {
	var rules []permission.Rule
	for _, r := range d.Rules {
		about := []string{r.Tool}
		switch {
		case permission.Decision(r.Decision) == permission.Allow || weak.On("agent.rules"):
			continue // an agent's file grants nothing
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

var missionTools = pawl.MissionTools()

// notForChildren are the tools that need a person, or would make a family tree.
var notForChildren = []string{"task", "question", "plan_exit"}

// toolsOf returns the tools that the open turn offers: pawl's own and, of MCP
// servers, those that are up.
func (s *Stepper) toolsOf(j *journal) (*tool.Registry, error) {
	keep, err := s.keeps(j)
	if err != nil {
		return nil, err
	}
	tools := s.Tools.Only(keep)
	if def, err := j.agent(j.history.Open().Settings.Agent); s.Servers == nil || err == nil && def.Team {
		return tools, nil // a server runs outside of a worker's sandbox
	}
	return tools.With(s.Servers.Tools(j.front(), j.history.Created().Dir, keep)...)
}

// keeps returns which tools the open turn may have, by their names: those that its
// agent has, that its prompt permits and that make sense where it runs. Those of a
// mission only agents have that are given them by name.
func (s *Stepper) keeps(j *journal) (func(name string) bool, error) {
	settings := j.history.Open().Settings
	def, err := j.agent(settings.Agent)
	if err != nil {
		return nil, err
	}
	child := j.history.Created().Parent != ""
	return func(name string) bool {
		switch {
		case (!def.Team || def.Tools == nil) && slices.Contains(missionTools, name),
			name == "skill" && j.brought.found == nil, // where skills are looked for, one can come at any time
			name == "task" && len(def.Rules) > 0,      // they would not hold for a subagent
			def.Tools != nil && !definition.Grants(def.Tools, name) && !weak.On("agent.tools"),
			len(settings.Tools) > 0 && !definition.Grants(settings.Tools, name),
			child && slices.Contains(notForChildren, name):
			return false
		case name == "plan_exit":
			return settings.Mode == "plan" && !def.Plan
		default:
			return true
		}
	}, nil
}
