package agent

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extend"
	"github.com/pawl-dev/pawl/internal/skill"
	"github.com/pawl-dev/pawl/internal/tool"
)

// bring lets sessions have what their folder brings.
func (w *world) bring(trusted bool, files map[string]string) {
	w.t.Helper()
	for name, text := range files {
		path := filepath.Join(w.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	w.Extensions = w.found(trusted)
}

func (w *world) found(trusted bool) func(context.Context, string, pawl.Settings) (*extend.Found, error) {
	return func(ctx context.Context, dir string, s pawl.Settings) (*extend.Found, error) {
		p := extend.Places{Reserved: Reserved(), Trusted: func(string) bool { return trusted || s.Trusted }}
		return p.Look(ctx, dir), nil
	}
}

var readTwice = []string{
	`{"calls":[{"name":"read","input":{"path":"a.txt"}}]}`,
	`{"calls":[{"name":"read","input":{"path":"a.txt"}}]}`,
	`{"text":"done"}`,
}

// What a model is told before the conversation stays the same bytes within a
// turn, whatever becomes of the files, and is read anew for the next.
func TestSystemIsStableWithinATurn(t *testing.T) {
	w := newWorld(t, setup{script: slices.Concat(readTwice, []string{`{"text":"again"}`})})
	w.bring(true, map[string]string{"AGENTS.md": "Use tabs.", "a.txt": "a"})
	w.model.begins = func(pawl.Request) {
		if err := os.WriteFile(filepath.Join(w.dir, "AGENTS.md"), []byte("Use spaces."), 0o600); err != nil {
			t.Error(err)
		}
	}
	w.prompt("go")
	w.mustTurn(pawl.ReasonEndTurn)
	w.prompt("go on")
	w.mustTurn(pawl.ReasonEndTurn)
	if len(w.model.requests) != 4 {
		t.Fatalf("%d requests", len(w.model.requests))
	}
	for i, r := range w.model.requests[:3] {
		if !strings.Contains(r.System, "Use tabs.") || r.System != w.model.requests[0].System {
			t.Errorf("request %d is told something else:\n%s", i+1, r.System)
		}
	}
	if next := w.model.requests[3].System; !strings.Contains(next, "Use spaces.") || !strings.Contains(next, "- Date: 2025-01-02\n") {
		t.Errorf("the next turn is told:\n%s", next)
	}
}

// A process that goes on with a turn asks the same, if the files are the same.
func TestSystemAfterResume(t *testing.T) {
	w := newWorld(t, setup{script: readTwice})
	w.bring(true, map[string]string{"AGENTS.md": "Use tabs.", "a.txt": "a"})
	ctx, stop := context.WithCancelCause(t.Context())
	w.model.begins = func(r pawl.Request) {
		if r.Replies == 1 {
			stop(errLost) // as if the process ended
		}
	}
	w.prompt("go")
	if _, err := w.turn(ctx); err == nil {
		t.Fatal("the turn was not interrupted")
	}
	w.model.begins = nil
	w.Forget(session)
	w.mustTurn(pawl.ReasonEndTurn)
	for i, r := range w.model.requests {
		if r.System != w.model.requests[0].System || !strings.Contains(r.System, "Use tabs.") {
			t.Errorf("request %d is told something else:\n%s", i+1, r.System)
		}
	}
}

func TestNothingOfAStranger(t *testing.T) {
	w := newWorld(t, setup{script: readTwice[2:]})
	w.bring(false, map[string]string{"AGENTS.md": "Use tabs.", ".pawl/skills/pdf/SKILL.md": "---\nname: pdf\ndescription: Reads PDFs.\n---\nRead."})
	w.prompt("go")
	w.mustTurn(pawl.ReasonEndTurn)
	if s := w.model.requests[0].System; strings.Contains(s, "Use tabs.") || strings.Contains(s, "PDFs") {
		t.Errorf("the model is told what a stranger says:\n%s", s)
	}
}

// skillTool gives sessions the tool skill.
func (w *world) skillTool() {
	w.t.Helper()
	more, err := w.Tools.With(tool.Skill(func(ctx context.Context, c pawl.Call) (*skill.Set, error) {
		f, err := w.Extensions(ctx, c.Dir, pawl.Settings{})
		return f.Skills, err
	}))
	if err != nil {
		w.t.Fatal(err)
	}
	w.Tools = more
}

// A skill that comes in the middle of a turn can be loaded in it, by its name, and
// what the model is told before the conversation stays the same.
func TestSkillOfThisTurn(t *testing.T) {
	w := newWorld(t, setup{script: []string{
		`{"calls":[{"name":"skill","input":{"name":"pdf"}}]}`,
		`{"calls":[{"name":"write","input":{"path":".agents/skills/pdf/SKILL.md","content":"---\nname: pdf\ndescription: Reads PDFs.\n---\nRead slowly."}}]}`,
		`{"calls":[{"name":"skill","input":{"name":"pdf"}}]}`, `{"text":"done"}`, `{"text":"the next turn"}`,
	}})
	w.bring(true, nil)
	w.skillTool()
	w.prompt("go")
	w.mustTurn(pawl.ReasonEndTurn)
	w.prompt("go on")
	w.mustTurn(pawl.ReasonEndTurn)
	results := w.results()
	if got := results[0].Result.Content; got != "No skill is called pdf: there are none." {
		t.Errorf("at first: %s", got)
	}
	if got := results[2].Result.Content; !strings.Contains(got, "Read slowly.") {
		t.Errorf("after it came: %s", got)
	}
	for i, r := range w.model.requests[:4] {
		if r.System != w.model.requests[0].System || strings.Contains(r.System, "Reads PDFs") {
			t.Errorf("request %d is told something else:\n%s", i+1, r.System)
		}
	}
	if next := w.model.requests[4].System; !strings.Contains(next, "- pdf: Reads PDFs.") {
		t.Errorf("the next turn is told:\n%s", next)
	}
}

// The tool skill is there where skills are looked for, and the model is told of
// those that there are, and how to get more.
func TestSkillTool(t *testing.T) {
	text := "---\nname: pdf\ndescription: Reads PDFs.\n---\nRead slowly."
	for name, files := range map[string]map[string]string{"with": {".pawl/skills/pdf/SKILL.md": text}, "without": {"a.txt": "a"}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, setup{script: []string{`{"calls":[{"name":"skill","input":{"name":"pdf"}}]}`, `{"text":"done"}`}})
			w.bring(true, files)
			w.skillTool()
			w.prompt("go")
			w.mustTurn(pawl.ReasonEndTurn)
			offered := slices.ContainsFunc(w.model.requests[0].Tools, func(s pawl.ToolSpec) bool { return s.Name == "skill" })
			told := strings.Contains(w.model.requests[0].System, "- pdf: Reads PDFs.")
			loaded := strings.Contains(w.results()[0].Result.Content, "Read slowly.")
			if want := name == "with"; !offered || told != want || loaded != want {
				t.Errorf("offered %t, told %t, loaded %t", offered, told, loaded)
			}
			if s := w.model.requests[0].System; !strings.Contains(s, "pawl skills add") {
				t.Errorf("it does not know how to get more:\n%s", s)
			}
		})
	}
}

