package extension_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/extension"
)

// files writes files below a directory and returns its real path.
func files(t *testing.T, dir string, all map[string]string) string {
	t.Helper()
	for name, text := range all {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

func repository(t *testing.T, all map[string]string) string {
	t.Helper()
	dir := files(t, t.TempDir(), all)
	for _, at := range []string{".", "sub/repo"} {
		if out, err := exec.CommandContext(t.Context(), "git", "-C", filepath.Join(dir, at), "init", "-q", "-b", "work").CombinedOutput(); err != nil {
			t.Fatalf("git init: %v: %s", err, out)
		}
	}
	return dir
}

var project = map[string]string{
	"AGENTS.md":                    "top rules",
	"sub/AGENTS.md":                "sub rules",
	"sub/deep/CLAUDE.md":           "deep rules",
	"sub/node_modules/x/AGENTS.md": "strange rules",
	"sub/repo/AGENTS.md":           "rules of another repository",
	".claude/agents/reviewer.md":   "---\ndescription: Reviews.\n---\nYou review.",
	".claude/agents/build.md":      "You are another build.",
	".opencode/agent/helper.md":    "You help.",
	".claude/commands/fix.md":      "Fix $1.",
	".claude/skills/pdf/SKILL.md":  "---\nname: pdf\ndescription: Reads PDFs.\n---\nRead.",
	"sub/.pawl/agents/inner.md":    "You are inside.",
}

// summary names all that was found.
func summary(f *extension.Found) []string {
	var names []string
	for _, a := range f.Agents.Agents {
		names = append(names, "agent "+a.Name)
	}
	for _, c := range f.Commands.Commands {
		names = append(names, "command "+c.Name)
	}
	for _, s := range f.Skills.Skills {
		names = append(names, "skill "+s.Name)
	}
	for _, r := range f.Rules.Files {
		names = append(names, "rules "+r.Text)
	}
	return names
}

func TestLook(t *testing.T) {
	t.Parallel()
	dir := repository(t, project)
	home := files(t, t.TempDir(), map[string]string{".claude/AGENTS.md": "my rules", ".pawl/agents/explore.md": "You are mine."})
	user := []string{"rules my rules"}
	top := []string{"agent helper", "agent reviewer", "command fix", "skill pdf", "rules my rules", "rules top rules"}
	for name, test := range map[string]struct {
		at      string
		trusted []string
		want    []string
	}{
		"nothing of a stranger":      {".", nil, user},
		"all of a trusted one":       {".", []string{"."}, top},
		"rules below a trusted one":  {"sub", []string{"."}, append(top[:len(top):len(top)], "rules sub rules")},
		"not above a trusted one":    {"sub", []string{"sub"}, []string{"agent inner", "rules my rules", "rules sub rules"}},
		"another repository's":       {"sub/repo", []string{"sub"}, user},
		"a folder that is not there": {"gone", nil, user},
	} {
		t.Run(name, func(t *testing.T) {
			p := extension.Places{Home: home, Reserved: []string{"build", "explore"}, Trusted: func(d string) bool {
				for _, at := range test.trusted {
					if d == filepath.Join(dir, at) {
						return true
					}
				}
				return false
			}}
			found := p.Look(t.Context(), filepath.Join(dir, test.at))
			if diff := cmp.Diff(test.want, summary(found)); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
		})
	}
}

// Whose name an agent may not have is reported.
func TestReserved(t *testing.T) {
	t.Parallel()
	dir := repository(t, project)
	home := files(t, t.TempDir(), map[string]string{".pawl/agents/explore.md": "You are mine."})
	p := extension.Places{Home: home, Reserved: []string{"build", "explore"}, Trusted: func(d string) bool { return d == dir }}
	var got []string
	for _, f := range p.Look(t.Context(), dir).Faults() {
		if strings.Contains(f.Text, "rename it") {
			got = append(got, filepath.Base(f.File))
		}
	}
	if diff := cmp.Diff([]string{"build.md", "explore.md"}, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

func TestRulesFor(t *testing.T) {
	t.Parallel()
	dir := repository(t, project)
	for name, test := range map[string]struct {
		trusted bool
		file    string
		given   string
		want    []string
	}{
		"from above to below":    {true, "sub/deep/a.go", "", []string{"sub rules", "deep rules"}},
		"what was not given yet": {true, "sub/deep/a.go", "sub/AGENTS.md", []string{"deep rules"}},
		"nothing of others":      {true, "sub/node_modules/x/a.js", "sub/AGENTS.md", nil},
		"no other repository's":  {true, "sub/repo/a.go", "sub/AGENTS.md", nil},
		"nothing of a stranger":  {false, "sub/deep/a.go", "", nil},
		"nothing of its own":     {true, "a.go", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := extension.Places{Trusted: func(d string) bool { return test.trusted && d == dir }}
			var got []string
			for _, f := range p.Look(t.Context(), dir).RulesFor(filepath.Join(dir, test.file), map[string]bool{filepath.Join(dir, test.given): true}).Files {
				got = append(got, f.Text)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("rules (-want +got):\n%s", diff)
			}
		})
	}
}

// What was found can be used when everything else is closed.
func TestWhere(t *testing.T) {
	t.Parallel()
	dir := repository(t, project)
	found := extension.Places{Trusted: func(string) bool { return true }}.Look(t.Context(), filepath.Join(dir, "sub"))
	if !found.Repository || found.Branch != "work" || found.Top != dir || found.Dir != filepath.Join(dir, "sub") {
		t.Errorf("it is in %q, %q, branch %q", found.Top, found.Dir, found.Branch)
	}
	if k, err := found.Skills.Load("pdf"); err != nil || k.Body != "Read." {
		t.Errorf("the skill says %q, %v", k.Body, err)
	}
	alone := extension.Places{}.Look(t.Context(), t.TempDir())
	if alone.Repository || alone.Branch != "" {
		t.Errorf("a folder in no repository is in one: %+v", alone)
	}
}
