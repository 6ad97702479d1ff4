package agent

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/extension/definition"
	"github.com/pawl-dev/pawl/internal/extension/rules"
	"github.com/pawl-dev/pawl/internal/extension/skill"
)

// maxPrompt bounds what pawl itself tells a model, in bytes: each request has it.
const maxPrompt = 3 << 10

// modelOfFamily is one of each family.
var modelOfFamily = map[Family]string{
	FamilyAnthropic: "anthropic/claude-sonnet-4-5", FamilyGPT: "openai/gpt-5", FamilyGemini: "gemini/gemini-2.5-pro", FamilyOther: "ollama/qwen3",
}

// What each agent tells a model of each family, word for word.
func TestPrompts(t *testing.T) {
	t.Parallel()
	found := &extension.Found{
		Dir: "/work/project", Repository: true, Branch: "main",
		Agents: &definition.AgentSet{}, Rules: &rules.Set{}, Skills: &skill.Set{},
	}
	said := map[string]string{}
	for name, def := range builtin {
		for family, model := range modelOfFamily {
			text := SystemPrompt(def, PromptContext{Model: model, Found: found, Day: time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC), Has: func(string) bool { return true }})
			said[name+"_"+string(family)] = strings.Replace(text, runtime.GOOS+"/"+runtime.GOARCH, "linux/amd64", 1)
		}
	}
	for name, def := range hidden {
		said[name] = def.Prompt
	}
	for name, text := range said {
		t.Run(name, func(t *testing.T) {
			if len(text) > maxPrompt {
				t.Errorf("it has %d bytes, more than %d: each request carries them", len(text), maxPrompt)
			}
			file := filepath.Join("testdata", "prompts", name+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), text); diff != "" {
				t.Errorf("it says something else; if that is meant, run the test with -update (-want +got):\n%s", diff)
			}
		})
	}
	files, err := filepath.Glob(filepath.Join("testdata", "prompts", "*.golden"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".golden"); !slices.Contains(slices.Collect(maps.Keys(said)), name) {
			t.Errorf("%s is of no agent and family", f)
		}
	}
}

// Whatever the model, the agent's own words come first, and what differs from
// directory to directory after what differs from model to model.
func TestOrderOfAPrompt(t *testing.T) {
	t.Parallel()
	found := &extension.Found{Dir: "/work/project", Agents: &definition.AgentSet{}, Rules: &rules.Set{}, Skills: &skill.Set{}}
	for family, model := range modelOfFamily {
		text := SystemPrompt(builtin[Default], PromptContext{Model: model, Found: found})
		notes, where := strings.Index(text, strings.TrimSpace(familyNotes[family])), strings.Index(text, "# Environment")
		if !strings.HasPrefix(text, strings.TrimSpace(buildPrompt)) || notes < 0 || where < notes {
			t.Errorf("%s: the notes are at %d, the folder at %d:\n%s", family, notes, where, text)
		}
	}
}
