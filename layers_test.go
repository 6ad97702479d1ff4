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

// The rows of docs/architecture.md. A room may import the rooms of lower rows
// and what is below itself, nothing beside it: so every part can be read, and
// tested, without the ones next to it.
const (
	rowVocabulary = iota // the root package
	rowGround            // what the base itself stands on
	rowBase              // a small help for all others, which knows none of them
	rowPart              // does one thing, knows the vocabulary only
	rowWork              // puts parts together for the loop
	rowLoop              // decides
	rowRunner            // runs the loop
	rowService           // what front ends know, over all of it
	rowCommand           // flags and wiring: may import everything

	rowFront // a front end: knows pawl.Service and nothing of what is behind it
	rowTest  // for tests only: may import everything, and nothing but tests may import it
	rowTool  // for people who work on pawl: no part of the program
)

// rooms says in which row a package is. A room holds the packages below it
// too, unless they are rooms themselves.
var rooms = map[string]int{
	".": rowVocabulary,

	"internal/security/sanitize": rowGround,

	"internal/api":     rowBase,
	"internal/fence":   rowBase,
	"internal/extension/frontmatter":   rowBase,
	"internal/workspace/ignore":  rowBase,
	"internal/suggest":    rowBase,
	"internal/config/userfile": rowBase,
	"internal/weak":    rowBase,
	"internal/humanize":   rowBase,

	"internal/service/access":     rowPart,
	"internal/config/auth":       rowPart,
	"internal/blob":       rowPart,
	"internal/bus":        rowPart,
	"internal/config":     rowPart,
	"internal/extension/definition":     rowPart,
	"internal/security/egress":     rowPart,
	"internal/transcript/export":     rowPart,
	"internal/git":        rowPart,
	"internal/hook":       rowPart,
	"internal/model":      rowPart,
	"internal/security/permission": rowPart,
	"internal/proc":       rowPart,
	"internal/security/redact":     rowPart,
	"internal/mission/review":     rowPart,
	"internal/extension/rules":      rowPart,
	"internal/security/sandbox":    rowPart,
	"internal/extension/skill":      rowPart,
	"internal/store":      rowPart,
	"internal/telemetry":  rowPart,
	"internal/security/trust":      rowPart,
	"internal/workspace":  rowPart,

	"internal/workspace/checkpoint": rowWork,
	"internal/extension":     rowWork,
	"internal/mission/gate":       rowWork,
	"internal/agent/prompt":     rowWork,
	"internal/security/policy":     rowWork,
	"internal/workspace/snapshot":   rowWork,
	"internal/tool":       rowWork,
	"internal/workspace/worktree":   rowWork,

	"internal/agent":   rowLoop,
	"internal/mission": rowLoop,

	"fleet/runner": rowRunner,
	"internal/service/local": rowRunner,

	"internal/service/project":    rowService,
	"internal/service": rowService,

	"cmd/pawl": rowCommand,

	"client":            rowFront,
	"internal/frontend/acp":      rowFront,
	"internal/frontend/lineui":   rowFront,
	"internal/mcp/mcpserver": rowFront,
	"internal/frontend/httpapi":   rowFront,
	"internal/frontend/tui":      rowFront,

	"internal/test/bench":               rowTest,
	"internal/blob/blobtest":       rowTest,
	"internal/bus/bustest":         rowTest,
	"internal/test/crash":           rowTest,
	"internal/security/egress/egresstest":   rowTest,
	"internal/test/fleet":           rowTest,
	"internal/test/mission":         rowTest,
	"internal/model/modeltest":     rowTest,
	"internal/test/harness":            rowTest,
	"internal/service/servicetest": rowTest,
	"internal/test/security":             rowTest,
	"internal/store/storetest":     rowTest,
	"internal/test":                rowTest,
	"internal/frontend/tui/uitest":          rowTest,
	"internal/test/tui":             rowTest,

	"dev": rowTool,
}

// owners says which packages alone may import a module, and why.
var owners = []struct{ module, owner, why string }{
	{"go.temporal.io", "fleet/runner", "the loop must run without the engine"},
	{"modernc.org/sqlite", "internal/store/sqlite", "all others know pawl.Store"},
	{"github.com/jackc/pgx", "internal/store/postgres", "all others know pawl.Store"},
	{"github.com/nats-io", "fleet/nats", "all others know bus.Link"},
	{"github.com/minio/minio-go", "internal/blob", "all others know blob.Store"},
	{"github.com/spf13/cobra", "cmd/pawl", "flags are the command's business"},
	{"github.com/coder/acp-go-sdk", "internal/frontend/acp", "editors' protocol is one front end's business"},
}

// noIO are the standard library's packages that the vocabulary keeps off.
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

