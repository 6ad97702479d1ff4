package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/mcp/mcpclient"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// addFlags are the flags of 'pawl mcp add' and 'pawl mcp add-json'.
type addFlags struct {
	url, transport string
	headers, env   []string
	local          bool
	timeout        int
	project, force bool
}

func mcpAddCommand() *cobra.Command {
	var f addFlags
	cmd := &cobra.Command{
		Use:   "add name [flags] [-- command [argument…]]",
		Short: "Add an MCP server",
		Long: `Add an MCP server to your configuration: a local program or, with --url, a remote server.
The rest of the file, including comments, does not change. The server is not started;
run 'pawl mcp test' to try it.

With --project, add it to .mcp.json in this directory, for everyone who works on the
project.

Do not write keys in plain text. In your own configuration, use {env:NAME} for an
environment variable and {file:path} for the content of a file.`,
		Example: `  pawl mcp add files -- npx -y @modelcontextprotocol/server-filesystem /srv/docs
  pawl mcp add db --env 'PGPASSWORD={env:PGPASSWORD}' -- db-server --read-only
  pawl mcp add tracker --url https://mcp.example.com/mcp
  pawl mcp add mine --url http://127.0.0.1:3000/mcp --local
  pawl mcp add hub --url https://hub.example.com/mcp --header 'Authorization: Bearer {env:HUB_TOKEN}'`,
		Args: cli.Args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			entry, err := f.entry(args[1:])
			if err != nil {
				return cli.UsageError(cmd, err)
			}
			return f.add(cmd, args[0], entry)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.url, "url", "", "`url` of a remote server")
	flags.StringVar(&f.transport, "transport", "", "`transport` of a remote server: http or sse (default http)")
	flags.StringArrayVar(&f.headers, "header", nil, "add the header `'name: value'` to each request (repeatable)")
	flags.StringArrayVar(&f.env, "env", nil, "set the environment variable `NAME=value` for the program (repeatable)")
	flags.BoolVar(&f.local, "local", false, "the server is on this machine or in the local network: TLS is optional")
	flags.IntVar(&f.timeout, "timeout", 0, "timeout of a call in `seconds` (default 60)")
	f.where(cmd)
	return cmd
}

func (f *addFlags) where(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.project, "project", false, "write to .mcp.json in this directory instead of your configuration")
	cmd.Flags().BoolVar(&f.force, "force", false, "replace an existing server of the same name")
}

// entry returns the server that the flags and the command describe.
func (f *addFlags) entry(command []string) (config.Server, error) {
	s := config.Server{Type: f.transport, URL: f.url, Local: f.local, Timeout: f.timeout}
	switch {
	case f.url == "" && len(command) == 0:
		return s, errors.New("no server given: add a command after --, or pass --url")
	case f.url != "" && len(command) > 0:
		return s, errors.New("use either a command or --url, not both")
	case f.url != "" && len(f.env) > 0:
		return s, errors.New("--env is for local programs: use --header with --url")
	case f.url == "" && (len(f.headers) > 0 || f.transport != "" || f.local):
		return s, errors.New("--header, --transport and --local need --url")
	case f.url != "" && f.transport == "":
		s.Type = mcpclient.HTTP
	}
	if len(command) > 0 {
		s.Command, s.Args = command[0], command[1:]
	}
	var err error
	if s.Headers, err = pairs(f.headers, ":", "--header", "'name: value'"); err != nil {
		return s, err
	}
	s.Env, err = pairs(f.env, "=", "--env", "NAME=value")
	return s, err
}

// pairs parses the values of a repeatable flag into a map. Each value is a name and a value, separated by between.
func pairs(list []string, between, flag, form string) (map[string]string, error) {
	if len(list) == 0 {
		return nil, nil //nolint:nilnil // none are none
	}
	read := map[string]string{}
	for _, text := range list {
		name, value, ok := strings.Cut(text, between)
		if between == ":" {
			name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		}
		if !ok || name == "" {
			return nil, fmt.Errorf("invalid %s: use %s", flag, form) // not quoted: it may contain a key
		}
		read[name] = value
	}
	return read, nil
}

