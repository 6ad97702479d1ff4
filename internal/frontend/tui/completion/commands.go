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
	{"help", "Show keys and commands", "", keys.Help},
	{"new", "Start a new session", "", keys.NewSession},
	{"sessions", "Open another session", "", keys.Sessions},
	{"models", "Choose the model", "[model]", keys.Models},
	{"agents", "Choose the agent", "[agent]", keys.Agents},
	{"mode", "Choose the permission mode", "[mode]", keys.NextMode},
	{"add-dir", "Work in a further project directory too", "[path]", ""},
	{"isolate", "Work on a copy; apply or discard it at the end", "", ""},
	{"compact", "Summarize the conversation to free context", "[instructions]", ""},
	{"rewind", "Rewind to before a message", "", ""},
	{"undo", "Undo the last turn and its file changes", "", ""},
	{"redo", "Redo what was undone", "", ""},
	{"fork", "Fork this session", "", ""},
	{"tasks", "Show subagents and background commands", "", keys.Tasks},
	{"mission", "Run a team of agents until a goal is verified", "<goal>", ""},
	{"task", "Same as /mission", "<goal>", ""},
	{"board", "Show the progress of the mission", "", keys.Mission},
	{"rename", "Rename the session", "<title>", ""},
	{"theme", "Choose the theme", "[theme]", keys.Themes},
	{"login", "Connect to a model provider", "[provider]", ""},
	{"logout", "Delete a stored API key", "[provider]", ""},
	{"trust", "Review and trust the project configuration", "", ""},
	{"todos", "Show or hide the todo list", "", keys.Todos},
	{"stats", "Show token usage and cost", "", ""},
	{"permissions", "Show and revoke permissions", "", ""},
	{"export", "Export the session to .md, .html or .jsonl", "[file]", ""},
	{"search", "Search the conversation", "[text]", ""},
	{"copy", "Copy the last reply", "", ""},
	{"editor", "Edit the prompt in $EDITOR", "", keys.EditOutside},
	{"paste", "Paste text or an image", "", keys.Paste},
	{"clear", "Clear the prompt", "", ""},
	{"quit", "Quit Pawl; the session is saved", "", keys.Quit},
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
	quoted := `"/` + sanitize.Line(name) + `"`
	if similar := suggest.Quoted("/", name, names); similar != "" {
		return fault.New(pawl.ErrNotFound, "unknown command %s", quoted).Hint("Did you mean %s?", similar)
	}
	return fault.New(pawl.ErrNotFound, "unknown command %s", quoted).Hint("To send it as text, type a space first.")
}

// Known reports whether the project defines a command.
func Known(name string, folder pawl.Project) bool {
	return slices.ContainsFunc(folder.Commands, func(c pawl.CommandInfo) bool { return c.Name == name })
}
