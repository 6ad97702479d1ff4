package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/define"
	"github.com/pawl-dev/pawl/internal/extend"
	"github.com/pawl-dev/pawl/internal/near"
	"github.com/pawl-dev/pawl/internal/permission"
	"github.com/pawl-dev/pawl/internal/plain"
	"github.com/pawl-dev/pawl/internal/safety"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// called finds the command that a prompt begins with, and what stands behind it.
var called = regexp.MustCompile(`(?s)^/([A-Za-z0-9][\w.:-]*)(?:\s+(.*))?$`)

// extend makes of a prompt what a command says, adds the documents that are named
// in the words of the command line, and gives it the model that its agent is to
// have, if no other is named.
func (f *runFlags) extend(cmd *cobra.Command, a *app, dir, words string, p *pawl.Prompt) error {
	text, _ := p.Parts[0].(pawl.Text)
	if a.mcp != nil { // else the servers are another process's
		a.mcp.attach(cmd, dir, words, f.trust, p)
	}
	name := called.FindStringSubmatch(text.Text)
	if name != nil {
		if _, err := os.Lstat("/" + name[1]); err == nil {
			name = nil // it is a path
		}
	}
	if name == nil && p.Agent == "" {
		return nil
	}
	found, err := lookHere(cmd.Context(), f.trust)
	if err != nil {
		return err
	}
	if name != nil {
		if err := f.replace(cmd, a, dir, found, name[1], name[2], p); err != nil {
			return err
		}
	}
	if p.Model == "" {
		if def, err := agent.Find(p.Agent, found); err == nil {
			p.Model = def.Model
		}
	}
	return nil
}

// replace puts what a command says, or a prompt of a server, in the place of its
// call.
func (f *runFlags) replace(cmd *cobra.Command, a *app, dir string, found *extend.Found, name, args string, p *pawl.Prompt) error {
	if c, ok := found.Commands.Find(name); ok {
		return expand(cmd, found, c, args, p)
	}
	if a.mcp == nil {
		return usageError(cmd, noCommand(found, name))
	}
	ok, err := a.mcp.prompt(cmd.Context(), dir, name, args, f.trust, p)
	if !ok {
		return usageError(cmd, noCommand(found, name))
	}
	return err
}

// expand puts a command's text in the place of its call.
func expand(cmd *cobra.Command, found *extend.Found, c define.Command, args string, p *pawl.Prompt) error {
	files, err := readableFiles(cmd.Context(), found.Dir, p.Settings)
	if err != nil {
		return err
	}
	x, err := c.Expand(strings.TrimSpace(args), files)
	if err != nil {
		return err
	}
	for _, fault := range x.Faults {
		fmt.Fprintf(cmd.ErrOrStderr(), "pawl: note: /%s: %s\n", plain.Line(c.Name), plain.Line(fault))
	}
	p.Parts[0] = pawl.Text{Text: x.Text}
	if p.Agent == "" {
		p.Agent = c.Agent
	}
	if p.Model == "" {
		p.Model = c.Model
	}
	return nil
}

// noCommand says which commands there are, or which one is likely meant.
func noCommand(found *extend.Found, name string) error {
	var names []string
	for _, c := range found.Commands.Commands {
		names = append(names, plain.Line(c.Name))
	}
	if ask := near.Ask("/", name, names); ask != "" {
		return fmt.Errorf("there is no command /%s%s ('pawl commands list' shows all)", plain.Line(name), ask)
	}
	if len(names) == 0 {
		return fmt.Errorf("there is no command /%s, nor any other here; to begin a prompt with a slash, put a blank before it", plain.Line(name))
	}
	return fmt.Errorf("there is no command /%s; there are: %s", plain.Line(name), "/"+strings.Join(names, ", /"))
}

// readableFiles reads the files of the folder that may be read without asking: a
// command that a project brings must not fetch more into a prompt than the model
// could.
func readableFiles(ctx context.Context, dir string, s pawl.Settings) (define.Files, error) {
	guard, err := safety.Open()
	if err != nil {
		return nil, err
	}
	policy, err := guard.Policy(ctx, "", dir, s)
	if err != nil {
		return nil, err
	}
	return func(path string, limit int64) ([]byte, error) {
		real, err := workspace.Real(policy.Dir, path)
		if err != nil {
			return nil, err
		}
		accesses := []pawl.Access{{Kind: pawl.AccessRead, Target: path}, {Kind: pawl.AccessRead, Target: real}}
		if permission.Decide(policy, permission.Call{Tool: "read", Risk: pawl.RiskSafe, Access: accesses}).Decision != permission.Allow {
			return nil, fmt.Errorf("it may not be read without asking: %w", pawl.ErrDenied)
		}
		w, err := workspace.Open(policy.Dir)
		if err != nil {
			return nil, err
		}
		defer w.Close()
		return define.FilesIn(w)(path, limit)
	}, nil
}
