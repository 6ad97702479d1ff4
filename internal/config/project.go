package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// ProjectFile is where a repository keeps its configuration for pawl.
const ProjectFile = ".pawl/config.json"

// maxProject bounds the bytes of a project's configuration.
const maxProject = 1 << 20

// Project is what a repository may say: only what makes pawl stricter. There is
// no field for anything else, so that nothing else can take effect.
type Project struct {
	Rules json.RawMessage // to be read as a project's own: those that allow count for nothing
	Hooks json.RawMessage // likewise: commands at points of a session, which run in the sandbox
	MCP   json.RawMessage // likewise: MCP servers, whose programs run in the sandbox
}

// Ignored is a key of a project's configuration that counts for nothing.
type Ignored struct {
	Key string `json:"key"`
	Why string `json:"why"`
}

const onlyYours = "only your own configuration can set it"

// userKeys are keys that a project might well like to set, and cannot: they say
// who is asked, with which keys, over which way, and what is allowed. Any other
// key is a slip, or of a pawl to come, and an error.
var userKeys = []string{
	"model", "small_model", "fallback", "providers", "base_url", "endpoint", "headers", "keys", "api_key", "key_command", "proxy", "proxies", "certificates",
	"websearch", "codesearch", "lsp", "mode", "sandbox", "env", "trust", "telemetry", "statusline", "notify", "helpers", "store", "data", "tui", "mission",
}

// LoadProject reads a project's configuration. read returns a file of the
// repository, fs.ErrNotExist or pawl.ErrNotFound if there is none: whoever calls
// decides whether the files are those of a trusted directory or of a commit.
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
		return Project{}, nil, fmt.Errorf("read %s: %w: %w", ProjectFile, err, pawl.ErrInvalid)
	}
	return p, ignored, nil
}

func decodeProject(text []byte) (Project, []Ignored, error) {
	if len(text) > maxProject {
		return Project{}, nil, fmt.Errorf("it has more than %d bytes", maxProject)
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
		case "mode":
			ignored = append(ignored, Ignored{"permissions.mode", onlyYours})
		default:
			return nil, fmt.Errorf("unknown key %q: a project can set permissions.rules", "permissions."+key)
		}
	}
	return ignored, nil
}

// object reads a JSON object, each key of it once.
func object(text []byte) (map[string]json.RawMessage, error) {
	var keys map[string]json.RawMessage
	if err := strictjson.Decode(text, &keys); err != nil {
		return nil, err
	}
	if keys == nil {
		return nil, errors.New("it is null, and not an object")
	}
	return keys, nil
}
