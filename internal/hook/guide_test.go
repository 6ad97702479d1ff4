package hook_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGuide: the hook that the guide shows works as the guide says: one file,
// one line, and it refuses what it should.
func TestGuide(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/how-to/hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 2 {
		t.Fatalf("the guide has %d blocks of Go: the file and the line are expected", len(blocks))
	}
	list, err := os.ReadFile("builtin.go")
	if err != nil {
		t.Fatal(err)
	}
	const place = "\t\t// Yours.\n"
	if strings.Count(string(list), place) != 1 {
		t.Fatalf("builtin.go has no place for %q", blocks[1][1])
	}
	overlay(t, map[string]string{
		"guide_example.go":      blocks[0][1],
		"builtin.go":            strings.Replace(string(list), place, blocks[1][1], 1),
		"guide_example_test.go": guideTest,
	})
}

// guideTest is run with the guide's hook in the package. It stands for all tests
// of the package, which would take long.
const guideTest = `package hook

import (
	"context"
	"encoding/json"
	"testing"
)

func TestGuideExample(t *testing.T) {
	r, err := New(Builtins{}.Hooks()...)
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]bool{"git push": false, "git push --force": true} {
		input, _ := json.Marshal(map[string]string{"command": command})
		o, err := r.Run(context.Background(), Event{Point: ToolBefore, Tool: "bash", Input: input})
		if err != nil || o.Block != want {
			t.Errorf("%s: %+v, %v", command, o, err)
		}
	}
}
`

// overlay runs TestGuideExample with files laid over the package: nothing is
// written to it.
func overlay(t *testing.T, files map[string]string) {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	replace := map[string]string{}
	for name, text := range files {
		replace[filepath.Join(here, name)] = filepath.Join(dir, name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	own, err := filepath.Glob(filepath.Join(here, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range own {
		replace[name] = "" // left out: they need not be built again
	}
	replace[filepath.Join(here, "guide_example_test.go")] = filepath.Join(dir, "guide_example_test.go")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	plan := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(plan, text, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "-overlay", plan, "-run", "^TestGuideExample$", ".").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestGuideExample") {
		t.Errorf("the guide's hook does not work: %v\n%s", err, out)
	}
}
