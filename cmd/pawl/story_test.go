package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"pawl": main})
}

// TestStories runs the user stories in testdata/script, each in a new folder
// with a store of its own.
func TestStories(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PAWL_DATA", filepath.Join(env.WorkDir, ".data"))
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("GORACE", "atexit_sleep_ms=0") // or each run under the race detector takes a second more
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"waitfile": waitFile,
			"setid":    setID,
		},
	})
}

// waitFile waits until a file exists: waitfile NAME.
func waitFile(ts *testscript.TestScript, _ bool, args []string) {
	for range 2000 {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		_ = ts.Exec("sleep", "0.01")
	}
	ts.Fatalf("%s did not appear", args[0])
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
