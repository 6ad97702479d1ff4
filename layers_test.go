package pawl_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/pawl-dev/pawl"

// The layers of docs/architecture.md, lowest first. A package may import
// packages of lower layers and its own subpackages, but no other package of its
// own layer, so that each can be read and tested without the ones beside it.
const (
	layerBase      = iota // depends on nothing of the program; the API may use it
	layerAPI              // the root package
	layerPrimitive        // used by utilities
	layerItem             // what people read of events, which utilities and front ends share
	layerPort             // an interface through which components meet, with its types
	layerUtility          // a small helper that depends on no component
	layerComponent        // does one thing and depends on the API and utilities only
	layerComposite        // combines components for the loop
	layerLoop             // decides
	layerRunner           // runs the loop
	layerService          // implements the interfaces that front ends use
	layerWiring           // opens the parts and connects them
	layerCommand          // commands and their flags: may import everything

	layerFrontend // uses pawl.Service and knows nothing of its implementation
	layerTest     // only for tests: may import everything, and only tests may import it
	layerDev      // developer tools: not part of the program
)

// layers maps packages to their layers. An entry covers the packages below it
// that have no entry of their own.
var layers = map[string]int{
	"internal/fault":             layerBase,
	"internal/strictjson":        layerBase,
	"internal/security/sanitize": layerBase,

	".":      layerAPI,
	"manage": layerAPI, // what a person manages; it does not use the root package

	"internal/humanize":       layerPrimitive,
	"internal/workspace/tree": layerPrimitive,

	"internal/transcript": layerItem,

	"internal/mission/missionapi": layerPort, // what tools and the loop know of a mission
	"internal/store":              layerPort, // the interface of the store, and what its implementations share

	"fleet":                               layerUtility, // the host registry, which internal/store/postgres implements
	"internal/api":                        layerUtility,
	"internal/config/userfile":            layerUtility,
	"internal/extension/frontmatter":      layerUtility,
	"internal/tool/toolapi":               layerUtility, // what a tool is: internal/tool, MCP servers and missions offer some, front ends lend buffers
	"internal/security/namespace":         layerUtility, // what the user namespace of a process changes
	"internal/security/protect":           layerUtility, // the protected names, for file tools, the sandbox and applies
	"internal/security/sandbox/supervise": layerUtility, // imports little on purpose: it starts with each command
	"internal/suggest":                    layerUtility,
	"internal/workspace/ignore":           layerUtility,

	"fleet/blob":                      layerComponent,
	"internal/bus":                    layerComponent,
	"internal/config":                 layerComponent,
	"internal/config/auth":            layerComponent,
	"internal/extension/definition":   layerComponent,
	"internal/extension/rules":        layerComponent,
	"internal/extension/skill":        layerComponent,
	"internal/git":                    layerComponent,
	"internal/hook":                   layerComponent,
	"internal/mission/review":         layerComponent,
	"internal/mission/webhook":        layerComponent,
	"internal/model":                  layerComponent,
	"internal/proc":                   layerComponent,
	"internal/security/egress":        layerComponent,
	"internal/security/permission":    layerComponent,
	"internal/workspace/transaction":  layerComponent,
	"internal/security/redact":        layerComponent,
	"internal/security/sandbox":       layerComponent,
	"internal/security/trust":         layerComponent,
	"internal/service/access":         layerComponent,
	"internal/service/access/passkey": layerUtility,
	"internal/store/postgres":         layerComponent,
	"internal/store/sqlite":           layerComponent,
	"internal/telemetry":              layerComponent,
	"internal/transcript/export":      layerComponent,
	"internal/workspace":              layerComponent,

	"fleet/checkpoint":            layerComposite,
	"fleet/gateway":               layerComposite,
	"fleet/nats":                  layerComposite,
	"internal/agent/prompt":       layerComposite,
	"internal/extension":          layerComposite,
	"internal/mcp/mcpclient":      layerComposite,
	"internal/mission/gate":       layerComposite,
	"internal/security/policy":    layerComposite,
	"internal/workspace/isolate":  layerComposite,
	"internal/store/backend":      layerComposite,
	"internal/tool":               layerComposite,
	"internal/workspace/snapshot": layerComposite,
	"internal/workspace/worktree": layerComposite,

	"internal/agent":   layerLoop,
	"internal/mission": layerLoop,

	"fleet/runner":           layerRunner,
	"internal/service/local": layerRunner,

	"internal/service":         layerService,
	"internal/service/project": layerService,

	"internal/app": layerWiring,

	"cmd/pawl":              layerCommand,
	"cmd/pawl-fakeprovider": layerCommand,
	"cmd/pawl-fleet":        layerCommand,
	"fleet/command":         layerCommand,
	"fleet/node":            layerCommand,
	"internal/cli":          layerCommand,

	"client":                    layerFrontend,
	"internal/frontend/acp":     layerFrontend,
	"internal/frontend/httpapi": layerFrontend,
	"internal/frontend/lineui":  layerFrontend,
	"internal/frontend/tui":     layerFrontend,
	"internal/mcp/mcpserver":    layerFrontend,

	"fleet/blob/blobtest":                 layerTest,
	"internal/bus/bustest":                layerTest,
	"internal/frontend/tui/uitest":        layerTest,
	"internal/model/modeltest":            layerTest,
	"internal/security/egress/egresstest": layerTest,
	"internal/service/servicetest":        layerTest,
	"internal/store/storetest":            layerTest,
	"internal/test":                       layerTest,
	"internal/transcript/transcripttest":  layerTest,

	"dev": layerDev,
}

