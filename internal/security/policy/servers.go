package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// serversFile is where repositories configure MCP servers for any agent.
const serversFile = ".mcp.json"

// ServerFile is the part of a configuration that is about MCP servers, unparsed and
// unchecked.
type ServerFile struct {
	File    string
	Project bool   // of a trusted project; otherwise the user's
	Text    []byte // a JSON object with the key mcp or mcpServers
}

// projectServers reads the MCP servers of a trusted project.
func projectServers(c config.Project, read func(name string) ([]byte, error)) ([]ServerFile, error) {
	var files []ServerFile
	if c.MCP != nil {
		text, err := json.Marshal(map[string]json.RawMessage{"mcp": c.MCP})
		if err != nil {
			return nil, err
		}
		files = append(files, ServerFile{File: config.ProjectFile, Project: true, Text: text})
	}
	text, err := read(serversFile)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, pawl.ErrNotFound):
		return files, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", serversFile, err)
	}
	return append(files, ServerFile{File: serversFile, Project: true, Text: text}), nil
}

// Servers returns the configurations of MCP servers for sessions in a directory: the
// user's first, whose names win, then the project's if it is trusted.
func (s *Safety) Servers(ctx context.Context, dir string, userTrusts bool) ([]ServerFile, error) {
	user, err := s.User()
	if err != nil {
		return nil, err
	}
	path, err := config.UserFile()
	if err != nil {
		return nil, err
	}
	known, err := s.projects.of(ctx, s, dir, userTrusts)
	if err != nil {
		return nil, err
	}
	var files []ServerFile
	if len(user.MCP) > 0 {
		text, err := json.Marshal(map[string]any{"mcp": user.MCP})
		if err != nil {
			return nil, err
		}
		files = append(files, ServerFile{File: path, Text: text})
	}
	return slices.Concat(files, known.servers), nil
}

// WrapTools puts an MCP server of a project into a sandbox that only reads the workspace, with
// access to the hosts that the user allows commands. It returns an error if there is no
// sandbox: trusting the project does not permit to run the server without one.
func (s *Safety) WrapTools(ctx context.Context, dir, root string, args, env []string) (sandbox.Wrapped, error) {
	p, err := s.ownerProfile(ctx, dir, ownerServer)
	if err != nil {
		return sandbox.Wrapped{}, err
	}
	user, err := s.User()
	if err != nil {
		return sandbox.Wrapped{}, err
	}
	p.Work, p.ReadOnly, p.Pass, p.Env = root, true, proc.Marks(), append(p.Env, env...)
	w, err := s.withCaches(ctx, p, true, func(p sandbox.Profile) (sandbox.Wrapped, error) {
		return s.wrapOut(ctx, args, p, true, user.Sandbox.Network)
	})
	if errors.Is(err, sandbox.ErrNoSandbox) {
		return w, fault.New(err, "MCP servers of a project run only in the sandbox: %w", err).Hint("Run `pawl doctor`, or add the server to your user configuration.")
	}
	return w, err
}
