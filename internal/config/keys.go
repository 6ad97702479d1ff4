package config

import (
	"reflect"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/suggest"
)

// key describes a key of the user's configuration.
type key struct {
	path     string // from the top, with dots; * is any name
	what     string
	values   []string // that it may have; nil means any
	replaced bool     // {env:NAME} and {file:path} in it are
	secret   bool     // its value is not shown
}

// keys are all keys of User. A test compares them.
var keys = []key{
	{path: "model", what: "The default model. --model, PAWL_MODEL and the model of the session override it."},
	{path: "small_model", what: "The model that writes titles and summaries. \"none\" or \"\" disables them. Default: the small model of the session's provider."},
	{path: "fallback", what: "Models to use, in this order, if the requested one stays unavailable or its API key is rejected."},
	{path: "providers", what: "Settings of model providers, by provider ID."},
	{path: "providers.*.base_url", what: "The base URL for requests, instead of the provider's default.", replaced: true},
	{path: "providers.*.headers", what: "HTTP headers to add to each request. They override Pawl's own."},
	{path: "providers.*.headers.*", what: "The value of the header.", replaced: true, secret: true},
	{path: "providers.*.calls", what: "Limits for concurrent requests. Scripted models (script) have no limit by default."},
	{path: "providers.*.calls.max", what: "The maximum number of concurrent requests: at most 1000, default 8. Pawl sends fewer while the provider rate-limits it."},
	{path: "providers.*.calls.models", what: "The maximum number of concurrent requests by model name, without the provider. Other models are limited only by max."},
	{path: "providers.*.calls.models.*", what: "The maximum number of concurrent requests to this model."},
	{path: "providers.*.calls.wait", what: "How long a request waits for a free slot before it fails, in seconds: at most 86400, default 600."},
	{path: "websearch", what: "The service of the websearch tool."},
	{path: "websearch.service", what: "The search service. Default: the first one that has an API key or a URL.", values: []string{"exa", "brave", "tavily", "searxng"}},
	{path: "websearch.url", what: "The URL of the service, if it is not the public one.", replaced: true},
	{path: "codesearch", what: "The service of the codesearch tool."},
	{path: "codesearch.service", what: "The search service.", values: []string{"sourcegraph", "exa"}},
	{path: "codesearch.url", what: "The URL of the service, if it is not the public one.", replaced: true},
	{path: "permissions", what: "What the agent may do."},
	{path: "permissions.mode", what: "The permission mode, which decides about calls that no rule matches. Default: guard if a sandbox is available, otherwise ask.", values: []string{"plan", "ask", "guard", "auto", "yolo"}},
	{path: "permissions.ask_timeout", what: "How long 'pawl serve' keeps a permission prompt open while no client is connected that could answer it; then it is denied. 0s waits forever. Default: 60s."},
	{path: "permissions.rules", what: "Rules that allow, ask or deny. The strictest matching rule wins."},
	{path: "sandbox", what: "Exceptions for commands in the sandbox."},
	{path: "sandbox.network", what: "Hosts that commands can reach: a name or *.domain, with an optional :port. Default: no network."},
	{path: "sandbox.writable", what: "Additional writable directories: absolute paths, or paths that begin with ~/."},
	{path: "sandbox.readable", what: "Files and directories of your home directory that commands can read, besides programs: absolute paths, or paths that begin with ~/."},
	{path: "sandbox.env", what: "Names of environment variables to pass to commands."},
	{path: "sandbox.hidden", what: "What to hide from commands: paths, or file name patterns in the project."},
	{path: "fleet", what: "The services of a fleet, for 'pawl-fleet serve' and 'pawl-fleet worker'. The store must be PostgreSQL."},
	{path: "fleet.temporal", what: "The Temporal server, as host:port.", replaced: true},
	{path: "fleet.namespace", what: "The Temporal namespace. Default: pawl."},
	{path: "fleet.nats", what: "The URL of the NATS server, or several separated by commas.", replaced: true},
	{path: "fleet.blobs", what: "The checkpoint store: file:///path or s3://bucket/prefix?endpoint=host:port.", replaced: true},
	{path: "fleet.workspaces", what: "The directory of the workspaces, the same on every host. Default: /var/lib/pawl/work."},
	{path: "fleet.gateway", what: "The URL of the model gateway, for workers without API keys. Its token is read from PAWL_GATEWAY_TOKEN.", replaced: true},
	{path: "fleet.host_timeout", what: "How long a host may miss heartbeats before its sessions move to another host. Default: 10s."},
	{path: "fleet.sources", what: "Hosts at private addresses that workspaces may be cloned from. Hosts at public addresses are always allowed."},
	{path: "hooks", what: "Commands to run at points of a session."},
	{path: "mcp", what: "MCP servers, by name: up to 24 letters, digits, - and single _."},
	{path: "mcp.*.type", what: "The transport. Default: stdio with a command, http with a url.", values: []string{"stdio", "http", "streamable-http", "sse"}},
	{path: "mcp.*.command", what: "The program of a local server: a name or a path. It does not run in a shell."},
	{path: "mcp.*.args", what: "The arguments of the program."},
	{path: "mcp.*.env", what: "Environment variables for the program, in addition to PATH, HOME and the locale."},
	{path: "mcp.*.env.*", what: "The value of the variable.", replaced: true, secret: true},
	{path: "mcp.*.cwd", what: "The working directory of the program, relative to the project."},
	{path: "mcp.*.url", what: "The URL of a remote server.", replaced: true},
	{path: "mcp.*.headers", what: "HTTP headers to add to each request."},
	{path: "mcp.*.headers.*", what: "The value of the header.", replaced: true, secret: true},
	{path: "mcp.*.local", what: "The server is on this machine or in the local network. TLS is optional."},
	{path: "mcp.*.timeout", what: "The timeout of a call in seconds: at most 3600, default 60."},
	{path: "mcp.*.disabled", what: "Do not start the server."},
	{path: "mcp.*.tools", what: "The tools to offer, by the server's names. Default: all."},
	{path: "mcp.*.oauth", what: "The OAuth client for logins to the server."},
	{path: "mcp.*.oauth.client_id", what: "The ID of a client that you registered yourself."},
	{path: "mcp.*.oauth.scopes", what: "The scopes to request. Default: those that the server asks for."},
	{path: "lsp", what: "Language servers, by name. Adds a server, or changes or disables a built-in one."},
	{path: "lsp.*.command", what: "The program: a name or an absolute path. It does not run in a shell. Default: the name of the server."},
	{path: "lsp.*.args", what: "The arguments of the program."},
	{path: "lsp.*.extensions", what: "The files that the server handles: file extensions such as .go, or file names such as Makefile."},
	{path: "lsp.*.env", what: "Environment variables for the program, in addition to those of every language server."},
	{path: "lsp.*.env.*", what: "The value of the variable.", replaced: true, secret: true},
	{path: "lsp.*.initialization", what: "Initialization options for the server. They override Pawl's own."},
	{path: "lsp.*.disabled", what: "Do not use the server."},
	{path: "mission", what: "Defaults of missions. Flags override them."},
	{path: "mission.workers", what: "The number of concurrent workers: at most 32, default 3."},
	{path: "mission.worker_model", what: "The model of the workers. Default: the model of the Commander."},
	{path: "mission.reviewers", what: "The models of the reviewers, one reviewer for each. Default: one reviewer with the model of the Commander."},
	{path: "mission.stuck", what: "Ping a worker that makes no progress for this long, then stop it. Default: 10m."},
	{path: "notify", what: "Where to send notices when a mission ends or waits for an answer. Default: nowhere."},
	{path: "notify.webhook", what: "The address that gets a POST request with JSON. It must use https, except on this machine.", replaced: true, secret: true},
	{path: "skills", what: "Skills that agents may install."},
	{path: "skills.trusted_owners", what: "Owners whose skills agents may install without asking: owner for GitHub, or host/owner. Default: none."},
	{path: "telemetry", what: "Where to send OpenTelemetry spans and metrics. Default: nowhere."},
	{path: "telemetry.endpoint", what: "The base URL of an OTLP/HTTP receiver, for example http://localhost:4318.", replaced: true},
	{path: "telemetry.headers", what: "HTTP headers to add to each request."},
	{path: "telemetry.headers.*", what: "The value of the header.", replaced: true, secret: true},
	{path: "telemetry.content", what: "Include prompts, replies, tool inputs and tool results, with secrets masked."},
	{path: "telemetry.service_name", what: "The service name to report. Default: pawl."},
	{path: "tui", what: "Settings of the terminal UI."},
	{path: "tui.theme", what: "The theme: dark, light, contrast, plain, terminal, or the name of your own. Default: auto, which follows the terminal's background."},
	{path: "tui.keys", what: "Key bindings: for each action a list of keys. An empty list removes the binding. Press F1 to see all actions."},
	{path: "tui.mouse", what: "Use the mouse in the terminal UI. If false, the terminal handles selection. Default: true."},
	{path: "tui.notify", what: "How to notify you when Pawl needs your attention. Default: desktop.", values: []string{"desktop", "bell", "off"}},
	{path: "tui.screen_reader", what: "Print the conversation as plain lines, for screen readers."},
}

// keyOf returns the description of the key at a path.
func keyOf(path []string) (key, bool) {
	i := slices.IndexFunc(keys, func(k key) bool {
		return slices.EqualFunc(strings.Split(k.path, "."), path, func(part, name string) bool { return part == "*" || part == name })
	})
	if i < 0 {
		return key{}, false
	}
	return keys[i], true
}

// typeAt returns the type at a path in User, or a suggestion for an unknown name.
func typeAt(path []string) (t reflect.Type, meant string, ok bool) {
	t, ok = reflect.TypeFor[User](), true
	for _, part := range path {
		if t, meant, ok = below(t, part); !ok {
			return nil, meant, false
		}
	}
	return t, "", ok
}

// below is typeAt for one name below a type.
func below(t reflect.Type, name string) (elem reflect.Type, meant string, ok bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct:
		if elem, ok = fieldOf(t, name); !ok {
			meant = suggest.Name(name, fieldNames(t))
		}
		return elem, meant, ok
	case reflect.Map:
		return t.Elem(), "", true
	default:
		return nil, "", false
	}
}
