// Package manage describes what a person manages on the machine that runs Pawl: the
// configuration, API keys, permissions and extensions. [Service] is implemented by the
// program itself and, over HTTP, by its server.
package manage

import (
	"context"
	"encoding/json"
	"time"
)

// Service manages the configuration of the user who runs Pawl. Nothing that it returns
// contains a secret. What a project configures can be read and not changed.
//
// Changes of the user's configuration file take the hash that Config returned, and are
// rejected as a conflict if the file has changed since.
type Service interface {
	// Config returns the effective settings with their origins. Without dir, those of
	// projects are left out.
	Config(ctx context.Context, dir string) (Config, error)

	// Providers returns the providers of models and of web search, and which of them have
	// a key.
	Providers(ctx context.Context) ([]Provider, error)

	// Permissions returns the permission mode, rules and saved answers for a directory.
	Permissions(ctx context.Context, dir string) (Permissions, error)

	// Extensions returns the agents, commands, skills, hooks, MCP servers, rules and
	// language servers of a directory. It starts none.
	Extensions(ctx context.Context, dir string) (Extensions, error)

	// SetValue sets a value in the user's configuration file, and returns the hash of the
	// changed file. A null value removes the key.
	SetValue(ctx context.Context, key string, value json.RawMessage, hash string) (string, error)

	// SetKey saves a provider's API key, TestKey sends a small request with it, and
	// DeleteKey deletes it. No method returns it.
	SetKey(ctx context.Context, provider, key string) (Provider, error)
	TestKey(ctx context.Context, provider string) (KeyTest, error)
	DeleteKey(ctx context.Context, provider string) (Provider, error)

	// EnableServer enables or disables an MCP server of the user, and RemoveServer
	// removes it with its login. Both return the hash of the changed file.
	EnableServer(ctx context.Context, name string, enabled bool, hash string) (string, error)
	RemoveServer(ctx context.Context, name, hash string) (string, error)

	// AddRule adds a permission rule to the user's configuration, and RemoveRule removes
	// it. Both return the hash of the changed file. RevokeAnswer revokes a saved answer.
	AddRule(ctx context.Context, r Rule, hash string) (string, error)
	RemoveRule(ctx context.Context, r Rule, hash string) (string, error)
	RevokeAnswer(ctx context.Context, id string) error
}

// Config is the effective configuration.
type Config struct {
	File     string    `json:"file"` // the user's configuration file
	Hash     string    `json:"hash"` // of that file
	Settings []Setting `json:"settings"`
	Problems []string  `json:"problems"` // files that cannot be read
}

// Setting is an effective value and its origin. Secrets in it are masked.
type Setting struct {
	Key    string          `json:"key"`
	Value  json.RawMessage `json:"value"`
	Layer  string          `json:"layer"`            // built-in, managed, user, project or env
	Source string          `json:"source,omitempty"` // a file or a variable
}

// Provider is a provider of models or of web search.
type Provider struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Protocol string `json:"protocol"`         // of its API; search for web search
	Models   int    `json:"models,omitempty"` // number of its models that Pawl knows
	Key      string `json:"key,omitempty"`    // where its API key comes from: environment, keyring or file; omitted if it has none
	Source   string `json:"source,omitempty"` // the variable or file that has the key
	Problem  string `json:"problem,omitempty"`
}

// Where a key comes from.
const (
	KeyEnvironment = "environment"
	KeyKeyring     = "keyring"
	KeyFile        = "file"
)

// KeyTest is the result of testing an API key.
type KeyTest struct {
	Works   bool   `json:"works"`
	Verdict string `json:"verdict"` // works, key rejected, unreachable or inconclusive
	Detail  string `json:"detail,omitempty"`
	Key     string `json:"key"` // where the key comes from: environment, keyring or file
}

// Permissions is what is allowed in a directory.
type Permissions struct {
	Mode    string        `json:"mode"`
	Rules   []Rule        `json:"rules"`   // without built-in ones
	Answers []SavedAnswer `json:"answers"` // what people chose to always allow
}

// Rule is a permission rule.
type Rule struct {
	Tool     string   `json:"tool,omitempty"`
	Kind     string   `json:"kind,omitempty"` // of access; may be omitted where the tool tells it
	Pattern  string   `json:"pattern,omitempty"`
	Decision string   `json:"decision"`            // allow, ask or deny
	Match    []string `json:"match,omitempty"`     // examples that it must match
	NotMatch []string `json:"not_match,omitempty"` // examples that it must not match
	Origin   string   `json:"origin,omitempty"`    // user or project; ignored in requests
}

// SavedAnswer is a permission that a person chose to always allow.
type SavedAnswer struct {
	ID      string    `json:"id"`
	Rule    Rule      `json:"rule"`
	Scope   string    `json:"scope"`
	Dir     string    `json:"dir"` // the project
	Session string    `json:"session,omitempty"`
	At      time.Time `json:"at"`
}

// Extensions lists extensions.
type Extensions struct {
	Extensions []Extension        `json:"extensions"`
	Problems   []ExtensionProblem `json:"problems"`
}

// Extension is an agent, a command, a skill, a hook, an MCP server, a rules file or a
// language server. It may contain untrusted text of a project.
type Extension struct {
	Kind        string   `json:"kind"` // agents, commands, skills, hooks, mcp, rules or lsp
	Name        string   `json:"name"`
	Origin      string   `json:"origin"` // built-in, managed, user or project
	File        string   `json:"file,omitempty"`
	Active      bool     `json:"active"`
	Reason      string   `json:"reason,omitempty"` // why it is inactive
	By          string   `json:"by,omitempty"`     // file of the one with the same name that is used instead
	Description string   `json:"description,omitempty"`
	Warnings    []string `json:"warnings,omitempty"` // about parts of it that are ignored
	Points      []string `json:"points,omitempty"`   // of a hook: when it runs
	Command     string   `json:"command,omitempty"`  // of a hook
	State       string   `json:"state,omitempty"`    // of an MCP server: starting, ready, failed, needs login or disabled; omitted if it was not started
	Why         string   `json:"why,omitempty"`      // why the MCP server is in this state
	Tools       int      `json:"tools,omitempty"`    // number of tools of an MCP server that is ready
}

// ExtensionProblem is a file, or a part of one, that cannot be used.
type ExtensionProblem struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}