// owners lists modules that only one package may import, and why.
var owners = []struct{ module, owner, why string }{
	{"go.temporal.io", "fleet/runner", "the loop must run without the engine"},
	{"modernc.org/sqlite", "internal/store/sqlite", "all others know store.Store"},
	{"github.com/jackc/pgx", "internal/store/postgres", "all others know store.Store"},
	{"github.com/nats-io", "fleet/nats", "all others know bus.Link"},
	{"github.com/minio/minio-go", "fleet/blob", "all others know blob.Store"},
	{"github.com/alecthomas/chroma/v2/lexers", "nothing", "it registers 300 lexers at every start: load single files with chroma.NewXMLLexer"},
	{"github.com/coder/acp-go-sdk", "internal/frontend/acp", "editors' protocol is one front end's business"},
}

// noIO lists the packages of the standard library that the API must not use.
var noIO = []string{"database", "log", "net", "os", "path/filepath", "plugin", "syscall", "testing", "unsafe"}

func TestLayers(t *testing.T) {
	t.Parallel()
	packages := readImports(t, os.DirFS("."))
	if len(packages) < 10 {
		t.Fatalf("only %d packages found: is this the module's root?", len(packages))
	}
	for _, fault := range layerFaults(packages) {
		t.Error(fault)
	}
}

// readImports returns the imports of each package by its directory, without tests.
func readImports(t *testing.T, root fs.FS) map[string][]string {
	t.Helper()
	packages := map[string][]string{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin" || d.Name() == "dist") {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		if err != nil {
			return err
		}
		imports := packages[path.Dir(name)]
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			imports = append(imports, imported)
		}
		packages[path.Dir(name)] = imports
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

// layerFaults returns a line for each import that the table does not permit.
func layerFaults(packages map[string][]string) []string {
	var faults []string
	for _, pkg := range slices.Sorted(maps.Keys(packages)) {
		if entryOf(pkg) == "" {
			faults = append(faults, fmt.Sprintf("%s has no layer: add it to layers in layers_test.go and to docs/architecture.md", pkg))
			continue
		}
		imports := slices.Compact(slices.Sorted(slices.Values(packages[pkg])))
		for _, imported := range imports {
			if why := refusal(pkg, imported); why != "" {
				faults = append(faults, fmt.Sprintf("%s must not import %s: %s", pkg, imported, why))
			}
		}
	}
	return faults
}

// entryOf returns the entry of layers that covers a package, or "".
func entryOf(pkg string) string {
	for entry := pkg; ; entry = path.Dir(entry) {
		if _, ok := layers[entry]; ok && (entry != "." || pkg == ".") {
			return entry
		}
		if entry == "." {
			return ""
		}
	}
}

// refusal returns why a package must not import another, or "".
func refusal(pkg, imported string) string {
	layer := layers[entryOf(pkg)]
	if imported == module {
		imported += "/."
	}
	target, own := strings.CutPrefix(imported, module+"/")
	switch {
	case !own && layer == layerAPI:
		return apiRefusal(imported)
	case !own:
		return moduleRefusal(pkg, imported, layer)
	case entryOf(target) == "":
		return "it has no layer"
	case layer == layerTest || entryOf(pkg) == entryOf(target):
		return ""
	}
	targetLayer := layers[entryOf(target)]
	switch {
	case targetLayer == layerTest:
		return "it is for tests"
	case layer == layerDev || targetLayer == layerDev:
		return "dev is not part of the program"
	case within(target, "fleet") && target != "fleet" && !within(pkg, "fleet") && pkg != "cmd/pawl-fleet":
		return "only pawl-fleet links the code of a fleet"
	case layer == layerFrontend && (targetLayer > layerUtility || targetLayer == layerPort) && target != "internal/config":
		return "a front end uses pawl.Service and knows nothing of its implementation"
	case layer == layerCommand || layer == layerFrontend:
		return ""
	case layer == layerWiring && target == "client": // an App is either in this process or attached to a server
		return ""
	case targetLayer == layer:
		return "both are in the same layer; move what both need to a lower one, or pass it in"
	case targetLayer > layer:
		return "imports must point down"
	}
	return ""
}

