package policy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/tool/lsp"
)

// open returns the safety of a user of the test, who has a home directory.
func open(t *testing.T) (s *Safety, dir, outside string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"HOME": "home", "PAWL_DATA": "data", "PAWL_CACHE": "cache", "XDG_CONFIG_HOME": "config"} {
		path = filepath.Join(base, path)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv(name, path)
	}
	dir, outside = filepath.Join(base, "ws"), filepath.Join(base, "outside")
	for _, path := range []string{dir, outside} {
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if s, err = Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, dir, outside
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestServersInTheirSandbox: language servers work in the sandbox.
func TestServersInTheirSandbox(t *testing.T) {
	modules := os.Getenv("GOPATH")
	if modules == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		modules = filepath.Join(home, "go")
	}
	s, dir, _ := open(t)
	t.Setenv("GOPATH", modules)
	put(t, dir, "go.mod", "module example.com/x\n\ngo 1.26\n")
	put(t, dir, "a.go", "package x\n\nfunc A() int { return \"\" }\n")
	put(t, dir, "web/tsconfig.json", `{"compilerOptions":{"strict":true}}`)
	put(t, dir, "web/a.ts", "export const n: number = \"\";\n")

	servers := &lsp.Servers{Path: os.Getenv("PAWL_TEST_LSP_PATH") + ":" + os.Getenv("PATH"), Sandbox: s.WrapServer}
	t.Cleanup(servers.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	report, err := servers.Check(ctx, dir, []string{"a.go", "web/a.ts"})
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%+v", report)
	for _, want := range []string{"as int value in return statement", "is not assignable to type 'number'"} {
		if !strings.Contains(text, want) {
			t.Errorf("nobody says %q: %s", want, text)
		}
	}
}

// TestServerCannotGetOut: language servers, which run what a model wrote, and MCP servers of a
// project can write only to their cache and temporary directory.
func TestServerCannotGetOut(t *testing.T) { //nolint:paralleltest // it sets environment variables
	t.Run("language", func(t *testing.T) { cannotGetOut(t, (*Safety).WrapServer) })
	t.Run("MCP", func(t *testing.T) { cannotGetOut(t, (*Safety).WrapTools) })
}

func cannotGetOut(t *testing.T, wrap func(s *Safety, ctx context.Context, dir, root string, args, env []string) (sandbox.Wrapped, error)) {
	t.Helper()
	s, dir, outside := open(t)
	put(t, dir, "mine", "mine")
	script := "touch $XDG_CACHE_HOME/ran; touch /tmp/t || rm $XDG_CACHE_HOME/ran; mkdir .vscode; rm mine; touch inside " + filepath.Join(outside, "canary")
	w, err := wrap(s, t.Context(), dir, dir, []string{"bash", "-c", script}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var out strings.Builder
	result, err := proc.Run(t.Context(), proc.Command{Args: w.Args, Env: w.Env, Bare: true, Files: w.Files, Attr: w.Attr, Dir: dir, Output: &out})
	if err != nil {
		t.Fatal(err)
	}
	if ran, err := filepath.Glob(filepath.Join(s.dirs.cache, "box", "*", "files", "ran")); len(ran) != 1 {
		t.Errorf("it did not run, so nothing is shown: %v, %+v, %s", err, result, out.String())
	}
	for _, path := range []string{filepath.Join(dir, "inside"), filepath.Join(dir, ".vscode"), filepath.Join(outside, "canary")} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("it wrote %s", path)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "mine")); err != nil {
		t.Errorf("it deleted a file: %v", err)
	}
}
