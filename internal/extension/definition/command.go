package definition

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// The directories of commands.
var (
	commandPlaces     = []place{{".pawl/commands", "pawl"}, {".claude/commands", "claude"}, {".opencode/command", "opencode"}, {".opencode/commands", "opencode"}}
	commandHomePlaces = []place{{".config/opencode/command", "opencode"}, {".config/opencode/commands", "opencode"}}
	commandOwnPlaces  = []place{{"commands", "pawl"}}
)

// Command is a custom slash command: a prompt with a name. All its texts are
// untrusted.
type Command struct {
	Name        string             `json:"name"` // directory:name if it is in a subdirectory
	Description string             `json:"description,omitempty"`
	Hint        string             `json:"hint,omitempty"`  // its arguments, for people
	Agent       string             `json:"agent,omitempty"` // "" means the session's
	Model       string             `json:"model,omitempty"` // "" means the session's
	Class       string             `json:"class,omitempty"` // as in Agent
	Body        string             `json:"-"`
	Origin      frontmatter.Origin `json:"origin"`
	Ignored     []Ignored          `json:"ignored,omitempty"`
	Faults      []string           `json:"faults,omitempty"`
}

// CommandSet holds the commands that can be used in a directory, besides the
// built-in ones.
type CommandSet struct {
	Commands []Command           `json:"commands"` // by name
	Hidden   []Hidden            `json:"hidden,omitempty"`
	Faults   []frontmatter.Fault `json:"faults,omitempty"`
}

// Commands loads command definitions. Those of the project, nearest first,
// take precedence over the user's. No file can define a command with a
// reserved name.
func Commands(s frontmatter.Sources, reserved ...string) *CommandSet {
	commands, hidden, faults := kind[Command]{
		shared: commandPlaces, home: commandHomePlaces, own: commandOwnPlaces, deep: true,
		read: readCommand,
		refuse: func(i item) string {
			if slices.Contains(reserved, i.name) {
				return "a built-in command has this name: rename it"
			}
			return ""
		},
		origin: func(c Command) frontmatter.Origin { return c.Origin },
	}.all(s)
	return &CommandSet{commands, hidden, faults}
}

func readCommand(i item) (*Command, error) {
	m, err := frontmatter.Parse(i.text)
	if err != nil {
		return nil, err
	}
	c := &Command{Name: i.name, Origin: i.origin, Description: describe(m), Hint: sanitize.Line(m.Text("argument-hint")), Body: strings.TrimSpace(sanitize.Unhidden(m.Body))}
	if c.Body == "" {
		return nil, errEmpty
	}
	if agent := m.Text("agent"); agent != "" && checkName(agent) == nil {
		c.Agent = agent
	}
	like := Agent{Origin: i.origin}
	like.readModel(m)
	c.Model, c.Class, c.Ignored = like.Model, like.Class, like.Ignored
	if m.Has("allowed-tools") {
		c.Ignored = append(c.Ignored, Ignored{"allowed-tools", "commands cannot change permissions"})
	}
	c.Faults = append(m.Faults, unknown(m)...) //nolint:gocritic // m is not used any more
	return c, nil
}

// Find returns the command with that name.
func (s *CommandSet) Find(name string) (Command, bool) {
	i := slices.IndexFunc(s.Commands, func(c Command) bool { return c.Name == name })
	if i < 0 {
		return Command{}, false
	}
	return s.Commands[i], true
}
