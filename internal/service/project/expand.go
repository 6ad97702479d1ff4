package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/extension/definition"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/suggest"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// commandCall matches a prompt that begins with a command, and its arguments.
var commandCall = regexp.MustCompile(`(?s)^/([A-Za-z0-9][\w.:-]*)(?:\s+(.*))?$`)

// Expand expands a prompt. Only its first part is expanded, if that is a text: a command at its
// beginning, and the files and resources of MCP servers that it mentions. A prompt without a model gets
// the one of its agent, if that has one.
func (d *Local) Expand(ctx context.Context, dir string, p pawl.Prompt) (pawl.Prompt, []string, error) {
	real, err := realDir(dir)
	if err != nil {
		return p, nil, fmt.Errorf("expand: %w", err)
	}
	e := &expansion{projects: d, dir: real, spelled: dir, prompt: p}
	e.prompt.Parts = append(pawl.Parts{}, p.Parts...)
	if err := e.run(ctx); err != nil {
		return p, nil, err
	}
	return e.prompt, bounded(e.notes), nil
}

// expansion is the expansion of one prompt.
type expansion struct {
	projects *Local
	dir      string // the real path
	spelled  string // the path as sessions have it, which identifies servers
	prompt   pawl.Prompt
	found    *extension.Found // nil until needed
	notes    []string
}

func (e *expansion) run(ctx context.Context) error {
	if _, _, err := e.projects.Safety.Project(ctx, e.dir, e.prompt.Trusted); err != nil && ctx.Err() != nil {
		return context.Cause(ctx) // otherwise the directory is just not trusted
	}
	if words, ok := e.words(); ok {
		if err := e.replace(ctx, words); err != nil {
			return err
		}
	}
	if e.prompt.Model == "" && e.prompt.Agent != "" {
		if def, err := agent.Find(e.prompt.Agent, e.look(ctx)); err == nil {
			e.prompt.Model = def.Model
		}
	}
	return nil
}

// words returns what the user has written.
func (e *expansion) words() (string, bool) {
	if len(e.prompt.Parts) == 0 {
		return "", false
	}
	text, ok := e.prompt.Parts[0].(pawl.Text)
	return text.Text, ok
}

// look reads the project's configuration, once.
func (e *expansion) look(ctx context.Context) *extension.Found {
	if e.found == nil {
		e.found = e.projects.Places.Look(ctx, e.dir)
	}
	return e.found
}

// replace replaces the words by what they stand for, or appends it.
func (e *expansion) replace(ctx context.Context, words string) error {
	if e.projects.Servers != nil {
		e.notes = append(e.notes, e.projects.Servers.Attach(ctx, e.spelled, words, &e.prompt)...)
	}
	name := commandCall.FindStringSubmatch(words)
	if name != nil {
		if _, err := os.Lstat("/" + name[1]); err == nil {
			name = nil // it is a path
		}
	}
	if name == nil {
		return e.mention(ctx, words)
	}
	if c, ok := e.look(ctx).Commands.Find(name[1]); ok {
		return e.command(ctx, c, name[2])
	}
	if e.projects.Servers != nil {
		if found, err := e.projects.Servers.Prompt(ctx, e.spelled, name[1], name[2], &e.prompt); found || err != nil {
			return err
		}
	}
	return unknownCommand(e.look(ctx), name[1])
}

// command replaces the call of a command by its text.
func (e *expansion) command(ctx context.Context, c definition.Command, args string) error {
	files, err := e.readable(ctx)
	if err != nil {
		return err
	}
	x, err := c.Expand(strings.TrimSpace(args), files)
	if err != nil {
		return err
	}
	for _, fault := range x.Faults {
		e.notes = append(e.notes, fmt.Sprintf("/%s: %s", c.Name, fault))
	}
	e.prompt.Parts[0] = pawl.Text{Text: x.Text}
	if e.prompt.Agent == "" {
		e.prompt.Agent = c.Agent
	}
	if e.prompt.Model == "" {
		e.prompt.Model = c.Model
	}
	return nil
}

// unknownCommand returns an error that suggests the closest command, or lists the commands.
func unknownCommand(found *extension.Found, name string) error {
	var names []string
	for _, c := range found.Commands.Commands {
		names = append(names, sanitize.Line(c.Name))
	}
	err := fault.New(pawl.ErrInvalid, "unknown command \"/%s\"", sanitize.Line(name))
	switch meant := suggest.Name(name, names); {
	case meant != "":
		return err.Hint("Did you mean \"/%s\"?", meant)
	case len(names) == 0:
		return err.Hint("To start a prompt with a slash, put a space before it.")
	}
	return err.Hint("Run `pawl extensions list commands` to see all commands.")
}

// readable returns a function that reads the files of the directory that may be read without asking: a
// prompt must not fetch more than the model could.
func (e *expansion) readable(ctx context.Context) (definition.Files, error) {
	policy, err := e.projects.Safety.Policy(ctx, "", e.dir, e.prompt.Settings)
	if err != nil {
		return nil, err
	}
	return func(path string, limit int64) ([]byte, error) {
		if !readAllowed(policy, path) {
			return nil, fault.New(pawl.ErrDenied, "reading it requires permission")
		}
		w, err := workspace.Open(policy.Dir)
		if err != nil {
			return nil, err
		}
		defer w.Close()
		if info, err := w.Stat(path); err == nil && info.IsDir() {
			return nil, errIsDir
		}
		return definition.FilesIn(w)(path, limit)
	}, nil
}

var errIsDir = errors.New("is a directory")
