package pawl

import (
	"context"
	"io"
)

// Projects tells front ends about working directories: models, agents, commands,
// skills, files and trust. None of its methods makes the configuration of an
// untrusted project effective.
type Projects interface {
	// Look describes a working directory.
	Look(ctx context.Context, dir string) (Project, error)

	// Trust marks the project configuration as trusted; hash is the one that Look
	// returned. ErrConflict if the configuration has changed since.
	Trust(ctx context.Context, dir, hash string) error

	// Models returns the available models.
	Models(ctx context.Context) ([]ModelInfo, error)

	// Files returns the paths of files that match query fuzzily, best match first,
	// at most limit. Ignored files are left out.
	Files(ctx context.Context, dir, query string, limit int) ([]string, error)

	// Expand replaces a leading /command and @file mentions of a prompt by what
	// they stand for. notes are messages for the user.
	Expand(ctx context.Context, dir string, p Prompt) (expanded Prompt, notes []string, err error)

	// Diff returns what a session changed in files, including what its commands and
	// subagents changed: in one turn, or from its first change to now without what was
	// undone. Files that permission rules keep from being read have no patch. ErrNotFound
	// if the turn does not exist, or the directory is in no repository.
	Diff(ctx context.Context, id SessionID, o DiffOptions) (Diff, error)

	// ListDir returns the entries of one of a session's directories, sorted by name; more
	// is set if there are too many. A path is relative to the working directory, "" is
	// the working directory itself, or absolute in an added directory.
	ListDir(ctx context.Context, id SessionID, path string) (entries []FileInfo, more bool, err error)

	// ReadFile returns a part of a file of a session, and the size of the whole file; a
	// length of 0 means as much as is allowed, 1 MiB. ErrDenied if the read tool of the
	// session would have to ask first, or may not read it. The media type is safe for
	// browsers: plain text, an image or unknown, by content.
	ReadFile(ctx context.Context, id SessionID, path string, offset, length int64) (part File, size int64, err error)

	// Output opens a stored output; see [Result.Full].
	Output(ctx context.Context, id SessionID, blob string) (io.ReadCloser, error)
}

// Project describes a working directory: its settings, sandbox, agents, commands, skills and MCP servers.
type Project struct {
	Dir      string        `json:"dir"`              // with symbolic links resolved
	Top      string        `json:"top"`              // of the repository, or Dir
	Branch   string        `json:"branch,omitempty"` // the current branch
	Model    string        `json:"model,omitempty"`  // the default model
	Mode     string        `json:"mode"`             // the default permission mode
	Modes    []string      `json:"modes"`            // the allowed permission modes
	Sandbox  string        `json:"sandbox"`          // bubblewrap, landlock, seatbelt or none
	Trust    TrustInfo     `json:"trust"`
	Agents   []AgentInfo   `json:"agents"`
	Commands []CommandInfo `json:"commands"`
	Skills   []SkillInfo   `json:"skills"`
	Servers  []ServerInfo  `json:"servers"` // MCP servers
	Notes    []string      `json:"notes"`   // problems in the configuration of the project or the user
}

// TrustInfo is what the project configuration would enable, and whether it is
// trusted.
type TrustInfo struct {
	State string   `json:"state"` // trusted, changed, unknown
	Hash  string   `json:"hash"`  // of Parts
	Parts []string `json:"parts"` // what it would enable, for display
}

// AgentInfo is an agent, as a picker shows it.
type AgentInfo struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Origin      string `json:"origin"`           // built-in, user or project
	Mode        string `json:"mode"`             // primary (takes prompts), subagent or all
	Native      bool   `json:"native,omitempty"` // built in
	Hidden      bool   `json:"hidden,omitempty"` // not offered to the user
	Color       string `json:"color,omitempty"`
	Model       string `json:"model,omitempty"` // "" means the session's
}

// Offered reports whether the user can choose the agent for prompts.
func (a AgentInfo) Offered() bool { return a.Mode != "subagent" && !a.Hidden }

// CommandInfo is a slash command.
type CommandInfo struct {
	Name        string `json:"name"` // without the slash
	Description string `json:"description,omitempty"`
	Arguments   string `json:"arguments,omitempty"` // a hint on its arguments
	Origin      string `json:"origin"`
}

// SkillInfo is a skill that the model can load.
type SkillInfo struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Origin      string `json:"origin"`
}

// ServerInfo is an MCP server.
type ServerInfo struct {
	Name   string `json:"name"`
	State  string `json:"state"` // starting, ready, failed, needs login, disabled; "" if it was not started
	Why    string `json:"why,omitempty"`
	Tools  int    `json:"tools,omitempty"`
	Origin string `json:"origin"`
}

// ModelInfo is an available model.
type ModelInfo struct {
	Ref       string   `json:"ref"`
	Name      string   `json:"name"`
	Provider  string   `json:"provider"`
	Context   int      `json:"context,omitempty"` // size of its context window in tokens; 0 means unknown
	Input     Money    `json:"input,omitempty"`   // price of a million tokens
	Output    Money    `json:"output,omitempty"`
	Reasoning bool     `json:"reasoning,omitempty"`
	Efforts   []string `json:"efforts,omitempty"` // the reasoning efforts that it supports, in ascending order
	Images    bool     `json:"images,omitempty"`
}
