package definition

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// The directories of agents.
var (
	agentPlaces     = []place{{".pawl/agents", "pawl"}, {".claude/agents", "claude"}, {".opencode/agent", "opencode"}, {".opencode/agents", "opencode"}}
	agentHomePlaces = []place{{".config/opencode/agent", "opencode"}, {".config/opencode/agents", "opencode"}}
	agentOwnPlaces  = []place{{"agents", "pawl"}}
)

// Ignored is a key of a definition that has no effect.
type Ignored struct {
	Key string `json:"key"`
	Why string `json:"why"`
}

// Rule restricts what an agent may do beyond the session's permissions.
type Rule struct {
	Tool     string `json:"tool"`              // a built-in tool, or * for all
	Pattern  string `json:"pattern,omitempty"` // of the access; "" means all
	Decision string `json:"decision"`          // deny or ask; in the user's files also allow
}

// Agent is an agent definition. All its texts are untrusted.
type Agent struct {
	Name        string             `json:"name"`
	Description string             `json:"description,omitempty"`
	Mode        string             `json:"mode"`            // primary, subagent or all
	Model       string             `json:"model,omitempty"` // "" means the session's
	Class       string             `json:"class,omitempty"` // a class of models of the session's provider instead: small
	Tools       []string           `json:"tools"`           // built-in tools, in order; nil means all
	Steps       int                `json:"steps,omitempty"` // 0 means no limit of its own
	Temperature *float64           `json:"temperature,omitempty"`
	TopP        *float64           `json:"top_p,omitempty"`
	Plan        bool               `json:"plan,omitempty"`  // it always runs in plan mode
	Rules       []Rule             `json:"rules,omitempty"` // the strictest counts
	Color       string             `json:"color,omitempty"`
	Hidden      bool               `json:"hidden,omitempty"` // not offered to people
	Prompt      string             `json:"-"`
	Origin      frontmatter.Origin `json:"origin"`
	Ignored     []Ignored          `json:"ignored,omitempty"`
	Faults      []string           `json:"faults,omitempty"`
}

// AgentSet holds the agents that can be used in a directory, besides the
// built-in ones.
type AgentSet struct {
	Agents []Agent             `json:"agents"` // by name
	Hidden []Hidden            `json:"hidden,omitempty"`
	Faults []frontmatter.Fault `json:"faults,omitempty"`
}

// Agents loads agent definitions. Those of the project, nearest first, take
// precedence over the user's. A project cannot define an agent with a reserved
// name.
func Agents(s frontmatter.Sources, reserved ...string) *AgentSet {
	agents, hidden, faults := kind[Agent]{
		shared: agentPlaces, home: agentHomePlaces, own: agentOwnPlaces,
		read: readAgent,
		refuse: func(i item) string {
			if i.origin.Layer == frontmatter.Project && slices.Contains(reserved, i.name) {
				return "a built-in agent has this name: rename it"
			}
			return ""
		},
		origin: func(a Agent) frontmatter.Origin { return a.Origin },
	}.all(s)
	return &AgentSet{agents, hidden, faults}
}

// readAgent reads a file. nil means that the file disables itself.
func readAgent(i item) (*Agent, error) {
	m, err := frontmatter.Parse(i.text)
	if err != nil {
		return nil, err
	}
	a := &Agent{Name: i.name, Origin: i.origin, Description: describe(m), Prompt: strings.TrimSpace(sanitize.Unhidden(m.Body)), Hidden: m.Bool("hidden", false)}
	if m.Bool("disable", false) {
		return nil, nil //nolint:nilnil // it is to be left out
	}
	if a.Prompt == "" {
		return nil, errEmpty
	}
	if name := m.Text("name"); name != "" && name != a.Name {
		a.Faults = append(a.Faults, fmt.Sprintf("name %.80q is ignored: the file name is the name of the agent", name))
	}
	a.readMode(m)
	a.readModel(m)
	a.readTools(m)
	a.readRules(m)
	for _, key := range []string{"steps", "maxSteps", "maxTurns"} {
		if n := m.Number(key, 1, 1000); n != nil && a.Steps == 0 {
			a.Steps = int(*n)
		}
	}
	a.Temperature, a.TopP = m.Number("temperature", 0, 2), m.Number("top_p", 0, 1)
	if color := m.Text("color"); len(color) <= 32 {
		a.Color = sanitize.Line(color)
	}
	for _, key := range []string{"hooks", "mcpServers", "mcp", "env", "provider", "options", "plugins"} {
		if m.Has(key) {
			a.ignore(key, "only your user configuration can set it")
		}
	}
	a.Faults = append(append(a.Faults, m.Faults...), unknown(m)...)
	return a, nil
}

func (a *Agent) ignore(key, why string) { a.Ignored = append(a.Ignored, Ignored{key, why}) }

