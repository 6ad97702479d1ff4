package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawl-dev/pawl"
)

// User is the user's own configuration: pawl.json in the configuration folder.
type User struct {
	Model      string              `json:"model,omitempty"`       // the model when none is named
	SmallModel *string             `json:"small_model,omitempty"` // the one that writes titles and summaries; "" or none: nobody does
	Fallback   []string            `json:"fallback,omitempty"`    // models to turn to when the one asked for stays down
	Providers  map[string]Provider `json:"providers,omitempty"`   // by the provider's id

	WebSearch   Search      `json:"websearch,omitzero"`  // whom websearch asks
	CodeSearch  Search      `json:"codesearch,omitzero"` // and codesearch
	Permissions Permissions `json:"permissions,omitzero"`
	Sandbox     Sandbox     `json:"sandbox,omitzero"`

	Hooks json.RawMessage `json:"hooks,omitempty"` // commands at points of a session; what they mean is not known here
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
}

// Search is which search service the user wants to ask, and where.
type Search struct {
	Service string `json:"service,omitempty"`
	URL     string `json:"url,omitempty"`
}

// LoadUser reads the user's configuration. A file that is not there is an empty one.
func LoadUser() (User, error) {
	path, err := UserFile()
	if err != nil {
		return User{}, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return User{}, nil
	}
	if err != nil {
		return User{}, fmt.Errorf("read configuration: %w", err)
	}
	u, err := decodeUser(text)
	if err != nil {
		return User{}, fmt.Errorf("read %s: %w: %w", path, err, pawl.ErrInvalid)
	}
	return u, nil
}

func decodeUser(text []byte) (User, error) {
	var u User
	if err := pawl.Decode(text, &u); err != nil {
		return User{}, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // then no path may begin with it
	}
	if err := u.Sandbox.expand(home); err != nil {
		return User{}, err
	}
	return u, nil
}

// UserFile is PAWL_CONFIG, or pawl/pawl.json below XDG_CONFIG_HOME or ~/.config.
func UserFile() (string, error) {
	if path := os.Getenv("PAWL_CONFIG"); path != "" {
		return path, nil
	}
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "pawl", "pawl.json"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find configuration folder: %w: set PAWL_CONFIG", err)
	}
	return filepath.Join(home, ".config", "pawl", "pawl.json"), nil
}
