package search

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// program writes a shell script.
func program(t *testing.T, path, script string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNothingConfiguresRipgrep(t *testing.T) {
	dir := folderOf(t, map[string]string{
		"a": "needle\nhay\n", ".rgignore": "a\n", ".ripgreprc": "--invert-match\n", "rc": "--invert-match\n--max-count=0\n",
	})
	t.Setenv("RIPGREP_CONFIG_PATH", filepath.Join(dir, "rc"))
	each(t, func(t *testing.T, engine Engine) {
		found := grep(t, dir, engine, Query{Pattern: pattern(t, "needle", Options{}), Path: "."})
		if diff := cmp.Diff(map[string]int{"a": 1}, paths(found.Files)); diff != "" {
			t.Error(diff)
		}
	})
}

// A program in the workspace is never run, wherever the PATH leads.
func TestProgramInTheWorkspace(t *testing.T) { //nolint:paralleltest // it sets environment variables
	dir := folderOf(t, map[string]string{"a": "needle 1\n"})
	ran := filepath.Join(t.TempDir(), "ran")
	program(t, filepath.Join(dir, "bin", "rg"), "touch "+ran+"\n")
	elsewhere := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "bin", "rg"), filepath.Join(elsewhere, "rg")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "bin"), elsewhere, "bin", ".", filepath.Join(link, "bin")} {
		t.Setenv("PATH", path+":/usr/bin:/bin")
		for _, top := range []string{dir, link} {
			found := grep(t, top, Default(), Query{Pattern: pattern(t, `\d`, Options{}), Path: "a"})
			if diff := cmp.Diff(map[string]int{"a": 1}, paths(found.Files)); diff != "" {
				t.Error(diff)
			}
		}
	}
	if _, err := os.Stat(ran); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the workspace's program was run")
	}
}

func TestDefaultEngine(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if _, ok := Default().(own); !ok {
		t.Errorf("without ripgrep the engine is %T", Default())
	}
	rg := program(t, filepath.Join(dir, "rg"), "exit 1\n")
	engine, ok := Default().(either)
	if diff := cmp.Diff(either{ripgrep{[]string{rg}}}, engine, cmp.AllowUnexported(either{}, ripgrep{})); diff != "" || !ok {
		t.Errorf("%v %s", ok, diff)
	}
	for text, fixed := range map[string]bool{
		"needle": true, `\w+needle`: true, "foo|bar": true, "(?i)needle_42": true,
		`\w+`: false, "a.b": false, "foo|b": false, "foo|.": false, "(foo)*": false, "(foo)+": true, "(foo){2}": true, "(foo){0,2}": false,
	} {
		if _, ok := engine.engine(pattern(t, text, Options{})).(own); ok != fixed {
			t.Errorf("%s: has a fixed text: %v", text, ok)
		}
	}
}

// Whatever goes wrong with the program, the answer is right.
func TestBrokenRipgrep(t *testing.T) {
	t.Parallel()
	dir := folderOf(t, map[string]string{"a": "needle\n", "b": "hay\n"})
	want := grep(t, dir, Own(), Query{Pattern: pattern(t, "needle", Options{}), Path: ".", Lines: true})
	for name, script := range map[string]string{
		"fails":              "exit 101\n",
		"complains":          "echo 'error: what is --encoding?' >&2; exit 2\n",
		"dies":               "kill -9 $$\n",
		"prints other paths": "printf 'a\\0001\\n'\n",
		"prints no number":   "printf './a\\000x\\n'\n",
		"stops within":       "printf './b\\0001'\n",
		"does not exist":     "",
	} {
		path := filepath.Join(t.TempDir(), "rg")
		if script != "" {
			program(t, path, script)
		}
		got := grep(t, dir, Ripgrep(path), Query{Pattern: pattern(t, "needle", Options{}), Path: ".", Lines: true})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
