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

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// User is the user's own configuration: pawl.json in the configuration directory.
type User struct {
	Model      string              `json:"model,omitempty"`       // the model when none is named
	SmallModel *string             `json:"small_model,omitempty"` // the one that writes titles and summaries; "" or none: nobody does
	Fallback   []string            `json:"fallback,omitempty"`    // models to turn to when the one asked for stays down
	Providers  map[string]Provider `json:"providers,omitempty"`   // by the provider's id

	WebSearch   Search      `json:"websearch,omitzero"`  // whom websearch asks
	CodeSearch  Search      `json:"codesearch,omitzero"` // and codesearch
	Permissions Permissions `json:"permissions,omitzero"`
	Sandbox     Sandbox     `json:"sandbox,omitzero"`

	Hooks json.RawMessage   `json:"hooks,omitempty"` // commands at points of a session; what they mean is not known here
	MCP   map[string]Server `json:"mcp,omitempty"`   // MCP servers, by their names

	LSP       map[string]LanguageServer `json:"lsp,omitempty"`      // language servers, by their names
	Telemetry Telemetry                 `json:"telemetry,omitzero"` // where to tell of the work; nowhere if it is not said
	TUI       Terminal                  `json:"tui,omitzero"`       // how the terminal looks, and what its keys do
	Mission   Mission                   `json:"mission,omitzero"`   // how missions are worked on
	Fleet     Fleet                     `json:"fleet,omitzero"`     // where the parts of a fleet are

	Replaced map[string][]string `json:"-"` // what {env:NAME} and {file:path} stood for, by key: it may be secret
}

// Permissions is what the user allows. Whoever uses it reads the mode and the
// rules, strictly: what they mean is not known here.
type Permissions struct {
	Mode  string          `json:"mode,omitempty"`
	Rules json.RawMessage `json:"rules,omitempty"`
}

// Provider is where and how the user wants a provider to be asked.
type Provider struct {
	BaseURL string            `json:"base_url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Calls   *Calls            `json:"calls,omitempty"`
}

// Calls is how many calls to a provider run at once. What makes sense is not
// known here.
type Calls struct {
	Max    int            `json:"max,omitempty"`
	Models map[string]int `json:"models,omitempty"` // by the model's name
	Wait   int            `json:"wait,omitempty"`   // in seconds
}

// Telemetry is where spans and metrics go.
type Telemetry struct {
	Endpoint    string            `json:"endpoint,omitempty"` // the base URL of an OTLP receiver
	Headers     map[string]string `json:"headers,omitempty"`
	Content     bool              `json:"content,omitempty"` // what people, models and tools say, too
	ServiceName string            `json:"service_name,omitempty"`
}

// Search is which search service the user wants to ask, and where.
type Search struct {
	Service string `json:"service,omitempty"`
	URL     string `json:"url,omitempty"`
}

// LoadUser reads the user's configuration. A file that is not there is an empty
// one. What is unknown in it and does no harm counts for nothing.
func LoadUser() (User, error) {
	u, _, err := ReadUser()
	return u, err
}

// ReadUser is LoadUser, with the warnings about what counts for nothing.
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
		return User{}, nil, fmt.Errorf("read %s: %w: %w", path, err, pawl.ErrInvalid)
	}
	for i := range findings {
		findings[i].File = path
	}
	return u, findings, nil
}

// readText reads a file up to one byte more than it may have.
func readText(path string) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // the user's own
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxText+1))
}

// decodeUser reads the user's configuration strictly, but for unknown keys that
// do no harm: they are left out, and told.
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
		home = "" // then no path may begin with it
	}
	if err := u.Sandbox.expand(home); err != nil {
		return User{}, findings, err
	}
	return u, findings, nil
}

// UserFile is PAWL_CONFIG, or pawl.json in the user's directory.
func UserFile() (string, error) {
	if path := os.Getenv("PAWL_CONFIG"); path != "" {
		return path, nil
	}
	dir, err := UserFolder()
	if err != nil {
		return "", fmt.Errorf("%w: set PAWL_CONFIG", err)
	}
	return filepath.Join(dir, "pawl.json"), nil
}

// UserFolder is pawl below XDG_CONFIG_HOME or ~/.config: where the user's own
// agents, commands, rules and skills are. PAWL_CONFIG names a file, which may be
// in any directory, and does not move it.
func UserFolder() (string, error) {
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "pawl"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find configuration folder: %w", err)
	}
	return filepath.Join(home, ".config", "pawl"), nil
}
