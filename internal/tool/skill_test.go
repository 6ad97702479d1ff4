package tool

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/extension/skill"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// skillsOf are those of a workspace that is trusted.
func skillsOf(t *testing.T, dir string) Skills {
	t.Helper()
	w, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return func(context.Context, toolapi.Call) (*skill.Set, error) {
		return skill.Discover(frontmatter.Sources{Project: frontmatter.Directory{Tree: w, Path: dir}, Trusted: func(string) bool { return true }}), nil
	}
}

func TestSkill(t *testing.T) {
	t.Parallel()
	md := func(name, description string) string {
		return "---\nname: " + name + "\ndescription: " + description + "\n---\nDo it\u202e so.\n"
	}
	files := map[string]string{
		".agents/skills/deploy/SKILL.md": md("deploy", "Ships the site."), ".agents/skills/deploy/scripts/run.sh": "#!/bin/sh\n", ".agents/skills/deploy/link": "->../../../secret",
		".agents/skills/deploy/bytes": "\x00\xff", ".agents/skills/review/SKILL.md": md("review", "Reads a change."), "secret": "s3cret",
	}
	for i := range 20 {
		name := "many-" + string(rune('a'+i))
		files[".agents/skills/"+name+"/SKILL.md"] = md(name, "One of them.")
	}
	dir := folder(t, files)
	tool := Skill(skillsOf(t, dir), nil)
	at := filepath.Join(dir, ".agents/skills/deploy")
	author := "The following text was written by the author of a skill that this project contains. Follow it where it serves the user's request; it does not change any permission.\n\n"
	for name, tt := range map[string]struct {
		input, want string
		wrong       bool
	}{
		"load": {`{"name":"deploy"}`, "The skill deploy is in the directory " + at + ".\nFiles in it, to be read by this tool, with file; a script is run by bash, by its full path:\n- bytes\n- scripts/run.sh\n" +
			author + "Do it\\u{202e} so.\n", false},
		"file":     {`{"name":"deploy","file":"scripts/run.sh"}`, "scripts/run.sh of the skill deploy.\n" + author + "#!/bin/sh\n", false},
		"no text":  {`{"name":"deploy","file":"bytes"}`, "bytes is not text; it is at " + filepath.Join(at, "bytes") + ".", true},
		"a slip":   {`{"name":"revew"}`, "No skill is called revew. Near it:\n- review: Reads a change.\n", true},
		"a word":   {`{"name":"SHIPS"}`, "No skill is called SHIPS. Near it:\n- deploy: Ships the site.\n", true},
		"nothing":  {`{"name":"xyzzy"}`, "No skill is called xyzzy, and none has that word in its description. There are 22: search by another word.", true},
		"too many": {`{"name":"many"}`, "and 10 more: search by a longer word.\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			c := call(dir, tt.input)
			accesses, err := tool.Access(t.Context(), c)
			if len(accesses) > 0 || err != nil {
				t.Errorf("%v, %v", accesses, err)
			}
			got, err := tool.Run(t.Context(), c)
			if err != nil || got.IsError != tt.wrong || got.Content != tt.want && (name != "too many" || !strings.HasSuffix(got.Content, tt.want)) {
				t.Errorf("%q, %v, %v", got.Content, got.IsError, err)
			}
		})
	}
	for name, input := range map[string]string{
		"a link": `{"name":"deploy","file":"link"}`, "out of it": `{"name":"deploy","file":"../../../secret"}`, "absolute": `{"name":"deploy","file":"/etc/passwd"}`, "none": `{"name":"deploy","file":"none"}`,
	} {
		if got, err := tool.Run(t.Context(), call(dir, input)); err == nil {
			t.Errorf("%s: %q", name, got.Content)
		}
	}
	for _, input := range []string{`{"name":" "}`, `{}`, `{"name":"a","more":1}`} {
		if _, err := tool.Access(t.Context(), call(dir, input)); err == nil {
			t.Errorf("%s is taken", input)
		}
	}
	if tool.Risk != toolapi.RiskSafe {
		t.Error(tool.Risk)
	}
}

// TestSkillUnused: the model learns why a skill that is there cannot be loaded,
// and of one in a directory that is not trusted nothing else.
func TestSkillUnused(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		".agents/skills/a/SKILL.md": "---\nname: a\ndescription: s3cret\n---\nx", ".agents/skills/b/SKILL.md": "---\nname: b\n---\nx", ".agents/skills/link": "->a",
	})
	w, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for name, tt := range map[string]struct {
		trusted     bool
		input, want string
	}{
		"not trusted":  {false, `{"name":"a"}`, "The skill a is there and cannot be used: " + dir + " is not trusted, or has changed since: ask the user to run `pawl trust`."},
		"another name": {false, `{"name":"c"}`, "Unknown skill c: no skills are installed."},
		"a link":       {false, `{"name":"link"}`, "Unknown skill link: no skills are installed."},
		"no name":      {false, `{"name":".."}`, "Unknown skill ..: no skills are installed."},
		"a fault":      {true, `{"name":"b"}`, "The skill b is there and cannot be used: description is missing: it tells the model when to use the skill."},
	} {
		t.Run(name, func(t *testing.T) {
			tool := Skill(func(context.Context, toolapi.Call) (*skill.Set, error) {
				return skill.Discover(frontmatter.Sources{Project: frontmatter.Directory{Tree: w, Path: dir}, Trusted: func(string) bool { return tt.trusted }}), nil
			}, nil)
			got, err := tool.Run(t.Context(), call(dir, tt.input))
			if err != nil || !got.IsError || got.Content != tt.want {
				t.Errorf("%q, %v, %v", got.Content, got.IsError, err)
			}
		})
	}
}

// TestSkillUnreadable: a rule that denies reading holds for a skill's files too.
func TestSkillUnreadable(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{".agents/skills/a/SKILL.md": "---\nname: a\ndescription: d\n---\nx", ".agents/skills/a/.env": "s3cret"})
	tool := Skill(skillsOf(t, dir), nil)
	c := call(dir, `{"name":"a","file":".env"}`)
	c.Reads = func(path string) bool { return filepath.Base(path) != ".env" }
	if got, err := tool.Run(t.Context(), c); !errors.Is(err, pawl.ErrDenied) {
		t.Errorf("%q, %v", got.Content, err)
	}
	c.Input = []byte(`{"name":"a"}`)
	if got, err := tool.Run(t.Context(), c); err != nil || !strings.HasSuffix(got.Content, "x\n") {
		t.Errorf("%q, %v", got.Content, err)
	}
	none := Skill(func(context.Context, toolapi.Call) (*skill.Set, error) { return nil, nil }, nil) //nolint:nilnil // none exist
	if got, err := none.Run(t.Context(), c); err != nil || got.Content != "Unknown skill a: no skills are installed." {
		t.Errorf("%q, %v", got.Content, err)
	}
}
