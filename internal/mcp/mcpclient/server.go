package mcpclient

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/egress"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// The transports.
const (
	Stdio = "stdio" // a program, over its standard input and output
	HTTP  = "http"  // streamable HTTP
	SSE   = "sse"   // the older transport over HTTP
)

// Server is the configuration of a server.
type Server struct {
	Name      string
	Transport string // Stdio, HTTP or SSE

	Command     string // of a program: its name or path, not a shell command
	Args        []string
	Env         map[string]string // added to a minimal environment without Pawl's keys
	Unsandboxed bool              // run without the sandbox; only set by the user's own configuration
	Cwd         string            // working directory, absolute or relative to the workspace; "" means the workspace

	URL     string
	Headers map[string]string // only sent to the origin of URL
	Local   bool              // it may be on the local machine or network, and without TLS; only set by the user's own configuration

	Timeout  time.Duration // of a call; 0 means a minute
	Disabled bool
	Tools    []string // tools to offer, by the server's names; none means all
	OAuth    OAuth
}

// OAuth identifies Pawl at a server's authorization server. The zero value
// means dynamic registration.
type OAuth struct {
	ClientID string   `json:"client_id,omitempty"`
	Scopes   []string `json:"scopes,omitempty"` // none means those that the server requests
}

// Origin says where a configuration file comes from.
type Origin int

// The origins.
const (
	Project Origin = iota // it cannot allow the local network
	User                  // the user's own
)

// Fault is a part of a file or server that was left out, with the reason.
type Fault struct {
	Name string // name of the server, tool or prompt
	Why  string
}

func (f Fault) String() string { return sanitize.Line(f.Name) + ": " + f.Why }

// The limits of an entry.
const (
	maxEntries  = 100
	maxStrings  = 200
	stringBytes = 8 << 10
)

// entry is the JSON form of a Server.
type entry struct {
	Type     string            `json:"type"`
	Command  string            `json:"command"`
	Args     []string          `json:"args"`
	Env      map[string]string `json:"env"`
	Cwd      string            `json:"cwd"`
	URL      string            `json:"url"`
	Headers  map[string]string `json:"headers"`
	Local    bool              `json:"local"`
	Timeout  int64             `json:"timeout"` // seconds
	Disabled bool              `json:"disabled"`
	Tools    []string          `json:"tools"`
	OAuth    OAuth             `json:"oauth"`
}

