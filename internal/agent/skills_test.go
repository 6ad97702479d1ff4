package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent/prompt"
	"github.com/pawl-dev/pawl/internal/extension/skill"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// skilled is a roomy environment with skills in its project.
func skilled(t *testing.T, script []string, names ...string) *testEnv {
	t.Helper()
	w := roomy(t, setup{script: script})
	files := map[string]string{}
	for _, name := range names {
		files[".pawl/skills/"+name+"/SKILL.md"] = fmt.Sprintf("---\nname: %s\ndescription: About %s.\n---\nDo %s slowly.", name, name, name)
	}
	w.configureProject(true, files)
	more, err := w.Tools.With(tool.Skill(func(ctx context.Context, c toolapi.Call) (*skill.Set, error) {
		f, err := w.Extensions(ctx, c.Dir, pawl.Settings{})
		return f.Skills, err
	}, nil))
	if err != nil {
		t.Fatal(err)
	}
	w.Tools = more
	return w
}

func loads(name string) string {
	return fmt.Sprintf(`{"calls":[{"name":"skill","input":{"name":%q}}]}`, name)
}

// repeatedSkills returns the skills that a digest repeats in full, and those that it only names.
func repeatedSkills(text string) (given, named []string) {
	for _, name := range []string{"one", "two", "three", "four", "five"} {
		switch {
		case strings.Contains(text, "\n  Do "+name+" slowly."):
			given = append(given, name)
		case strings.Contains(text, fmt.Sprintf("\n- %q\n", name)), strings.HasSuffix(text, fmt.Sprintf("\n- %q", name)):
			named = append(named, name)
		}
	}
	return given, named
}

// Skills that were loaded outlive a compaction, and the ones after it.
func TestSkillsOutliveCompactions(t *testing.T) {
	t.Parallel()
	summed := []string{`{"agent":"compaction","text":"Sum."}`}
	w := skilled(t, join(
		[]string{smallWindow, loads("one"), loads("two"), loads("none"), loads("three"), loads("four"), loads("one")},
		talks(30, `{"text":"Done."}`), summed,
	), "one", "two", "three", "four", "five")
	w.prompt("Go.")
	w.mustTurn(pawl.ReasonEndTurn)
	done := w.compactions()
	if len(done) < 2 {
		t.Fatalf("%d compactions", len(done))
	}
	for i, c := range done {
		given, named := repeatedSkills(c.Text)
		check(t, []string{"one", "three", "four"}, given)
		check(t, []string{"two"}, named)
		if strings.Contains(c.Text, `"none"`) || strings.Count(c.Text, `- "one"`) != 1 {
			t.Errorf("compaction %d names a skill that there is not, or one twice:\n%s", i, c.Text)
		}
	}
	last := w.model.requests[len(w.model.requests)-1]
	if text := last.Messages[0].Text(); !strings.Contains(text, "  Do four slowly.") {
		t.Errorf("the model is not given them again:\n%s", text)
	}
	// A process that reads the log anew gives the same.
	w.Forget(session)
	w.append(pawl.CompactionAsked{})
	if _, _, err := w.Begin(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	done = w.compactions()
	given, named := repeatedSkills(done[len(done)-1].Text)
	check(t, []string{"one", "three", "four"}, given)
	check(t, []string{"two"}, named)
}

// A skill whose text stays word for word is not given twice, and one of a turn
// that was undone is not given at all.
func TestSkillsOfADigestAreTheConversations(t *testing.T) {
	t.Parallel()
	w := skilled(t, join(
		[]string{smallWindow, `{"text":"Hello."}`, loads("one"), `{"text":"Loaded."}`, loads("two")},
		talks(6, loads("three"), `{"text":"Done."}`), []string{`{"agent":"compaction","text":"Sum."}`},
	), "one", "two", "three")
	w.prompt("Hello.")
	w.mustTurn(pawl.ReasonEndTurn)
	w.prompt("Load it.")
	w.mustTurn(pawl.ReasonEndTurn)
	check(t, "", w.order(pawl.Undo{To: w.newest(pawl.TurnStarted{}), Scope: pawl.ScopeConversation}).Refused)
	w.prompt("Go on.")
	w.mustTurn(pawl.ReasonEndTurn)
	w.append(pawl.CompactionAsked{})
	if _, _, err := w.Begin(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	done := w.compactions()
	if len(done) != 1 {
		t.Fatalf("%d compactions", len(done))
	}
	given, named := repeatedSkills(done[0].Text)
	check(t, []string{"two"}, given)
	check(t, nil, named)
	var stays bool
	for _, m := range w.conversation()[1:] {
		for _, p := range m.Parts {
			r, ok := p.(pawl.ToolResult)
			stays = stays || ok && strings.Contains(r.Content, "Do three slowly.")
		}
	}
	if !stays {
		t.Error("the newest does not stay: the test shows nothing")
	}
}

// What is remembered of loads is bounded, and a failure is none.
func TestLoadsAreBounded(t *testing.T) {
	t.Parallel()
	var got contextFold
	finish := func(name, text string, failed bool) {
		got.apply(pawl.Event{Seq: got.head + 1, Body: pawl.CallFinished{Call: "c", Result: pawl.Result{
			Content: text, IsError: failed, Meta: map[string]string{tool.MetaSkill: name},
		}}})
	}
	finish("failed", "x", true)
	check(t, 0, len(got.loads))
	for range maxLoads {
		finish("old", "x", false)
	}
	finish("long", strings.Repeat("x", prompt.MaxSkillText+1), false)
	finish("new", "y", false)
	check(t, maxLoads, len(got.loads))
	check(t, []prompt.Skill{{Name: "old", Text: "x"}, {Name: "long"}, {Name: "new", Text: "y"}},
		[]prompt.Skill{got.loads[maxLoads-3].skill, got.loads[maxLoads-2].skill, got.loads[maxLoads-1].skill})
}
