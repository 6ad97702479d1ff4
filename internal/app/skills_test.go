package app

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/extension/skill"
	"github.com/pawl-dev/pawl/internal/test/gitserver"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// skillEnv is a user in a trusted project, with a server of repositories.
type skillEnv struct {
	*testing.T
	server        *gitserver.Server
	home, project string
	notices       []string
}

func newSkillEnv(t *testing.T) *skillEnv {
	t.Helper()
	s := &skillEnv{T: t, server: gitserver.Start(t)}
	for _, v := range s.server.Env() {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	for _, dir := range []*string{&s.home, &s.project} {
		var err error
		if *dir, err = filepath.EvalSymlinks(t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// call calls the skill tool. change sets what the loop would set.
func (s *skillEnv) call(in map[string]string, change func(*toolapi.Call)) pawl.Result {
	s.Helper()
	places := extension.Places{Home: s.home, Trusted: func(string) bool { return true }}
	skills := tool.Skill(func(ctx context.Context, c toolapi.Call) (*skill.Set, error) {
		return places.Look(ctx, c.Dir).Skills, nil
	},
		func(c toolapi.Call) *skill.Installer { return agentSkills(s.home, c.Dir) })
	if in["source"] != "" {
		in["source"] = "https://" + s.server.Host + "/" + in["source"]
	}
	input, err := json.Marshal(in)
	if err != nil {
		s.Fatal(err)
	}
	c := toolapi.Call{Dir: s.project, Input: input, Notice: func(text string) { s.notices = append(s.notices, text) }}
	if change != nil {
		change(&c)
	}
	r, err := skills.Run(s.Context(), c)
	if err != nil {
		return toolapi.ErrorResult(err.Error())
	}
	return r
}

// put writes a file.
func (s *skillEnv) put(path, text string) {
	s.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		s.Fatal(err)
	}
}

// installed returns the text of an installed skill; "" if it is not installed.
func (s *skillEnv) installed(name string) string {
	text, _ := os.ReadFile(filepath.Join(s.home, ".agents/skills", name, "SKILL.md"))
	return string(text)
}

func skillText(name, body string) string {
	return "---\nname: " + name + "\ndescription: About " + name + ".\n---\n" + body + "\n"
}

// TestAgentInstalls: an agent installs a skill of a trusted owner, the user sees which
// commit, and it can be loaded at once. A new version is a question again.
func TestAgentInstalls(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := newSkillEnv(t)
	one := s.server.Commit("alice/tools", map[string]string{"carve/SKILL.md": skillText("carve", "GARGANEY"), "other/SKILL.md": skillText("other", "x")})
	install := func() map[string]string { return map[string]string{"name": "carve", "source": "alice/tools"} }
	r := s.call(install(), nil)
	if r.IsError || r.Meta["commit"] != one || r.Meta[tool.MetaInstalled] != "carve" || !strings.Contains(r.Content, one) {
		t.Fatalf("%+v", r)
	}
	if len(s.notices) != 1 || !strings.Contains(s.notices[0], "carve") || !strings.Contains(s.notices[0], one) {
		t.Errorf("the user is shown %q", s.notices)
	}
	if r := s.call(map[string]string{"name": "carve"}, nil); r.IsError || !strings.Contains(r.Content, "GARGANEY") {
		t.Errorf("%+v", r)
	}
	if entries, err := os.ReadDir(s.project); err != nil || len(entries) > 0 || s.installed("other") != "" {
		t.Errorf("the project has %v, %v; other is %q", entries, err, s.installed("other"))
	}
	if r := s.call(install(), nil); r.IsError || !strings.Contains(r.Content, "already installed") {
		t.Errorf("again: %+v", r)
	}

	two := s.server.Commit("alice/tools", map[string]string{"carve/SKILL.md": skillText("carve", "WIGEON"), "carve/more.txt": "more"})
	if r := s.call(install(), nil); !r.IsError || !strings.Contains(r.Content, "pawl skills update carve") || !strings.Contains(s.installed("carve"), "GARGANEY") {
		t.Errorf("in a mode that does not ask: %+v, %s", r, s.installed("carve"))
	}
	var asked toolapi.Changes
	answer := func(err error) func(*toolapi.Call) {
		return func(c *toolapi.Call) {
			c.Confirm = func(_ context.Context, changes toolapi.Changes) error { asked = changes; return err }
		}
	}
	if r := s.call(install(), answer(errors.New("no"))); !r.IsError || !strings.Contains(s.installed("carve"), "GARGANEY") {
		t.Errorf("denied: %+v, %s", r, s.installed("carve"))
	}
	shown := asked.Summary + "\n" + strings.Join(asked.Files, "\n")
	for _, text := range []string{two, one[:12], "alice/tools", "~ SKILL.md", "+ more.txt"} {
		if !strings.Contains(shown, text) {
			t.Errorf("the question does not show %q:\n%s", text, shown)
		}
	}
	if r := s.call(install(), answer(nil)); r.IsError || !strings.Contains(s.installed("carve"), "WIGEON") {
		t.Errorf("allowed: %+v, %s", r, s.installed("carve"))
	}
}

// TestAgentAsks: skills of an owner that is not trusted are installed after the user has
// seen the commit and the files.
func TestAgentAsks(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := newSkillEnv(t)
	commit := s.server.Commit("mallory/tools", map[string]string{"carve/SKILL.md": skillText("carve", "GARGANEY"), "carve/run.sh": "x"})
	for _, no := range []error{errors.New("the user said no"), nil} {
		var shown string
		r := s.call(map[string]string{"source": "mallory/tools"}, func(c *toolapi.Call) {
			c.Review = func(_ context.Context, changes toolapi.Changes) error {
				shown = changes.Summary + "\n" + strings.Join(changes.Files, "\n")
				return no
			}
		})
		for _, text := range []string{commit, "mallory/tools", "+ SKILL.md", "+ run.sh"} {
			if !strings.Contains(shown, text) {
				t.Errorf("the question does not show %q:\n%s", text, shown)
			}
		}
		if (no == nil) != (s.installed("carve") != "") || r.IsError != (no != nil) {
			t.Errorf("%v: %+v, %q", no, r, s.installed("carve"))
		}
	}
}

// TestAgentOverwritesNothing: a skill of the project, of the user or of another repository
// stays, whoever owns the new one.
func TestAgentOverwritesNothing(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := newSkillEnv(t)
	files := map[string]string{}
	for _, name := range []string{"project", "manual", "elsewhere", "carve", "fresh"} {
		files[name+"/SKILL.md"] = skillText(name, "NEW")
	}
	s.server.Commit("alice/tools", files)
	s.server.Commit("alice/first", map[string]string{"carve/SKILL.md": skillText("carve", "OLD")})
	s.put(filepath.Join(s.project, ".agents/skills/project/SKILL.md"), skillText("project", "OLD"))
	s.put(filepath.Join(s.home, ".agents/skills/manual/SKILL.md"), skillText("manual", "OLD"))
	s.put(filepath.Join(s.home, ".claude/skills/elsewhere/SKILL.md"), skillText("elsewhere", "OLD"))
	if r := s.call(map[string]string{"source": "alice/first"}, nil); r.IsError {
		t.Fatalf("%+v", r)
	}
	allow := func(c *toolapi.Call) { c.Confirm = func(context.Context, toolapi.Changes) error { return nil } }
	r := s.call(map[string]string{"source": "alice/tools"}, allow)
	if r.IsError || r.Meta[tool.MetaInstalled] != "fresh" || strings.Count(r.Content, " was not installed: ") != 4 {
		t.Errorf("%+v", r)
	}
	for _, name := range []string{"project", "manual", "elsewhere", "carve"} {
		if r := s.call(map[string]string{"name": name}, nil); r.IsError || !strings.Contains(r.Content, "OLD") {
			t.Errorf("%s: %+v", name, r)
		}
		if r := s.call(map[string]string{"name": name, "source": "alice/tools"}, allow); !r.IsError {
			t.Errorf("%s alone: %+v", name, r)
		}
	}
}

// TestAgentInstallsNoTricks: a repository that is not what its address says, or that has
// other than small regular files, is not installed.
func TestAgentInstallsNoTricks(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := newSkillEnv(t)
	s.server.Commit("mallory/tools", map[string]string{"carve/SKILL.md": skillText("carve", "x")})
	s.server.Redirect("alice/moved", "mallory/tools")
	for name, file := range map[string]string{"link": "->/etc/passwd", "submodule": "submodule", "huge": strings.Repeat("x", skill.MaxFile+1)} {
		s.server.Commit("alice/"+name, map[string]string{"carve/SKILL.md": skillText("carve", "x"), "carve/" + name: file})
	}
	s.server.Commit("alice/root", map[string]string{"SKILL.md": "->/etc/passwd"})
	for _, name := range []string{"moved", "link", "submodule", "huge", "root", "none"} {
		if r := s.call(map[string]string{"source": "alice/" + name}, nil); !r.IsError || s.installed("carve") != "" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := s.call(map[string]string{"source": "mallory/tools"}, nil); r.IsError {
		t.Errorf("the place that it was sent to does not work: %+v", r)
	}
}