// ParseFile parses the servers of a .mcp.json, or the "mcp" map of a Pawl configuration,
// sorted by name. Invalid entries are left out and returned as faults; an
// error means that nothing could be read.
func ParseFile(data []byte, from Origin) ([]Server, []Fault, error) {
	var file struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
		Own     map[string]json.RawMessage `json:"mcp"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, nil, fault.New(pawl.ErrInvalid, "read MCP servers: %w", err)
	}
	entries := file.Servers
	switch {
	case file.Servers != nil && file.Own != nil:
		return nil, nil, fault.New(pawl.ErrInvalid, `read MCP servers: both "mcpServers" and "mcp" are present: keep one`)
	case file.Servers == nil && file.Own == nil:
		return nil, nil, fault.New(pawl.ErrInvalid, `read MCP servers: "mcpServers" is missing`)
	case entries == nil:
		entries = file.Own
	}
	if len(entries) > maxEntries {
		return nil, nil, fault.New(pawl.ErrInvalid, "read MCP servers: too many (%d, the limit is %d)", len(entries), maxEntries)
	}
	var servers []Server
	var faults []Fault
	for name, text := range entries {
		shown := short(sanitize.Line(name), nameBytes)
		known, unknown := knownKeys(text)
		if unknown != "" {
			faults = append(faults, Fault{shown, "unknown keys are ignored: " + unknown})
		}
		s, err := parseEntry(name, known, from)
		if err != nil {
			faults = append(faults, Fault{shown, "ignored: " + err.Error()})
			continue
		}
		servers = append(servers, s)
	}
	slices.SortFunc(servers, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(faults, func(a, b Fault) int { return strings.Compare(a.Name, b.Name) })
	return servers, faults, nil
}

// knownKeys removes the keys of other programs from an entry and returns their
// names.
func knownKeys(text json.RawMessage) (known json.RawMessage, unknown string) {
	var all map[string]json.RawMessage
	if json.Unmarshal(text, &all) != nil {
		return text, "" // strict decoding reports the error
	}
	var others []string
	for key := range all {
		if !slices.Contains(entryKeys, key) {
			others = append(others, short(sanitize.Line(key), 40))
			delete(all, key)
		}
	}
	if len(others) == 0 {
		return text, "" // unchanged, so that strict decoding reports duplicate keys
	}
	slices.Sort(others)
	known, err := json.Marshal(all)
	if err != nil {
		return text, ""
	}
	return known, strings.Join(others[:min(len(others), 10)], ", ")
}

var entryKeys = []string{
	"type", "command", "args", "env", "cwd", "url", "headers", "local", "timeout", "disabled", "tools", "oauth",
}

func parseEntry(name string, text json.RawMessage, from Origin) (Server, error) {
	var e entry
	if err := strictjson.Decode(text, &e); err != nil {
		return Server{}, err
	}
	if e.Local && from != User {
		return Server{}, errors.New("local: only your user configuration can allow access to the local network: add the server there")
	}
	if e.Timeout < 0 || time.Duration(e.Timeout) > maxCallTime/time.Second {
		return Server{}, fmt.Errorf("timeout must be between 0 and %.0f seconds", maxCallTime.Seconds())
	}
	s := Server{
		Name: name, Transport: e.Type, Command: e.Command, Args: e.Args, Env: e.Env, Cwd: e.Cwd, URL: e.URL, Headers: e.Headers,
		Local: e.Local, Unsandboxed: from == User, Timeout: time.Duration(e.Timeout) * time.Second, Disabled: e.Disabled, Tools: e.Tools, OAuth: e.OAuth,
	}
	switch {
	case s.Transport == "" && s.URL != "":
		s.Transport = HTTP
	case s.Transport == "":
		s.Transport = Stdio
	case s.Transport == "streamable-http" || s.Transport == "streamableHttp":
		s.Transport = HTTP
	}
	return s, s.Check()
}

// serverName excludes adjacent, leading and trailing underscores, so that tool
// names, mcp__server__tool, are unambiguous.
var serverName = regexp.MustCompile(`^[a-zA-Z0-9-]+(_[a-zA-Z0-9-]+)*$`)

// MaxServerName is the maximum length of a server's name, which leaves space
// for the tool in a name of 64 characters.
const MaxServerName = 24

// Check returns an error if an entry is invalid.
func (s Server) Check() error {
	if len(s.Name) > MaxServerName || !serverName.MatchString(s.Name) {
		return fmt.Errorf("invalid server name: use 1 to %d letters, digits, hyphens and single underscores", MaxServerName)
	}
	if err := s.checkSizes(); err != nil {
		return err
	}
	if s.Timeout < 0 || s.Timeout > maxCallTime {
		return fmt.Errorf("timeout must be between 0 and %s", maxCallTime)
	}
	switch s.Transport {
	case Stdio:
		return s.checkProgram()
	case HTTP, SSE:
		_, err := s.address()
		return err
	default:
		return fmt.Errorf("unknown type %.40q: use stdio, http or sse", s.Transport)
	}
}

func (s Server) checkSizes() error {
	lists := slices.Concat(s.Args, s.Tools, s.OAuth.Scopes, []string{s.Command, s.Cwd, s.URL, s.OAuth.ClientID})
	for _, m := range []map[string]string{s.Env, s.Headers} {
		for name, value := range m {
			lists = append(lists, name, value)
		}
	}
	if len(lists) > maxStrings {
		return fmt.Errorf("more than %d arguments", maxStrings)
	}
	for _, text := range lists {
		if len(text) > stringBytes || strings.ContainsRune(text, 0) {
			return fmt.Errorf("an argument is longer than %d bytes or contains a NUL byte", stringBytes)
		}
	}
	return nil
}

func (s Server) checkProgram() error {
	switch {
	case s.Command == "":
		return errors.New("command is missing")
	case s.URL != "" || len(s.Headers) > 0:
		return errors.New("a stdio server has no url or headers: set type to http or sse, or remove them")
	}
	for name := range s.Env {
		if name == "" || strings.Contains(name, "=") {
			return fmt.Errorf("env: invalid variable name %.40q", name)
		}
	}
	return nil
}

// address returns the normalized address of a server on the network.
func (s Server) address() (*address, error) {
	if s.Command != "" || len(s.Args) > 0 {
		return nil, errors.New("an HTTP server has no command: set type to stdio, or remove it")
	}
	u, err := egress.ParseURL(s.URL)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	if u.Scheme != "https" && !s.Local {
		return nil, errors.New(`url: use https (for a server on this machine or its network, set "local": true in your user configuration)`)
	}
	for name, value := range s.Headers {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, fmt.Errorf("headers: invalid header name %.40q", name)
		}
		if http.CanonicalHeaderKey(name) == "Host" {
			return nil, errors.New("headers: Host cannot be set: it comes from url")
		}
	}
	return newAddress(u), nil
}

// timeout returns the timeout of a call.
func (s Server) timeout() time.Duration {
	if s.Timeout == 0 {
		return callTime
	}
	return s.Timeout
}

// workDir returns the working directory of the program.
func (s Server) workDir(dir string) string {
	if s.Cwd == "" || filepath.IsAbs(s.Cwd) {
		return filepath.Clean(cmp.Or(s.Cwd, dir))
	}
	return filepath.Join(dir, s.Cwd)
}
