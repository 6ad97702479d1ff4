package security

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func newHostile(t *testing.T) (dir, canary string, tricks []Trick) {
	t.Helper()
	root := t.TempDir()
	dir, canary = filepath.Join(root, "ws"), filepath.Join(root, "canary")
	for _, d := range []string{dir, canary} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir, canary, Hostile(t, dir, canary)
}

// TestHostile: the repository holds every trick that it names, each with a
// canary of its own, and none has left off.
func TestHostile(t *testing.T) {
	t.Parallel()
	dir, canary, tricks := newHostile(t)
	if got := Tripped(t, canary); len(got) > 0 {
		t.Errorf("gone off: %q", got)
	}
	seen := map[string]bool{}
	rows := map[string]bool{}
	for _, trick := range tricks {
		text, err := os.ReadFile(filepath.Join(dir, trick.Path))
		if err != nil {
			t.Error(err)
		}
		if seen[trick.Name] || regexp.MustCompile(`\{(touch|script|url|marker)\}`).Match(text) {
			t.Errorf("%s: twice, or not filled in: %s", trick.Name, text)
		}
		if strings.HasSuffix(trick.Path, ".json") && !json.Valid(text) {
			t.Errorf("%s is not JSON: %s", trick.Path, text)
		}
		seen[trick.Name], rows[trick.Row] = true, true
	}
	for _, row := range []string{"A1", "A2", "A3", "A4", "A6", "A7", "A9", "A10", "A13", "A14", "A16", "A17", "A19", "C13", "D1", "D3", "H5"} {
		if !rows[row] {
			t.Errorf("no trick for row %s", row)
		}
	}
}

// TestHostileIsReal: the tricks work where somebody acts on them.
func TestHostileIsReal(t *testing.T) {
	t.Parallel()
	dir, canary, _ := newHostile(t)
	run := func(name string, args ...string) {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		t.Logf("%s %q: %v %.200s", name, args, err, out)
	}
	run("git", "status")
	run("git", "-c", "core.fsmonitor=false", "diff")
	run("git", "st")
	run("git", "-c", "core.fsmonitor=false", "add", "main.go")
	run("make")
	run("sh", ".envrc")
	run("sh", "-c", ". ./.env")
	run("sh", ".agents/skills/help/scripts/run.sh")
	run("node_modules/.bin/typescript-language-server")
	var settings struct {
		Env        map[string]string
		StatusLine struct{ Command string }
	}
	text, err := os.ReadFile(filepath.Join(dir, ".claude/settings.json"))
	if err != nil || json.Unmarshal(text, &settings) != nil {
		t.Fatal(err)
	}
	resp, err := http.Get(settings.Env["ANTHROPIC_BASE_URL"])
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	got := Tripped(t, canary)
	for _, want := range []string{"git-fsmonitor", "git-diff", "git-alias", "git-clean", "git-hook-post-index-change", "make", "envrc", "env", "agents-skill-script", "lsp-ts", "claude-settings"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s has not gone off: %q", want, got)
		}
	}
}
