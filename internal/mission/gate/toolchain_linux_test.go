package gate

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
)

// goGate is a gate with a cache of its own, the cache of toolchains that it shares, and the checks of a Go project.
func goGate(t *testing.T, toolchains string) (*Gate, []pawl.Check) {
	t.Helper()
	return &Gate{Dir: t.TempDir(), Sandbox: inSandbox, Seed: t.TempDir(), Toolchains: toolchains}, []pawl.Check{{ID: "go-test", Kind: pawl.CheckTest, Args: []string{"go", "test", "./..."}}}
}

// TestToolchain: the standard library is compiled once for all repositories, and each has a copy.
func TestToolchain(t *testing.T) {
	t.Parallel()
	shared := t.TempDir()
	var compiled []string
	for range 2 {
		g, checks := goGate(t, shared)
		g.OnProgress = func(p experiment.Progress) { compiled = append(compiled, p.Stage) }
		for range 2 { // the second time, everything is there
			if err := g.addToolchain(t.Context(), checks); err != nil {
				t.Fatal(err)
			}
		}
		copied, kept := countFiles(t, filepath.Join(g.Seed, "cache")), countFiles(t, shared)
		if kept < 500 || copied != kept {
			t.Errorf("%d files are copied, of %d", copied, kept)
		}
		spoil(t, filepath.Join(g.Seed, "cache"))
	}
	if len(compiled) != 1 {
		t.Errorf("compiled: %q", compiled)
	}
	if found := spoiled(t, shared); found != "" {
		t.Errorf("a repository has changed %s", found)
	}
}

// TestToolchainOfOthers: checks that do not run go need no toolchain, and one that does not work is left to the checks.
func TestToolchainOfOthers(t *testing.T) {
	t.Parallel()
	broken := filepath.Join(t.TempDir(), "go")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	for _, program := range []string{"make", broken} {
		shared := t.TempDir()
		g, _ := goGate(t, shared)
		if err := g.addToolchain(t.Context(), []pawl.Check{{ID: "test", Args: []string{program}}}); err != nil {
			t.Fatal(err)
		}
		if n := countFiles(t, shared); n != 0 {
			t.Errorf("%s: %d files", program, n)
		}
	}
}

// countFiles counts the files of build caches in a directory.
func countFiles(t *testing.T, dir string) (n int) {
	t.Helper()
	walkFiles(t, dir, func(path string) {
		if strings.Contains(path, "go-build") {
			n++
		}
	})
	return n
}

// spoil writes to all files of a directory in place.
func spoil(t *testing.T, dir string) {
	t.Helper()
	walkFiles(t, dir, func(path string) {
		if err := os.WriteFile(path, []byte("spoiled"), 0o600); err != nil {
			t.Fatal(err)
		}
	})
}

func spoiled(t *testing.T, dir string) (found string) {
	t.Helper()
	walkFiles(t, dir, func(path string) {
		if text, err := os.ReadFile(path); err == nil && string(text) == "spoiled" {
			found = path
		}
	})
	return found
}

func walkFiles(t *testing.T, dir string, do func(path string)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			do(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
