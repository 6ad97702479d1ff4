package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// ProjectFile is the path of the project configuration in a repository.
const ProjectFile = ".pawl/config.json"

// maxProject bounds a project's configuration, in bytes.
const maxProject = 1 << 20

// Project is the configuration of a project. It may only make pawl stricter: there are
// no fields for anything else.
type Project struct {
	Rules json.RawMessage // to parse with the origin project: allow rules are ignored
	Hooks json.RawMessage // commands that run in the sandbox
	MCP   json.RawMessage // MCP servers, whose programs run in the sandbox
}

// Ignored is an ignored key of a project's configuration.
type Ignored struct {
	Key string `json:"key"`
	Why string `json:"why"`
}

const onlyYours = "it can be set only in your own configuration"

// userKeys are keys that a project cannot set: they determine providers, API keys,
// network access and permissions. They are ignored; any other unknown key is an error.
var userKeys = []string{
	"model", "small_model", "fallback", "providers", "base_url", "endpoint", "headers", "keys", "api_key", "key_command", "proxy", "proxies", "certificates",
	"websearch", "codesearch", "lsp", "mode", "sandbox", "env", "trust", "telemetry", "statusline", "notify", "helpers", "store", "data", "tui", "mission", "skills",
}

// LoadProject reads a project's configuration. read returns a file of the repository, or
// fs.ErrNotExist or pawl.ErrNotFound: callers decide whether files come from a trusted
// directory or from a commit.
func LoadProject(read func(name string) ([]byte, error)) (Project, []Ignored, error) {
	text, err := read(ProjectFile)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, pawl.ErrNotFound) {
		return Project{}, nil, nil
	}
	if err != nil {
		return Project{}, nil, fmt.Errorf("read %s: %w", ProjectFile, err)
	}
	p, ignored, err := decodeProject(text)
	if err != nil {
		return Project{}, nil, fault.New(pawl.ErrInvalid, "read %s: %w", ProjectFile, err)
	}
	return p, ignored, nil
}

func decodeProject(text []byte) (Project, []Ignored, error) {
	if len(text) > maxProject {
		return Project{}, nil, fmt.Errorf("the file has more than %d bytes", maxProject)
	}
	text, err := standard(text)
	if err != nil {
		return Project{}, nil, err
	}
	top, err := object(text)
	if err != nil {
		return Project{}, nil, err
	}
	var p Project
	var ignored []Ignored
	for _, key := range slices.Sorted(maps.Keys(top)) {
		switch {
		case key == "permissions":
			more, err := p.readPermissions(top[key])
			if err != nil {
				return Project{}, nil, err
			}
			ignored = append(ignored, more...)
		case key == schemaKey:
		case key == "hooks":
			p.Hooks = top[key]
		case key == "mcp":
			p.MCP = top[key]
		case slices.Contains(userKeys, key):
			ignored = append(ignored, Ignored{key, onlyYours})
		default:
			return Project{}, nil, fmt.Errorf("unknown key %q: a project can set permissions.rules, hooks and mcp", key)
		}
	}
	return p, ignored, nil
}

func (p *Project) readPermissions(text []byte) ([]Ignored, error) {
	keys, err := object(text)
	if err != nil {
		return nil, fmt.Errorf("permissions: %w", err)
	}
	var ignored []Ignored
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		switch key {
		case "rules":
			p.Rules = keys[key]
		case "mode", "ask_timeout":
			ignored = append(ignored, Ignored{"permissions." + key, onlyYours})
		default:
			return nil, fmt.Errorf("unknown key %q: a project can set permissions.rules", "permissions."+key)
		}
	}
	return ignored, nil
}

// object parses a JSON object without duplicate keys.
func object(text []byte) (map[string]json.RawMessage, error) {
	var keys map[string]json.RawMessage
	if err := strictjson.Decode(text, &keys); err != nil {
		return nil, err
	}
	if keys == nil {
		return nil, errors.New("the value is null, not an object")
	}
	return keys, nil
}