func apiRefusal(imported string) string {
	first, _, _ := strings.Cut(imported, "/")
	if strings.Contains(first, ".") {
		return "the API uses the standard library only"
	}
	for _, p := range noIO {
		if within(imported, p) {
			return "the API does no I/O"
		}
	}
	return ""
}

func moduleRefusal(pkg, imported string, layer int) string {
	if within(imported, "github.com/spf13/cobra") && layer != layerCommand && layer != layerTest {
		return "only commands have flags"
	}
	for _, o := range owners {
		if within(imported, o.module) && layer != layerTest && !within(pkg, o.owner) {
			return "only " + o.owner + " may: " + o.why
		}
	}
	return ""
}

// within reports whether a path is parent or below it.
func within(p, parent string) bool { return p == parent || strings.HasPrefix(p, parent+"/") }

// TestLayersCanFail checks that the table rejects wrong imports and accepts right
// ones.
func TestLayersCanFail(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ pkg, imported, want string }{
		{".", "io", ""},
		{".", "os", "no I/O"},
		{".", "net/http", "no I/O"},
		{".", "github.com/oklog/ulid/v2", "standard library only"},
		{".", module + "/internal/bus", "imports must point down"},
		{"internal/bus", module, ""},
		{"internal/bus", module + "/internal/store", ""},
		{"internal/bus", module + "/internal/store/sqlite", "in the same layer"},
		{"internal/store", module + "/internal/store/sqlite", "imports must point down"},
		{"internal/frontend/tui", module + "/internal/store", "a front end uses pawl.Service"},
		{"internal/store/sqlite", module + "/internal/agent", "imports must point down"},
		{"internal/store/sqlite", "github.com/jackc/pgx/v5", "only internal/store/postgres may"},
		{"internal/bus", "github.com/nats-io/nats.go", "only fleet/nats may"},
		{"internal/mission/gate/mutate", "github.com/alecthomas/chroma/v2", ""},
		{"internal/mission/gate/mutate", "github.com/alecthomas/chroma/v2/lexers", "at every start"},
		{"fleet/nats", "github.com/nats-io/nats.go", ""},
		{"internal/tool", module + "/internal/proc", ""},
		{"internal/mcp/mcpclient", module + "/internal/agent/prompt", "in the same layer"},
		{"internal/agent", "go.temporal.io/sdk/workflow", "only fleet/runner may"},
		{"fleet/runner", "go.temporal.io/sdk/workflow", ""},
		{"fleet/runner", module + "/internal/service/local", "in the same layer"},
		{"internal/service/local", module + "/internal/service", "imports must point down"},
		{"internal/service", module + "/internal/store/storetest", "it is for tests"},
		{"internal/store/storetest", module + "/internal/agent", ""},
		{"internal/test/crash", "github.com/jackc/pgx/v5", ""},
		{"internal/humanize", module + "/internal/security/sanitize", ""},
		{"internal/security/sanitize", module + "/internal/humanize", "imports must point down"},
		{"internal/frontend/tui", module + "/internal/security/sanitize", ""},
		{"internal/frontend/tui", module + "/internal/config", ""},
		{"internal/frontend/tui/list", module + "/internal/service", "a front end uses pawl.Service"},
		{"internal/frontend/httpapi", module + "/internal/frontend/tui", "a front end uses pawl.Service"},
		{"internal/cli/tui", module + "/internal/frontend/tui", ""},
		{"internal/cli/tui", module + "/internal/test/bench", "it is for tests"},
		{"internal/cli/tui", module + "/internal/magic", "it has no layer"},
		{"internal/cli/serve", module + "/fleet/node", "only pawl-fleet links"},
		{"internal/app", module + "/internal/frontend/tui", "imports must point down"},
		{"internal/app", "github.com/spf13/cobra", "only commands have flags"},
		{"fleet/command", "github.com/spf13/cobra", ""},
		{"fleet/node", module + "/internal/app", ""},
		{"dev/gotest", module + "/internal/proc", "not part of the program"},
		{"internal/magic", "fmt", "add it to layers"},
		{"internal/runner", "fmt", "add it to layers"},
	} {
		got := strings.Join(layerFaults(map[string][]string{test.pkg: {test.imported}}), "\n")
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s imports %s: got %q, want %q", test.pkg, test.imported, got, test.want)
		}
	}
}
