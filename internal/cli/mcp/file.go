package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	configcmd "github.com/pawl-dev/pawl/internal/cli/config"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/mcp/mcpclient"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/security/trust"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// sharedFile is the project's file of MCP servers, which other agents read too.
const sharedFile = ".mcp.json"

// serverFile is the file that holds servers: the project's .mcp.json if project is set, otherwise the user's
// configuration.
type serverFile struct{ project bool }

// file returns the path of the file, for messages.
func (p serverFile) file() (string, error) {
	if p.project {
		return sharedFile, nil
	}
	return config.UserFile()
}

// key returns the key that the servers are listed under.
func (p serverFile) key() string {
	if p.project {
		return "mcpServers"
	}
	return "mcp"
}

// entries returns the servers as they are written in the file. Variables are not expanded, so an unset variable does
// not prevent a change.
func (p serverFile) entries() (map[string]config.Server, error) {
	where, err := p.file()
	if err != nil {
		return nil, err
	}
	text, err := p.read()
	if err != nil {
		return nil, err
	}
	all, err := config.ServersIn(text, p.key())
	if err != nil {
		return nil, fault.New(pawl.ErrInvalid, "read %s: %w", where, err).Hint("Correct the file first.")
	}
	return all, nil
}

// put writes a server. If the name exists already it returns ErrConflict, unless force is set.
func (p serverFile) put(name string, s config.Server, force bool) error {
	all, err := p.entries()
	if err != nil {
		return err
	}
	if _, taken := all[name]; taken && !force {
		where, err := p.file()
		return errors.Join(err, fault.New(pawl.ErrConflict, "MCP server %s already exists in %s", name, where).Hint("Use another name, or replace it with --force."))
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return p.set([]string{name}, spaced(text))
}

// spaced adds a space after each comma and colon of compact JSON.
func spaced(text []byte) []byte {
	var out []byte
	quoted, escaped := false, false
	for _, c := range text {
		out = append(out, c)
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == ':'):
			out = append(out, ' ')
		}
	}
	return out
}

// set sets the value at a path below the key of the servers.
func (p serverFile) set(path []string, value []byte) error {
	if !p.project {
		return config.Set(userKey(path), string(value), configcmd.Usable)
	}
	return p.change(func(text []byte) ([]byte, error) {
		return config.SetText(text, append([]string{p.key()}, path...), value)
	})
}

// unset removes the value at a path below the key of the servers.
func (p serverFile) unset(path []string) error {
	if !p.project {
		return config.Unset(userKey(path), configcmd.Usable)
	}
	return p.change(func(text []byte) ([]byte, error) {
		return config.UnsetText(text, append([]string{p.key()}, path...))
	})
}

func userKey(path []string) string {
	key := "/mcp"
	for _, part := range path {
		key += "/" + part
	}
	return key
}

