package lsp

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestConfigure: what is said of a server holds, and what is not said stays.
func TestConfigure(t *testing.T) {
	t.Parallel()
	files := map[string]string{".a": "alpha"}
	table := func() []Spec {
		return []Spec{{Name: "one", Args: []string{"x"}, Files: files, Install: "get one"}, {Name: "two", Files: map[string]string{".b": "beta"}, Roots: []string{"b.mod"}, Marked: true}}
	}
	for name, tt := range map[string]struct {
		entries map[string]Entry
		want    []Spec
	}{
		"nothing":    {nil, table()},
		"turned off": {map[string]Entry{"one": {Disabled: true}}, table()[1:]},
		"both off":   {map[string]Entry{"one": {Disabled: true}, "two": {Disabled: true}}, nil},
		"another program": {
			map[string]Entry{"one": {Command: "/opt/one", Args: []string{}, Env: map[string]string{"B": "2", "A": "1"}}},
			[]Spec{{Name: "one", Program: "/opt/one", Args: []string{}, Env: []string{"A=1", "B=2"}, Files: files, Install: "get one"}, table()[1]},
		},
		"for other files": {
			map[string]Entry{"two": {Extensions: []string{".a", ".NEW", "Makefile"}}},
			[]Spec{table()[0], {Name: "two", Files: map[string]string{".a": "alpha", ".NEW": "new", "Makefile": "makefile"}, Roots: []string{"b.mod"}}},
		},
		"added": {
			map[string]Entry{"mine": {Extensions: []string{".a"}}, "off": {Extensions: []string{".a"}, Disabled: true}},
			[]Spec{{Name: "mine", Files: files, Install: "see lsp.mine in your configuration"}, table()[0], table()[1]},
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := table()
			got, err := Configure(before, tt.entries)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Error(diff, err)
			}
			if diff := cmp.Diff(table(), before); diff != "" {
				t.Errorf("the table itself has changed: %s", diff)
			}
		})
	}
}

func TestConfigureRefuses(t *testing.T) {
	t.Parallel()
	good := []string{".x"}
	for name, tt := range map[string]struct {
		name  string
		entry Entry
		want  string
	}{
		"unknown":              {"mine", Entry{Command: "mine"}, `lsp.mine: pawl knows no server of this name: say for which files it is`},
		"a slip":               {"goplss", Entry{Disabled: true}, "did you mean gopls?"},
		"a relative path":      {"gopls", Entry{Command: "./gopls"}, "or its absolute path"},
		"a name that is none":  {"a/b", Entry{Extensions: good}, "the name is not a program"},
		"an end without point": {"gopls", Entry{Extensions: []string{"."}}, `extensions: "."`},
		"an end of two":        {"gopls", Entry{Extensions: []string{".d.ts"}}, `extensions: ".d.ts"`},
		"nothing":              {"gopls", Entry{Extensions: []string{""}}, "extensions:"},
		"a path":               {"gopls", Entry{Extensions: []string{"a/b.x"}}, "extensions:"},
		"a variable":           {"gopls", Entry{Env: map[string]string{"A=B": "1"}}, "env:"},
		"the search path":      {"gopls", Entry{Env: map[string]string{"PATH": "."}}, "absolute path"},
		"no object":            {"gopls", Entry{Initialization: json.RawMessage(`[1]`)}, "initialization must be an object"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := Configure(Table(), map[string]Entry{tt.name: tt.entry}); err == nil || !strings.Contains(err.Error(), tt.want) || got != nil {
				t.Errorf("got %d servers, %v", len(got), err)
			}
		})
	}
}

// TestInitialization: options of the user win, and the others stay.
func TestInitialization(t *testing.T) {
	t.Parallel()
	table, err := Configure([]Spec{{Name: "one", Files: map[string]string{".a": "a"}, Options: func(string) (any, error) { return map[string]any{"a": 1.0, "b": 1.0}, nil }}},
		map[string]Entry{"one": {Initialization: json.RawMessage(`{"b":2,"c":[3]}`)}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := table[0].Options("")
	if diff := cmp.Diff(any(map[string]any{"a": 1.0, "b": 2.0, "c": []any{3.0}}), got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// TestConfiguredServer: a server that only a configuration knows is started, with
// its arguments and variables.
func TestConfiguredServer(t *testing.T) {
	t.Parallel()
	bin := binaries(t, "other-name")
	table, err := Configure(nil, map[string]Entry{"mine": {Command: filepath.Join(bin, "other-name"), Args: []string{serveArg + "variable"}, Extensions: []string{".txt"}, Env: map[string]string{"OF_MINE": "seen"}}})
	if err != nil {
		t.Fatal(err)
	}
	m := &Servers{Table: table, Path: os.Getenv("PATH")}
	closeAtEnd(t, m)
	checkLines(t, check(t, m, folder(t, map[string]string{"a.txt": ""}), "a.txt"), "+a.txt:1: error: seen")
}

// TestGoplsOfAnotherName: an entry of a user runs a real server.
func TestGoplsOfAnotherName(t *testing.T) {
	t.Parallel()
	path := realPath(t)
	program, err := find("gopls", "/nowhere", path)
	if err != nil {
		t.Fatal(err)
	}
	table, err := Configure(Table(), map[string]Entry{
		"gopls":  {Disabled: true},
		"my-gop": {Command: program, Args: []string{"serve"}, Extensions: []string{".go"}, Initialization: json.RawMessage(`{"diagnosticsDelay":"0s"}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	m := &Servers{Table: table, Path: path}
	closeAtEnd(t, m)
	dir := folder(t, map[string]string{"go.mod": goMod, "a.go": "package x\n\nfunc A() int { return \"\" }\n"})
	checkLines(t, check(t, m, dir, "a.go"), `+a.go:3: error: cannot use "" (untyped string constant) as int value in return statement`)
	for k := range m.entries {
		if k.name != "my-gop" {
			t.Errorf("%s was asked", k.name)
		}
	}
}

// TestLook: what is installed is found, outside of the workspace alone, and not run.
func TestLook(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"bin/gopls": "#!/bin/sh\ntouch \"${0%/*}/ran\"\n", "out/clangd": "#!/bin/sh\ntouch \"${0%/*}/ran\"\n", "out/plain": "x"})
	for _, name := range []string{"bin/gopls", "out/clangd"} {
		if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	work := filepath.Join(dir, "bin")
	found := Look(Table(), work, work+":"+filepath.Join(dir, "out"))
	if len(found) != 1 || found[0].Name != "clangd" || found[0].Path != filepath.Join(dir, "out", "clangd") {
		t.Errorf("found is %+v", found)
	}
	if _, err := os.Stat(filepath.Join(dir, "out", "ran")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was run: %v", err)
	}
}