func mcpAddJSONCommand() *cobra.Command {
	var f addFlags
	cmd := &cobra.Command{
		Use:   "add-json name json",
		Short: "Add an MCP server from JSON",
		Long: `Add an MCP server from JSON, as in the documentation of many servers: the value of an
entry in .mcp.json, or an "mcpServers" object with one entry. Keys that Pawl does not
support are reported and ignored.`,
		Example: `  pawl mcp add-json files '{"command":"npx","args":["-y","@modelcontextprotocol/server-filesystem","/srv/docs"]}'
  pawl mcp add-json tracker '{"type":"http","url":"https://mcp.example.com/mcp"}'`,
		Args: cli.Args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			entry, left, err := readEntry(args[1])
			if err != nil {
				return cli.UsageError(cmd, err)
			}
			for _, key := range left {
				fmt.Fprintf(cmd.ErrOrStderr(), "pawl: note: ignored unknown key %s\n", sanitize.Line(key))
			}
			return f.add(cmd, args[0], entry)
		},
	}
	f.where(cmd)
	return cmd
}

// readEntry parses a server in JSON, alone or as the only entry of an "mcpServers" object. left holds the unknown keys
// that it ignored, sorted.
func readEntry(text string) (entry config.Server, left []string, err error) {
	wrong := func(err error) error {
		return fmt.Errorf(`invalid server: %w: use {"command":…} or {"url":…}`, err)
	}
	var wrap struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(text), &wrap); err != nil {
		return entry, nil, wrong(err)
	}
	if len(wrap.Servers) > 1 {
		return entry, nil, errors.New("the JSON has more than one server: add them one at a time")
	}
	for _, inner := range wrap.Servers {
		text = string(inner)
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return entry, nil, wrong(err)
	}
	for key := range maps.Clone(all) {
		if config.Known("/mcp/name/"+key) != nil {
			left = append(left, key)
			delete(all, key)
		}
	}
	slices.Sort(left)
	known, err := json.Marshal(all)
	if err != nil {
		return entry, nil, err
	}
	if err := strictjson.Decode(known, &entry); err != nil {
		return entry, nil, wrong(err)
	}
	return entry, left, nil
}

// add validates a server, writes it to the file, and prints the result with warnings.
func (f *addFlags) add(cmd *cobra.Command, name string, s config.Server) error {
	if err := checkServer(name, s, f.project); err != nil {
		return err
	}
	place := serverFile{project: f.project}
	if err := place.put(name, s, f.force); err != nil {
		return err
	}
	warnOfKeys(cmd.ErrOrStderr(), s, f.project)
	where, err := place.file()
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Added %s to %s. Run `pawl mcp test %s` to try it.\n", name, sanitize.Line(where), name)
	place.printTrustHint(cmd.Context(), cmd.ErrOrStderr())
	return nil
}

// checkServer returns an error for a server that would be ignored when the configuration is loaded.
func checkServer(name string, s config.Server, project bool) error {
	origin := mcpclient.User
	if project {
		origin = mcpclient.Project
	}
	if !project && strings.Contains(s.URL, "{") {
		s.URL = "https://replaced.example/" // the real URL is known once {env:…} or {file:…} is expanded
	}
	text, err := json.Marshal(map[string]any{"mcp": map[string]config.Server{name: s}})
	if err != nil {
		return err
	}
	_, faults, err := mcpclient.ParseFile(text, origin)
	if err == nil && len(faults) > 0 {
		err = fault.New(pawl.ErrInvalid, "%s", strings.Replace(faults[0].String(), "it is left out: ", "", 1))
	}
	return err
}

// warnOfKeys warns about headers and variables that contain keys in plain text.
func warnOfKeys(w io.Writer, s config.Server, project bool) {
	for _, list := range []struct {
		what   string
		values map[string]string
	}{{"header", s.Headers}, {"variable", s.Env}} {
		for _, name := range slices.Sorted(maps.Keys(list.values)) {
			if !looksSecret(name, list.values[name]) {
				continue
			}
			next := "use {env:NAME} instead, and set that variable"
			if project {
				next = "everyone who has the project can read it; add the server to your own configuration with {env:NAME} instead"
			}
			fmt.Fprintf(w, "pawl: warning: the %s %s looks like a key in plain text: %s\n", list.what, sanitize.Line(name), next)
		}
	}
}

// secretWords are substrings of the names of headers and variables that hold secrets.
var secretWords = []string{"key", "token", "secret", "password", "passwd", "credential", "authorization", "cookie"}

// looksSecret reports whether a value is probably a secret, by its name or its format. References such as {env:NAME}
// are not secrets.
func looksSecret(name, value string) bool {
	if value == "" || strings.Contains(value, "{env:") || strings.Contains(value, "{file:") {
		return false
	}
	name = strings.ToLower(name)
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) }) || app.Secrets.Redact(value) != value
}
