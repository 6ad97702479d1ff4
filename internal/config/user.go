package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// User is the user's own configuration: pawl.json in the configuration directory.
type User struct {
	Model      string              `json:"model,omitempty"`       // the default model
	SmallModel *string             `json:"small_model,omitempty"` // the model for titles and summaries; "" or none disables them
	Fallback   []string            `json:"fallback,omitempty"`    // models to use when the requested one stays unavailable
	Providers  map[string]Provider `json:"providers,omitempty"`   // by the provider's id

	WebSearch   Search      `json:"websearch,omitzero"`  // the service of the tool websearch
	CodeSearch  Search      `json:"codesearch,omitzero"` // the service of the tool codesearch
	Permissions Permissions `json:"permissions,omitzero"`
	Sandbox     Sandbox     `json:"sandbox,omitzero"`

	Hooks json.RawMessage   `json:"hooks,omitempty"` // hook commands, unparsed
	MCP   map[string]Server `json:"mcp,omitempty"`   // MCP servers, by their names

	LSP       map[string]LanguageServer `json:"lsp,omitempty"`      // language servers, by their names
	Telemetry Telemetry                 `json:"telemetry,omitzero"` // where to send telemetry; nowhere by default
	TUI       Terminal                  `json:"tui,omitzero"`       // how the terminal looks, and what its keys do
	Mission   Mission                   `json:"mission,omitzero"`   // how missions are worked on
	Notify    Notify                    `json:"notify,omitzero"`    // where to send notices about missions
	Skills    Skills                    `json:"skills,omitzero"`    // what agents may install
	Fleet     Fleet                     `json:"fleet,omitzero"`     // where the parts of a fleet are

	Replaced map[string][]string `json:"-"` // the values of {env:NAME} and {file:path}, by key; they may be secret
}

// Permissions has the user's permission mode and rules, unparsed. Users of it parse them
// strictly.
type Permissions struct {
	Mode       string          `json:"mode,omitempty"`
	Rules      json.RawMessage `json:"rules,omitempty"`
	AskTimeout string          `json:"ask_timeout,omitempty"` // a time, such as 5m; "0s" means forever
}

// defaultAskTimeout is how long asks wait for a client by default.
const defaultAskTimeout = time.Minute

// AskWait returns how long a permission prompt waits while no client is connected that could answer it;
// 0 means forever.
func (p Permissions) AskWait() (time.Duration, error) {
	if p.AskTimeout == "" {
		return defaultAskTimeout, nil
	}
	d, err := time.ParseDuration(p.AskTimeout)
	if err != nil || d < 0 {
		return 0, fault.New(pawl.ErrInvalid, "permissions.ask_timeout is %.40q: use a duration, such as 5m, or 0s to wait forever", p.AskTimeout)
	}
	return d, nil
}

// Provider configures the API of a provider.
type Provider struct {
	BaseURL string            `json:"base_url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Calls   *Calls            `json:"calls,omitempty"`
}

// Calls limits the concurrent calls to a provider. This package does not validate it.
type Calls struct {
	Max    int            `json:"max,omitempty"`
	Models map[string]int `json:"models,omitempty"` // by the model's name
	Wait   int            `json:"wait,omitempty"`   // in seconds
}

// Telemetry configures where spans and metrics are sent.
type Telemetry struct {
	Endpoint    string            `json:"endpoint,omitempty"` // the base URL of an OTLP receiver
	Headers     map[string]string `json:"headers,omitempty"`
	Content     bool              `json:"content,omitempty"` // include the content of messages and tool calls
	ServiceName string            `json:"service_name,omitempty"`
}

// Search configures a search service.
type Search struct {
	Service string `json:"service,omitempty"`
	URL     string `json:"url,omitempty"`
}

// LoadUser reads the user's configuration. A missing file counts as empty. Harmless
// unknown keys are ignored.
func LoadUser() (User, error) {
	u, _, err := ReadUser()
	return u, err
}

// ReadUser is LoadUser with warnings about ignored keys.
func ReadUser() (User, []Finding, error) {
	path, err := UserFile()
	if err != nil {
		return User{}, nil, err
	}
	text, err := readText(path)
	if errors.Is(err, fs.ErrNotExist) {
		return User{}, nil, nil
	}
	if err != nil {
		return User{}, nil, fmt.Errorf("read configuration: %w", err)
	}
	u, findings, err := decodeUser(text)
	if err == nil {
		err = u.replace(filepath.Dir(path))
	}
	if err != nil {
		return User{}, nil, fault.New(pawl.ErrInvalid, "read %s: %w", path, err)
	}
	for i := range findings {
		findings[i].File = path
	}
	return u, findings, nil
}

// readText reads a file up to one byte more than the limit.
func readText(path string) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // the user's own
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxText+1))
}

// decodeUser parses the user's configuration strictly, except for harmless unknown keys,
// which it ignores and reports.
func decodeUser(text []byte) (User, []Finding, error) {
	doc, err := parseDocument(text)
	if err != nil {
		return User{}, nil, err
	}
	findings := inspect(&doc, reflect.TypeFor[User]())
	for _, f := range findings {
		if f.Level == LevelError {
			return User{}, findings, fmt.Errorf("line %d, column %d: %s", f.Line, f.Column, f.Message)
		}
	}
	doc.root.Minimize()
	var u User
	if err := strictjson.Decode(doc.root.Pack(), &u); err != nil {
		return User{}, findings, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // then no path may begin with ~
	}
	if err := u.Sandbox.expand(home); err != nil {
		return User{}, findings, err
	}
	if _, err := u.Skills.Owners(); err != nil {
		return User{}, findings, err
	}
	return u, findings, nil
}

// UserFile returns the path of the user's configuration: PAWL_CONFIG, or pawl.json in
// UserFolder.
func UserFile() (string, error) {
	if path := os.Getenv("PAWL_CONFIG"); path != "" {
		return path, nil
	}
	dir, err := UserFolder()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "pawl.json"), nil
}

// UserFolder returns the directory of the user's agents, commands, rules and skills: pawl
// below XDG_CONFIG_HOME or ~/.config. PAWL_CONFIG, which names a file, does not change it.
func UserFolder() (string, error) {
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "pawl"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fault.New(pawl.ErrInvalid, "find the configuration directory: %w", err).Hint("Set HOME or XDG_CONFIG_HOME.")
	}
	return filepath.Join(home, ".config", "pawl"), nil
}