// readImports returns what the packages import, tests apart, by their folder.
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
		if roomOf(pkg) == "" {
			faults = append(faults, fmt.Sprintf("%s is in no row: give it one in rooms, in layers_test.go, and a line in docs/architecture.md", pkg))
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

// roomOf returns the innermost room that a package is in, or "".
func roomOf(pkg string) string {
	for room := pkg; ; room = path.Dir(room) {
		if _, ok := rooms[room]; ok && (room != "." || pkg == ".") {
			return room
		}
		if room == "." {
			return ""
		}
	}
}

// refusal says why a package must not import another, or "".
func refusal(pkg, imported string) string {
	row := rooms[roomOf(pkg)]
	if imported == module {
		imported += "/."
	}
	target, own := strings.CutPrefix(imported, module+"/")
	switch {
	case !own && row == rowVocabulary:
		return vocabularyRefusal(imported)
	case !own:
		return moduleRefusal(pkg, imported, row)
	case roomOf(target) == "":
		return "it is in no row"
	case row == rowTest || roomOf(pkg) == roomOf(target):
		return ""
	}
	targetRow := rooms[roomOf(target)]
	switch {
	case targetRow == rowTest:
		return "it is for tests"
	case row == rowTool || targetRow == rowTool:
		return "dev is no part of the program"
	case row == rowFront && targetRow > rowBase && target != "internal/config":
		return "a front end knows pawl.Service and nothing of what is behind it"
	case row == rowCommand || row == rowFront:
		return ""
	case targetRow == row:
		return "it stands beside it, in the same row; what both need belongs in a lower one, or is handed in by the caller"
	case targetRow > row:
		return "imports go down only"
	}
	return ""
}

func vocabularyRefusal(imported string) string {
	first, _, _ := strings.Cut(imported, "/")
	if strings.Contains(first, ".") {
		return "the vocabulary uses the standard library only"
	}
	for _, p := range noIO {
		if within(imported, p) {
			return "the vocabulary does no I/O"
		}
	}
	return ""
}

func moduleRefusal(pkg, imported string, row int) string {
	for _, o := range owners {
		if within(imported, o.module) && row != rowTest && !within(pkg, o.owner) {
			return "only " + o.owner + " may: " + o.why
		}
	}
	return ""
}

// within reports whether a path is parent or below it.
func within(p, parent string) bool { return p == parent || strings.HasPrefix(p, parent+"/") }

// TestLayersCanFail shows that the table has teeth: each of these is refused, or not.
func TestLayersCanFail(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ pkg, imported, want string }{
		{".", "io", ""},
		{".", "os", "no I/O"},
		{".", "net/http", "no I/O"},
		{".", "github.com/oklog/ulid/v2", "standard library only"},
		{".", module + "/internal/bus", "imports go down only"},
		{"internal/bus", module, ""},
		{"internal/bus", module + "/internal/store", "stands beside it"},
		{"internal/store", module + "/internal/store/sqlite", ""},
		{"internal/store/sqlite", module + "/internal/agent", "imports go down only"},
		{"internal/store/sqlite", "github.com/jackc/pgx/v5", "only internal/store/postgres may"},
		{"internal/bus", "github.com/nats-io/nats.go", "only fleet/nats may"},
		{"fleet/nats", "github.com/nats-io/nats.go", ""},
		{"internal/tool", module + "/internal/proc", ""},
		{"internal/mcp/mcpclient", module + "/internal/agent/prompt", "stands beside it"},
		{"internal/agent", "go.temporal.io/sdk/workflow", "only fleet/runner may"},
		{"fleet/runner", "go.temporal.io/sdk/workflow", ""},
		{"fleet/runner", module + "/internal/service/local", "stands beside it"},
		{"internal/service/local", module + "/internal/service", "imports go down only"},
		{"internal/service", module + "/internal/store/storetest", "it is for tests"},
		{"internal/store/storetest", module + "/internal/agent", ""},
		{"internal/test/crash", "github.com/jackc/pgx/v5", ""},
		{"internal/humanize", module + "/internal/security/sanitize", ""},
		{"internal/security/sanitize", module + "/internal/humanize", "imports go down only"},
		{"internal/frontend/tui", module + "/internal/security/sanitize", ""},
		{"internal/frontend/tui", module + "/internal/config", ""},
		{"internal/frontend/tui/list", module + "/internal/service", "a front end knows pawl.Service"},
		{"internal/frontend/httpapi", module + "/internal/frontend/tui", "a front end knows pawl.Service"},
		{"cmd/pawl", module + "/internal/frontend/tui", ""},
		{"cmd/pawl", module + "/internal/test/bench", "it is for tests"},
		{"cmd/pawl", module + "/internal/magic", "it is in no row"},
		{"dev/gotest", module + "/internal/proc", "no part of the program"},
		{"internal/magic", "fmt", "give it one in rooms"},
		{"internal/runner", "fmt", "give it one in rooms"},
	} {
		got := strings.Join(layerFaults(map[string][]string{test.pkg: {test.imported}}), "\n")
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s imports %s: got %q, want %q", test.pkg, test.imported, got, test.want)
		}
	}
}
