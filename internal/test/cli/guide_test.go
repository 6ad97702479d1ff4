package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v3"
)

// guideBlocks returns what stands in the guide's code blocks of a language.
func guideBlocks(t *testing.T, name, language string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "how-to", name))
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, m := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```\n").FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

// TestGuideScript: the script that the guide shows is the one that the story runs.
func TestGuideScript(t *testing.T) {
	t.Parallel()
	story, err := txtar.ParseFile(filepath.Join("..", "..", "..", "testdata", "script", "ci_fix.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(story.Files, func(f txtar.File) bool { return f.Name == "fix.sh" })
	blocks := guideBlocks(t, "ci.md", "sh")
	i := slices.IndexFunc(blocks, func(b string) bool { return strings.HasPrefix(b, "set -u\n") })
	if at < 0 || i < 0 {
		t.Fatalf("no script: %d, %d", at, i)
	}
	if diff := cmp.Diff(string(story.Files[at].Data), blocks[i]); diff != "" {
		t.Errorf("the story's script and the guide's:\n%s", diff)
	}
}

// TestGuideWorkflows: people copy them. They can be read, run on no event that
// gives an untrusted change the secrets, say what they may do, and name versions.
func TestGuideWorkflows(t *testing.T) {
	t.Parallel()
	type job struct {
		Permissions map[string]string `yaml:"permissions"`
		Steps       []struct {
			Uses string            `yaml:"uses"`
			Run  string            `yaml:"run"`
			Env  map[string]string `yaml:"env"`
		} `yaml:"steps"`
	}
	pinned := regexp.MustCompile(`^[\w-]+/[\w/-]+@v\d+$`)
	workflows := 0
	for _, block := range guideBlocks(t, "ci.md", "yaml") {
		var w struct {
			On          any               `yaml:"on"`
			Permissions map[string]string `yaml:"permissions"`
			Jobs        map[string]job    `yaml:"jobs"`
		}
		if err := yaml.Unmarshal([]byte(block), &w); err != nil {
			t.Errorf("%v in\n%s", err, block)
			continue
		}
		if w.Jobs == nil {
			continue // GitLab's
		}
		workflows++
		on, err := yaml.Marshal(w.On)
		if err != nil || strings.Contains(string(on), "pull_request_target") {
			t.Errorf("on %s: %v", on, err)
		}
		if w.Permissions == nil || slices.ContainsFunc([]string{"contents", "actions"}, func(p string) bool { return w.Permissions[p] == "write" }) {
			t.Errorf("permissions of all jobs: %v", w.Permissions)
		}
		for name, j := range w.Jobs {
			for _, s := range j.Steps {
				if s.Uses != "" && !pinned.MatchString(s.Uses) {
					t.Errorf("%s: %s names no version", name, s.Uses)
				}
				if _, key := s.Env["ANTHROPIC_API_KEY"]; key && (j.Permissions["contents"] != "read" || strings.Contains(s.Run, "${{")) {
					t.Errorf("%s: a step with the key can write, or takes words into its script", name)
				}
			}
		}
	}
	if workflows != 3 {
		t.Errorf("%d workflows were looked at, want 3", workflows)
	}
}