// readMode reads who can use the agent.
func (a *Agent) readMode(m *frontmatter.Matter) {
	switch mode := m.Text("mode"); {
	case mode == "" && a.Origin.Tool == "claude":
		a.Mode = "subagent" // the default of that tool
	case mode == "":
		a.Mode = "all"
	case mode == "primary" || mode == "subagent" || mode == "all":
		a.Mode = mode
	default:
		a.Mode = "subagent"
		a.Faults = append(a.Faults, fmt.Sprintf("unknown mode %.40q: use primary, subagent or all; the agent is a subagent", mode))
	}
}

// readModel reads the model of the agent. A project can ask for a class of
// models, but not choose the provider or model.
func (a *Agent) readModel(m *frontmatter.Matter) {
	model := m.Text("model")
	class, known := classes[strings.ToLower(model)]
	switch {
	case model == "":
	case known:
		a.Class = class
	case slices.Contains(larger, strings.ToLower(model)):
		a.ignore("model", fmt.Sprintf("%q: the session's model is used; the only supported class is small", strings.ToLower(model)))
	case a.Origin.Layer != frontmatter.User:
		a.ignore("model", "only your user configuration can name a model; a project can use small, or inherit the session's model")
	default:
		a.Model = sanitize.Line(model)
	}
}

// readTools reads the tools of the agent. Unknown tools are not allowed.
func (a *Agent) readTools(m *frontmatter.Matter) {
	switch {
	case m.IsMap("tools"):
		a.toolFlags(m.Pairs("tools"))
	case m.Has("tools"):
		words := m.Words("tools")
		if slices.Equal(words, []string{"*"}) {
			break
		}
		a.Tools = []string{}
		for _, word := range words {
			tools := toolsAllowed(word)
			if tools == nil {
				a.ignore("tools", fmt.Sprintf("unknown tool %.80q: it is not allowed", word))
			}
			a.Tools = append(a.Tools, tools...)
		}
	}
	for _, key := range []string{"disallowedTools", "disallowed-tools"} {
		for _, word := range m.Words(key) {
			a.deny(word)
		}
	}
	slices.Sort(a.Tools)
	a.Tools = slices.Compact(a.Tools)
}

// toolFlags reads a map of tools that are on or off. Tools that are not named
// are on, unless * is off.
func (a *Agent) toolFlags(flags map[string]string) {
	all := flags["*"]
	if all != "" && all != "true" {
		a.Tools = []string{}
	}
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		switch tools := toolsAllowed(name); {
		case name == "*":
		case flags[name] != "true":
			a.deny(name)
		case tools == nil:
			a.ignore("tools", fmt.Sprintf("unknown tool %.80q: it is not allowed", name))
		case a.Tools != nil && all != "" && all != "true":
			a.Tools = append(a.Tools, tools...)
		}
	}
}

// deny removes tools.
func (a *Agent) deny(name string) {
	if a.Tools == nil {
		a.Tools = append(slices.Clone(ours), AllServers)
	}
	denied := toolsDenied(name)
	if strings.HasPrefix(name, "mcp__") || len(denied) == 0 { // other programs name the tools of MCP servers differently
		a.Tools = slices.DeleteFunc(a.Tools, OfServers)
	}
	a.Tools = slices.DeleteFunc(a.Tools, func(t string) bool { return slices.Contains(denied, t) })
}

// readRules reads the permission rules of the agent. A project's file can only
// restrict; no file can choose the permission mode.
func (a *Agent) readRules(m *frontmatter.Matter) {
	switch mode := m.Text("permissionMode"); mode {
	case "", "default":
	case "plan":
		a.Plan = true
	default:
		a.ignore("permissionMode", fmt.Sprintf("%.40q: agent files cannot loosen permissions", mode))
	}
	table := m.Table("permission")
	for _, name := range slices.Sorted(maps.Keys(table)) {
		for _, pattern := range slices.Sorted(maps.Keys(table[name])) {
			a.readRule(name, pattern, table[name][pattern])
		}
	}
}

// readRule reads one rule. A deny is interpreted broadly, an allow narrowly.
func (a *Agent) readRule(name, pattern, decision string) {
	tools := toolsDenied(name)
	if name == "*" {
		tools = []string{"*"}
	}
	switch {
	case decision == "allow" && a.Origin.Layer != frontmatter.User:
		a.ignore("permission", fmt.Sprintf("%.80q: a project cannot allow anything", name))
		return
	case decision == "allow":
		tools = toolsNamed(name)
	case decision != "ask" && decision != "deny":
		a.Faults = append(a.Faults, fmt.Sprintf("permission: %.80q must be allow, ask or deny; it is denied", name))
		decision = "deny"
	}
	switch {
	case len(tools) == 0 && decision == "allow":
		a.ignore("permission", fmt.Sprintf("unknown tool %.80q", name))
	case len(tools) == 0: // possibly a tool of an MCP server, which other programs name differently
		tools, pattern = []string{AllServers}, "*"
	}
	if pattern == "*" {
		pattern = ""
	}
	for _, tool := range tools {
		a.Rules = append(a.Rules, Rule{Tool: tool, Pattern: pattern, Decision: decision})
	}
}
