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
	{path: "model", what: "The model when none is named by --model, PAWL_MODEL or the session."},
	{path: "small_model", what: "The model that writes titles and summaries. \"none\" or \"\": nobody does. Without the key, the small one of the session's own provider."},
	{path: "fallback", what: "Models to turn to, in order, when the one asked for stays down or refuses the key."},
	{path: "providers", what: "Where and how providers are asked, by the provider's id."},
	{path: "providers.*.base_url", what: "Where to ask instead of the provider itself.", replaced: true},
	{path: "providers.*.headers", what: "Headers that go with each request, and win over pawl's own."},
	{path: "providers.*.headers.*", what: "A header's value.", replaced: true, secret: true},
	{path: "providers.*.calls", what: "How many calls to it run at once. Under script, those of scripts, which have no limit without it."},
	{path: "providers.*.calls.max", what: "At most so many: 8 if left out, 1000 at most. Fewer do while the provider says that it is too much."},
	{path: "providers.*.calls.models", what: "The same for single models, by their names after the provider's. One that is not named may have them all."},
	{path: "providers.*.calls.models.*", what: "At most so many calls to this model."},
	{path: "providers.*.calls.wait", what: "Seconds that a call waits for its turn before it fails: 600 if left out, 86400 at most."},
	{path: "websearch", what: "Whom the tool websearch asks."},
	{path: "websearch.service", what: "The service. Without it, one that there is a key or an address for.", values: []string{"exa", "brave", "tavily", "searxng"}},
	{path: "websearch.url", what: "Where it is, if not at the service's own address.", replaced: true},
	{path: "codesearch", what: "Whom the tool codesearch asks."},
	{path: "codesearch.service", what: "The service.", values: []string{"sourcegraph", "exa"}},
	{path: "codesearch.url", what: "Where it is, if not at the service's own address.", replaced: true},
	{path: "permissions", what: "What the model may do."},
	{path: "permissions.mode", what: "What happens to calls that no rule decides. Without it, guard where there is a sandbox, and ask where there is none.", values: []string{"plan", "ask", "guard", "auto", "yolo"}},
	{path: "permissions.rules", what: "Rules that allow, ask or deny. The strictest that matches wins."},
	{path: "sandbox", what: "What commands in the sandbox can do beside the usual."},
	{path: "sandbox.network", what: "Hosts that commands can reach: a name, *.domain, with :port if need be. None means no network."},
	{path: "sandbox.writable", what: "Further folders to write to, absolute or from ~/."},
	{path: "sandbox.env", what: "Names of variables that commands get."},
	{path: "sandbox.hidden", what: "What commands do not see: paths, or patterns for names in the workspace."},
	{path: "fleet", what: "Where the parts of a fleet are, for 'pawl-fleet serve' and 'pawl-fleet worker'. The log is in the store, which must be PostgreSQL."},
	{path: "fleet.temporal", what: "The Temporal server, as host:port.", replaced: true},
	{path: "fleet.namespace", what: "The namespace there: pawl if left out."},
	{path: "fleet.nats", what: "The NATS server, as a URL, or several with commas between them.", replaced: true},
	{path: "fleet.blobs", what: "Where checkpoints are kept: file:///path, or s3://bucket/prefix?endpoint=host:port.", replaced: true},
	{path: "fleet.workspaces", what: "The folder of the workspaces, the same on every host: /var/lib/pawl/work if left out."},
	{path: "fleet.gateway", what: "Where workers that have no keys ask the models, as a URL. Its token is in PAWL_GATEWAY_TOKEN.", replaced: true},
	{path: "fleet.host_timeout", what: "How long a host may be silent before its sessions move to another one: 10s if left out."},
	{path: "fleet.sources", what: "Hosts at private addresses that workspaces may begin as repositories of. Those at public ones need not be named."},
	{path: "hooks", what: "Commands of yours that are asked or told at points of the work."},
	{path: "mcp", what: "MCP servers, whose tools the model can call, by a name of up to 24 letters, digits, - and single _."},
	{path: "mcp.*.type", what: "How it is spoken to. Without it, stdio if there is a command, and http if there is a url.", values: []string{"stdio", "http", "streamable-http", "sse"}},
	{path: "mcp.*.command", what: "The program of a server on this machine: its name or path. No shell reads it."},
	{path: "mcp.*.args", what: "The program's arguments."},
	{path: "mcp.*.env", what: "Variables for the program. It gets PATH, HOME, the language and these."},
	{path: "mcp.*.env.*", what: "A variable's value.", replaced: true, secret: true},
	{path: "mcp.*.cwd", what: "Where the program starts, from the workspace."},
	{path: "mcp.*.url", what: "Where a server on the network is.", replaced: true},
	{path: "mcp.*.headers", what: "Headers that go with each request to it."},
	{path: "mcp.*.headers.*", what: "A header's value.", replaced: true, secret: true},
	{path: "mcp.*.local", what: "The server is on this machine or its network, and may do without TLS."},
	{path: "mcp.*.timeout", what: "Seconds that a call may take: 60 if left out, 3600 at most."},
	{path: "mcp.*.disabled", what: "It is not started."},
	{path: "mcp.*.tools", what: "The tools that are offered, by the server's own names. Without it, all."},
	{path: "mcp.*.oauth", what: "How pawl is known where the server's logins are given out."},
	{path: "mcp.*.oauth.client_id", what: "Of a client that was registered by hand."},
	{path: "mcp.*.oauth.scopes", what: "What to ask for. Without it, what the server wants."},
	{path: "lsp", what: "Language servers, by their names: to add one, or to change or turn off one that pawl knows."},
	{path: "lsp.*.command", what: "The program: its name or its absolute path. No shell reads it. Without it, the name of the server."},
	{path: "lsp.*.args", what: "The program's arguments."},
	{path: "lsp.*.extensions", what: "The files that it is for: ends of names, such as .go, or whole names, such as Makefile."},
	{path: "lsp.*.env", what: "Variables for the program, beside those that every server gets."},
	{path: "lsp.*.env.*", what: "A variable's value.", replaced: true, secret: true},
	{path: "lsp.*.initialization", what: "An object with the options that the server is started with, over those that pawl gives it."},
	{path: "lsp.*.disabled", what: "It is not used."},
	{path: "mission", what: "How missions are worked on, where no flag says otherwise."},
	{path: "mission.workers", what: "How many work at once: 3 if left out, 32 at most."},
	{path: "mission.worker_model", what: "The workers' model. Without it, the Commander's."},
	{path: "mission.reviewers", what: "The reviewers' models, one each. Without it, one with the Commander's."},
	{path: "mission.stuck", what: "A worker that gives no sign for this time is asked, and then ended: e.g. 10m, which it is if left out."},
	{path: "telemetry", what: "Where spans and metrics of the work go, by OpenTelemetry. Without it, nowhere."},
	{path: "telemetry.endpoint", what: "The base URL of an OTLP receiver over HTTP, e.g. http://localhost:4318.", replaced: true},
	{path: "telemetry.headers", what: "Headers that go with each request to it."},
	{path: "telemetry.headers.*", what: "A header's value.", replaced: true, secret: true},
	{path: "telemetry.content", what: "Send prompts, replies, and what tools get and give, too, with secrets masked."},
	{path: "telemetry.service_name", what: "The name to send it under. Without it, pawl."},
	{path: "tui", what: "How the terminal looks, and what its keys do."},
	{path: "tui.theme", what: "The colors: dark, light, contrast, plain, terminal, or one of your own by its name. Without it, or with auto, by the terminal's background."},
	{path: "tui.keys", what: "Your own keys: for an action, the list of keys that do it. An empty list takes them away. F1 shows what there is."},
	{path: "tui.mouse", what: "Whether pawl takes the mouse. If it does not, the terminal selects by itself. Without it, pawl does."},
	{path: "tui.notify", what: "How you are told that pawl waits for you while you look elsewhere. Without it, desktop.", values: []string{"desktop", "bell", "off"}},
	{path: "tui.screen_reader", what: "Show the conversation as lines that are only added, for screen readers."},
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
