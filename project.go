package pawl

import (
	"context"
	"io"
)

// Projects is what front ends know beside the sessions: what there is in a directory to
// work with, and what a person's words stand for. Nothing of a directory's takes
// effect by looking at it.
type Projects interface {
	// Look says what sessions in a directory have to work with.
	Look(ctx context.Context, dir string) (Project, error)

	// Trust lets what a directory brings take effect, as Look has shown it: hash is
	// of that. ErrConflict if it has changed since.
	Trust(ctx context.Context, dir, hash string) error

	// Models returns the models that can be asked.
	Models(ctx context.Context) ([]ModelInfo, error)

	// Files returns the paths of a directory's files that fit the letters of query,
	// the best first, at most limit of them. Ignored files are left out.
	Files(ctx context.Context, dir, query string, limit int) ([]string, error)

	// Expand makes of a prompt what its words stand for: a command that it begins
	// with, files that it mentions. Notes are what a person is to know of it.
	Expand(ctx context.Context, dir string, p Prompt) (expanded Prompt, notes []string, err error)

	// Output opens an output that is kept beside the log; see [Result.Spill].
	Output(ctx context.Context, id SessionID, blob string) (io.ReadCloser, error)
}

// Project describes a working directory: its settings, sandbox, agents, commands, skills and MCP servers.
type Project struct {
	Dir      string        `json:"dir"`              // real
	Top      string        `json:"top"`              // of its repository, or Dir
	Branch   string        `json:"branch,omitempty"` // that is checked out
	Model    string        `json:"model,omitempty"`  // when none is named
	Mode     string        `json:"mode"`             // when none is named
	Modes    []string      `json:"modes"`            // that may be used
	Sandbox  string        `json:"sandbox"`          // bubblewrap, landlock, seatbelt or none
	Trust    TrustInfo     `json:"trust"`
	Agents   []AgentInfo   `json:"agents"` // that take prompts
	Commands []CommandInfo `json:"commands"`
	Skills   []SkillInfo   `json:"skills"`
	Servers  []ServerInfo  `json:"servers"` // of MCP
	Notes    []string      `json:"notes"`   // what is wrong with what the directory and the user bring
}

// TrustInfo is what a directory would enable, and whether it may.
type TrustInfo struct {
	State string   `json:"state"` // trusted, changed, unknown
	Hash  string   `json:"hash"`  // of Parts
	Parts []string `json:"parts"` // what it would enable, for people
}

// AgentInfo is an agent that takes prompts.
type AgentInfo struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Origin      string `json:"origin"` // built-in, user or project
	Model       string `json:"model,omitempty"`
}

// CommandInfo is a command that a prompt can begin with.
type CommandInfo struct {
	Name        string `json:"name"` // without the slash
	Description string `json:"description,omitempty"`
	Arguments   string `json:"arguments,omitempty"` // what stands behind it
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
	State  string `json:"state"` // starting, ready, failed, needs login, disabled, or "" if it was not started yet
	Why    string `json:"why,omitempty"`
	Tools  int    `json:"tools,omitempty"`
	Origin string `json:"origin"`
}

// ModelInfo is a model that can be asked.
type ModelInfo struct {
	Ref       string `json:"ref"`
	Name      string `json:"name"`
	Provider  string `json:"provider"`
	Context   int    `json:"context,omitempty"` // tokens of its window; 0 means that nobody knows
	Input     Money  `json:"input,omitempty"`   // for a million tokens
	Output    Money  `json:"output,omitempty"`
	Reasoning bool   `json:"reasoning,omitempty"`
	Images    bool   `json:"images,omitempty"`
}
