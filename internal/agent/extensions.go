package agent

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/prompt"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/tool"
)

// brought is what the directory of a session brings, as the open turn has it. It is
// read when this process first works on the turn and kept until its end: a file
// that changes meanwhile must not change what the provider has cached. A process
// that resumes the turn reads anew, and sends the same if nothing has changed.
type brought struct {
	turn    int
	found   *extension.Found
	claimed map[string]bool // files of rules that calls of this step give; under the journal's lock
}

// bring reads what the directory brings, once for a turn. What it was for the newest
// turn it is until the next.
func (j *journal) bring(ctx context.Context) error {
	turn := j.history.Turns()
	j.brought.claimed = map[string]bool{}
	if j.s.Extensions == nil || j.brought.found != nil && j.brought.turn == turn {
		return nil
	}
	found, err := j.s.Extensions(ctx, j.history.Created().Dir, host{j}.settings())
	if err != nil {
		return fmt.Errorf("read what the folder brings: %w", err)
	}
	j.brought = brought{turn: turn, found: found, claimed: map[string]bool{}}
	return nil
}

// PromptContext is what a model is told besides the agent's own words.
type PromptContext struct {
	Model string                 // that is told, by its ref
	Found *extension.Found       // what the directory brings; nil means that nothing is known of it
	Day   time.Time              // when the turn began
	Has   func(tool string) bool // which tools the agent has; nil means none
}

func (t PromptContext) has(tool string) bool { return t.Has != nil && t.Has(tool) }

// SystemPrompt returns what a model is told before the conversation: the agent's own
// words, what helps the model's family and, if something is known of the directory,
// all that it brings. In a session the beginning is the same from turn to turn.
func SystemPrompt(def Definition, t PromptContext) string {
	s := prompt.System{Agent: def.Prompt, Family: familyNotes[FamilyOf(t.Model)]}
	f := t.Found
	if f == nil {
		return s.Text()
	}
	s.Dir, s.Repository, s.Branch = f.Dir, f.Repository, f.Branch
	s.Platform, s.Day, s.Rules = runtime.GOOS+"/"+runtime.GOARCH, t.Day.UTC().Format(time.DateOnly), f.Rules.Prompt()
	if t.has("task") {
		s.Agents = helpers(f)
	}
	if t.has("skill") {
		s.Skills, s.Acquire = f.Skills.Catalog(prompt.CatalogBytes), t.has("bash")
	}
	return s.Text()
}

// helpers lists the agents from files that a task can be given to.
func helpers(f *extension.Found) string {
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

// system is SystemPrompt for the open turn and the model that it asks. Its last step has
// the same, though no tools are offered in it.
func (j *journal) system(def Definition, ref string, tools *tool.Registry) string {
	has := func(name string) bool {
		_, ok := tools.Tool(name)
		return ok
	}
	return SystemPrompt(def, PromptContext{Model: ref, Found: j.brought.found, Day: j.history.Open().Began, Has: has})
}

// agent is Find for the open turn.
func (j *journal) agent(name string) (Definition, error) { return Find(name, j.brought.found) }