// read returns the content of the file, or an empty object if the file does not exist.
func (p serverFile) read() (text []byte, err error) {
	if !p.project {
		return config.UserText()
	}
	err = p.folder(func(w *workspace.Workspace) error {
		text, err = w.ReadFile(sharedFile)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return []byte("{\n}\n"), nil
	}
	return text, err
}

func (p serverFile) folder(f func(w *workspace.Workspace) error) error {
	dir, err := app.WorkingDir()
	if err != nil {
		return err
	}
	w, err := workspace.Open(dir)
	if err != nil {
		return err
	}
	defer w.Close()
	return f(w)
}

// change edits the project's .mcp.json. It returns an error if the result is invalid.
func (p serverFile) change(edit func([]byte) ([]byte, error)) error {
	text, err := p.read()
	if err != nil {
		return err
	}
	if text, err = edit(text); err != nil {
		return fmt.Errorf("change %s: %w", sharedFile, err)
	}
	if _, _, err := mcpclient.ParseFile(text, mcpclient.Project); err != nil {
		return fmt.Errorf("change %s: the file would be invalid: %w", sharedFile, err)
	}
	return p.folder(func(w *workspace.Workspace) error { return w.WriteFile(sharedFile, text) })
}

// printTrustHint prints that the project's servers are inactive until the user trusts the project.
func (p serverFile) printTrustHint(ctx context.Context, w io.Writer) {
	if !p.project {
		return
	}
	guard, err := policy.Open()
	if err != nil {
		return // the change is saved; this is only a hint
	}
	dir, err := os.Getwd()
	if err != nil {
		return
	}
	if folder, _, err := guard.Project(ctx, dir, false); err == nil && folder.State != trust.Trusted {
		fmt.Fprintln(w, "pawl: note: the project configuration has changed and is inactive. Run `pawl trust` to trust it.")
	}
}

// existing returns a server of the file. If the server is in the other file, the error says so.
func (p serverFile) existing(name string) (config.Server, error) {
	all, err := p.entries()
	if err != nil {
		return config.Server{}, err
	}
	if s, ok := all[name]; ok {
		return s, nil
	}
	where, err := p.file()
	if err != nil {
		return config.Server{}, err
	}
	others, err := serverFile{project: !p.project}.entries()
	_, elsewhere := others[name]
	switch {
	case err == nil && elsewhere && p.project:
		return config.Server{}, fault.New(pawl.ErrNotFound, "MCP server %.40q not found in %s", name, where).Hint("It is in your own configuration: omit --project.")
	case err == nil && elsewhere:
		return config.Server{}, fault.New(pawl.ErrNotFound, "MCP server %.40q not found in %s", name, where).Hint("It is in .mcp.json of this directory: use --project.")
	}
	return config.Server{}, fault.New(pawl.ErrNotFound, "MCP server %.40q not found in %s", name, where).Hint("Run `pawl mcp list` to see all servers.")
}

func mcpRemoveCommand() *cobra.Command {
	var p serverFile
	cmd := &cobra.Command{
		Use:   "remove name",
		Short: "Remove an MCP server and its login",
		Long: `Remove an MCP server from your configuration or, with --project, from .mcp.json in this
directory. The rest of the file does not change. A saved login is deleted.`,
		Example: "  pawl mcp remove files\n  pawl mcp remove files --project",
		Args:    cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := p.existing(args[0]); err != nil {
				return err
			}
			if err := forgetLogin(cmd, args[0]); err != nil {
				return err
			}
			if err := p.unset(args[:1]); err != nil {
				return err
			}
			where, err := p.file()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "Removed %s from %s.\n", sanitize.Line(args[0]), sanitize.Line(where))
			p.printTrustHint(cmd.Context(), cmd.ErrOrStderr())
			return err
		},
	}
	cmd.Flags().BoolVar(&p.project, "project", false, "remove it from .mcp.json in this directory instead of your configuration")
	return cmd
}

// forgetLogin deletes the stored login of a server that is about to be removed, because 'pawl mcp logout' cannot find
// the server afterwards.
func forgetLogin(cmd *cobra.Command, name string) error {
	h, err := openServers(cmd.Context())
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "pawl: note: cannot check for a saved login: %v\n", err)
		return nil
	}
	e, err := h.find(name)
	if err != nil {
		return nil //nolint:nilerr // one that cannot be used has no login
	}
	in, err := h.LoggedIn(e.Server)
	if err != nil || !in {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "pawl: deleted the login to %s\n", e.Name)
	return h.Logout(e.Server)
}

func mcpEnableCommand() *cobra.Command {
	return mcpSwitchCommand("enable", "Enable an MCP server", func(p serverFile, name string, s config.Server) error {
		if !s.Disabled {
			return nil
		}
		return p.unset([]string{name, "disabled"})
	})
}

func mcpDisableCommand() *cobra.Command {
	return mcpSwitchCommand("disable", "Disable an MCP server without removing it", func(p serverFile, name string, s config.Server) error {
		if s.Disabled {
			return nil
		}
		return p.set([]string{name, "disabled"}, []byte("true"))
	})
}

func mcpSwitchCommand(verb, short string, change func(p serverFile, name string, s config.Server) error) *cobra.Command {
	var p serverFile
	cmd := &cobra.Command{
		Use:     verb + " name",
		Short:   short,
		Example: fmt.Sprintf("  pawl mcp %s files\n  pawl mcp %s files --project", verb, verb),
		Args:    cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := p.existing(args[0])
			if err != nil {
				return err
			}
			if err := change(p, args[0], s); err != nil {
				return err
			}
			p.printTrustHint(cmd.Context(), cmd.ErrOrStderr())
			return nil
		},
	}
	cmd.Flags().BoolVar(&p.project, "project", false, "change .mcp.json in this directory instead of your configuration")
	return cmd
}
