// Package completion completes slash commands and mentions in the prompt.
package completion

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/suggest"
)

// Command is a slash command of the terminal UI.
type Command struct {
	Name      string
	Help      string
	Arguments string      // "" means none; in brackets they are optional
	Key       keys.Action // bound to the same, or ""
}

// Run asks the app to run a command.
type Run struct{ Name, Arguments string }

// Builtin are the commands of the terminal UI.
var Builtin = []Command{
	{"help", "what the keys do", "", keys.Help},
	{"new", "begin a new session", "", keys.NewSession},
	{"sessions", "open another session", "", keys.Sessions},
	{"models", "choose the model", "[model]", keys.Models},
	{"agents", "choose the agent", "[agent]", keys.Agents},
	{"mode", "what pawl may do without asking", "[mode]", keys.NextMode},
	{"compact", "make the conversation smaller", "[what matters]", ""},
	{"rewind", "go back to before a message", "", ""},
	{"undo", "take the newest turn back, files too", "", ""},
	{"redo", "bring back what was taken back", "", ""},
	{"fork", "begin another session as this one is or was", "", ""},
	{"tasks", "tasks and commands in the background", "", keys.Tasks},
	{"mission", "work on a goal until it is proven to be reached", "<goal>", ""},
	{"task", "the same as /mission", "<goal>", ""},
	{"board", "how far the mission is, and who works on what", "", keys.Mission},
	{"rename", "give the session another title", "<title>", ""},
	{"theme", "choose the colors", "[theme]", keys.Themes},
	{"trust", "what this folder brings, and whether it may", "", ""},
	{"todos", "open or close the list of what is to be done", "", keys.Todos},
	{"stats", "what the models consumed and cost", "", ""},
	{"permissions", "what pawl may do without asking, and taking it back", "", ""},
	{"export", "write the session to a file: .md, .html or .jsonl", "[file]", ""},
	{"search", "find something in the conversation", "[words]", ""},
	{"copy", "copy the newest reply", "", ""},
	{"editor", "write in your own editor", "", keys.EditOutside},
	{"paste", "paste, images too", "", keys.Paste},
	{"clear", "take out what is written", "", ""},
	{"quit", "end pawl; the session can be continued", "", keys.Quit},
}

// NeedsArguments reports whether arguments are required.
func NeedsArguments(arguments string) bool {
	return arguments != "" && !strings.HasPrefix(arguments, "[")
}

// Find returns a command of the terminal UI.
func Find(name string) (Command, bool) {
	i := slices.IndexFunc(Builtin, func(c Command) bool { return c.Name == name })
	if i < 0 {
		return Command{}, false
	}
	return Builtin[i], true
}

// called matches a slash command and its arguments.
var called = regexp.MustCompile(`(?s)^/([A-Za-z0-9][\w.:-]*)(?:\s+(.*))?$`)

// Parse parses the slash command that a prompt begins with. It returns false if the prompt begins with another text,
// such as a path.
func Parse(text string) (name, arguments string, ok bool) {
	m := called.FindStringSubmatch(strings.TrimRight(text, " \n\t"))
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// isName matches the names of commands.
var isName = regexp.MustCompile(`^[A-Za-z0-9][\w.:-]*$`)

// IsName reports whether a word can be the name of a command.
func IsName(word string) bool { return isName.MatchString(word) }

// Unknown returns an error for an unknown command that suggests a similar one.
func Unknown(name string, folder pawl.Project) error {
	names := make([]string, 0, len(Builtin)+len(folder.Commands))
	for _, c := range Builtin {
		names = append(names, c.Name)
	}
	for _, c := range folder.Commands {
		names = append(names, sanitize.Line(c.Name))
	}
	return fault.New(pawl.ErrNotFound, "there is no command /%s%s (a blank before the slash makes it text)", sanitize.Line(name), suggest.Ask("/", name, names))
}

// Known reports whether the project defines a command.
func Known(name string, folder pawl.Project) bool {
	return slices.ContainsFunc(folder.Commands, func(c pawl.CommandInfo) bool { return c.Name == name })
}
