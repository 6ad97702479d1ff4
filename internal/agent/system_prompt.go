package agent

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/prompt"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/tool"
)

// PromptContext is what the system prompt depends on besides the agent.
type PromptContext struct {
	Model string                 // the ref of the model that reads it
	Found *extension.Found       // the project's configuration; nil leaves out everything about the project
	Dirs  []string               // further project directories
	Day   time.Time              // when the turn began
	Has   func(tool string) bool // reports which tools the agent has; nil means none
}

func (t PromptContext) has(tool string) bool { return t.Has != nil && t.Has(tool) }

// SystemPrompt builds the system prompt: the agent's prompt, the notes for the model's
// family and, if Found is set, the environment, project rules, subagents and skills. Its
// beginning stays the same from turn to turn, so that providers can cache it.
func SystemPrompt(def Definition, t PromptContext) string {
	s := prompt.System{Agent: def.Prompt, Family: familyNotes[FamilyOf(t.Model)]}
	f := t.Found
	if f == nil {
		return s.Text()
	}
	s.Dir, s.Dirs, s.Repository, s.Branch = f.Dir, t.Dirs, f.Repository, f.Branch
	s.Platform, s.Day, s.Rules = runtime.GOOS+"/"+runtime.GOARCH, t.Day.UTC().Format(time.DateOnly), f.Rules.Prompt()
	if t.has("task") {
		s.Agents = subagentList(f)
	}
	if t.has("skill") {
		s.Skills, s.Acquire, s.Search = f.Skills.Catalog(prompt.CatalogBytes), true, t.has("bash")
	}
	return s.Text()
}

// subagentList lists the user-defined agents that can be subagents.
func subagentList(f *extension.Found) string {
	var b strings.Builder
	for _, a := range f.Agents.Agents {
		if a.Mode == "primary" {
			continue
		}
		line := fmt.Sprintf("- %s: %.200s\n", a.Name, a.Description)
		if b.Len()+len(line) > prompt.CatalogBytes {
			b.WriteString("- and more\n")
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// systemPrompt returns the system prompt of the open turn. The last step has the same
// one, though it offers no tools.
func (j *journal) systemPrompt(def Definition, ref string, tools *tool.Registry) string {
	has := func(name string) bool {
		_, ok := tools.Tool(name)
		return ok
	}
	open := j.history.Open()
	return SystemPrompt(def, PromptContext{Model: ref, Found: j.project.found, Dirs: open.Settings.AddDirs, Day: open.Began, Has: has})
}