// An agent from a file has the tools, the mode and the rules that it says, and
// not one more than its session.
func TestDefinedAgent(t *testing.T) {
	write := `{"calls":[{"name":"write","input":{"path":"new.txt","content":"x"}}]}`
	for name, test := range map[string]struct {
		file    string
		trusted bool
		want    string // in the result; "" means that it is written
	}{
		"all tools":         {"You help.", true, ""},
		"some tools":        {"---\ntools: read, grep\n---\nYou help.", true, `there is no tool "write"; there are: read, grep`},
		"plan only":         {"---\npermissionMode: plan\n---\nYou help.", true, "not permitted"},
		"a rule":            {"---\npermission: {edit: deny}\n---\nYou help.", true, "not permitted"},
		"a rule for all":    {"---\npermission: {\"*\": deny}\n---\nYou help.", true, "not permitted"},
		"an odd pattern":    {"---\npermission: {write: {\"[\": deny}}\n---\nYou help.", true, "not permitted"},
		"a wish for rights": {"---\npermissionMode: bypassPermissions\n---\nYou help.", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, setup{script: []string{write, `{"text":"done"}`}})
			w.bring(test.trusted, map[string]string{".pawl/agents/helper.md": test.file})
			w.prompt("go", func(p *pawl.Prompted) { p.Agent = "helper" })
			w.mustTurn(pawl.ReasonEndTurn)
			got := w.results()[0].Result
			_, err := os.Stat(filepath.Join(w.dir, "new.txt"))
			if written := err == nil; written != (test.want == "") || !strings.Contains(got.Content, test.want) {
				t.Errorf("written %t: %s", written, got.Content)
			}
			if s := w.model.requests[0].System; !strings.HasPrefix(s, "You help.\n") {
				t.Errorf("it is told:\n%s", s)
			}
		})
	}
}

// An agent that nobody has, or that an untrusted folder brings, does not work.
func TestUndefinedAgent(t *testing.T) {
	w := newWorld(t, setup{script: readTwice[2:]})
	w.bring(false, map[string]string{".pawl/agents/helper.md": "You help."})
	w.prompt("go", func(p *pawl.Prompted) { p.Agent = "helper" })
	if stop := w.mustTurn(pawl.ReasonError); !strings.Contains(stop.Message, `no agent is called "helper"; there are: build, explore, general`) {
		t.Errorf("it ends with %q", stop.Message)
	}
}

// children notes what children are given.
type children struct {
	crowd
	sent []pawl.Settings
}

func (c *children) Send(_ context.Context, _ pawl.SessionID, p pawl.Prompt) (pawl.Seq, error) {
	c.sent = append(c.sent, p.Settings)
	return 2, nil
}

// What holds for an agent holds for whom it gives tasks to.
func TestChildrenOfADefinedAgent(t *testing.T) {
	task := []string{`{"calls":[{"name":"task","input":{"agent":"helper","prompt":"x","description":"x","background":true}}]}`, `{"text":"done"}`}
	for name, test := range map[string]struct{ file, mode, says string }{
		"as its session": {"You lead.", "auto", ""},
		"plan only":      {"---\npermissionMode: plan\n---\nYou lead.", "plan", ""},
		"with rules":     {"---\npermission: {edit: deny}\n---\nYou lead.", "", `there is no tool "task"`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, setup{script: task})
			w.bring(true, map[string]string{".pawl/agents/lead.md": test.file, ".pawl/agents/helper.md": "---\ntools: read\n---\nYou help."})
			svc := &children{}
			w.Service = svc
			w.prompt("go", func(p *pawl.Prompted) { p.Agent, p.Mode = "lead", "auto" })
			_, _ = w.turn(t.Context()) // the service ends it once the child works
			if test.mode == "" {
				if got := w.results()[0].Result.Content; len(svc.sent) != 0 || !strings.Contains(got, test.says) {
					t.Errorf("it may give tasks: %s", got)
				}
				return
			}
			if len(svc.sent) != 1 || svc.sent[0].Mode != test.mode || svc.sent[0].Agent != "helper" {
				t.Errorf("the child is given %+v, want the mode %s", svc.sent, test.mode)
			}
		})
	}
}
