//go:build e2e

package cli

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == fakeServer {
		serveFake(os.Args[2:])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestStories runs the user stories in testdata/script, each in a new directory
// with a store of its own.
func TestStories(t *testing.T) {
	t.Parallel()
	bin := filepath.Dir(harness.Binary(t, ""))
	harness.FakeProvider(t) // in the same directory
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "..", "testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("PAWL_UPDATE") != "", // writes what cmp compares with anew
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("PAWL_DATA", filepath.Join(env.WorkDir, ".data"))
			home := env.WorkDir + "-home" // a home directory cannot be a workspace
			env.Setenv("HOME", home)
			env.Setenv("XDG_CACHE_HOME", filepath.Join(home, ".cache"))
			env.Setenv("GOCACHE", goCache())
			self, err := os.Executable()
			if err != nil {
				return err
			}
			env.Setenv("FAKE_MCP", self) // with the argument -fake-mcp
			env.Setenv("MCP_DIR", os.Getenv("PAWL_TEST_MCP_DIR"))
			return os.Mkdir(home, 0o700)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"waitfile": waitFile,
			"setid":    setID,
			"provider": startProvider,
			"postgres": func(ts *testscript.TestScript, _ bool, _ []string) { // a database of the story
				ts.Setenv("PAWL_STORE", harness.Stores["postgres"](t))
			},
		},
	})
}

// goCache is where go keeps what it has built: the stories' home directory has
// nothing yet, and the standard library takes a while.
var goCache = sync.OnceValue(func() string {
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(string(out))
})

// waitFile waits until a file exists: waitfile NAME.
func waitFile(ts *testscript.TestScript, _ bool, args []string) {
	for range 6000 {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		_ = ts.Exec("sleep", "0.01")
	}
	ts.Fatalf("%s did not appear", args[0])
}

// startProvider starts a fake provider and points pawl's configuration to it:
// provider SCRIPT [MORE], where MORE are further keys of the configuration. Nobody
// writes titles: their requests would come at any time, and take a reply's place.
func startProvider(ts *testscript.TestScript, _ bool, args []string) {
	m, err := fakeprovider.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	srv := httptest.NewServer(fakeprovider.Handler(m, fakeprovider.Config{Key: "a-key"}))
	ts.Defer(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	more := ""
	if len(args) > 1 {
		more = "," + args[1]
	}
	config := fmt.Sprintf(`{"small_model":"none","providers":{"anthropic":{"base_url":%[1]q},"gemini":{"base_url":%[1]q},"openai":{"base_url":%[2]q},"groq":{"base_url":%[2]q}}%[3]s}`,
		srv.URL, srv.URL+"/v1", more)
	path := ts.MkAbs("pawl.json")
	ts.Check(os.WriteFile(path, []byte(config), 0o600))
	ts.Setenv("PAWL_CONFIG", path)
}

// setID puts the first session id found in a file into a variable: setid VAR FILE.
func setID(ts *testscript.TestScript, _ bool, args []string) {
	for _, word := range strings.FieldsFunc(ts.ReadFile(args[1]), func(r rune) bool { return strings.ContainsRune(" \n\"\t:,", r) }) {
		if len(word) == 26 && strings.HasPrefix(word, "01") {
			ts.Setenv(args[0], word)
			return
		}
	}
	ts.Fatalf("no session id in %s", args[1])
}
