package servicetest

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/service/project"
	"github.com/pawl-dev/pawl/internal/store"
)

// Projects returns the [pawl.Projects] of a new user who has one API key.
func Projects(t testing.TB, st store.Store) *project.Local {
	t.Helper()
	base := t.TempDir()
	for name, path := range map[string]string{"PAWL_DATA": "data", "PAWL_CACHE": "cache", "PAWL_CONFIG": "pawl.json"} {
		t.Setenv(name, filepath.Join(base, path))
	}
	guard, err := policy.Open()
	if err != nil {
		t.Fatal(err)
	}
	d := project.New(project.Config{
		Safety: guard, Store: st,
		Places: extension.Places{Trusted: guard.Instructs, Reserved: agent.Reserved()},
		Catalog: func() (*catalog.Catalog, error) {
			return &catalog.Catalog{Providers: []catalog.Provider{{ID: "p", Name: "P"}}, Models: []catalog.Model{{Ref: "p/m", Provider: "p", Name: "M", Context: 1000, Prices: catalog.Prices{Input: 5}}}}, nil
		},
		HasKey: func(catalog.Provider) bool { return true },
	})
	t.Cleanup(func() {
		d.Close()
		guard.Close()
	})
	return d
}

// place writes a file in the workspace and creates its directory.
func (b *testEnv) place(name, text string) {
	b.Helper()
	path := filepath.Join(b.dir, name)
	b.ok(os.MkdirAll(filepath.Dir(path), 0o700))
	b.ok(os.WriteFile(path, []byte(text), 0o600))
}

// testLook checks that the configuration of a project takes effect once it is trusted
// as shown, and is not used before.
func testLook(b *testEnv) {
	b.place(".pawl/commands/fix.md", "---\ndescription: Fixes.\nargument-hint: number\n---\nFix $1.")
	b.place(".pawl/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads.\n---\nRead.")
	dir, err := filepath.EvalSymlinks(b.dir)
	b.ok(err)
	f, err := b.Look(b.Context(), b.dir)
	b.ok(err)
	parts := []string{
		"command .pawl/commands/fix.md: adds a command",
		"skill .pawl/skills/pdf/SKILL.md: is part of a skill, whose scripts the model can run",
	}
	want := pawl.Project{
		Dir: dir, Top: dir, Mode: f.Mode, Modes: []string{"plan", "ask", "guard", "auto", "yolo"}, Sandbox: f.Sandbox,
		Trust: pawl.TrustInfo{State: "unknown", Hash: f.Trust.Hash, Parts: parts}, Agents: f.Agents,
		Commands: []pawl.CommandInfo{}, Skills: []pawl.SkillInfo{}, Servers: []pawl.ServerInfo{}, Notes: []string{},
	}
	check(b, want, f)
	if f.Mode == "" || f.Sandbox == "" || len(f.Agents) != 4 || f.Agents[0].Name != "build" {
		b.Errorf("mode %q, sandbox %q, agents %v", f.Mode, f.Sandbox, f.Agents)
	}

	b.code(pawl.CodeInvalid, b.Trust(b.Context(), b.dir, ""))
	b.code(pawl.CodeConflict, b.Trust(b.Context(), b.dir, "another"))
	b.place(".pawl/commands/more.md", "More.")
	b.code(pawl.CodeConflict, b.Trust(b.Context(), b.dir, f.Trust.Hash))
	b.ok(os.Remove(filepath.Join(b.dir, ".pawl/commands/more.md")))
	b.ok(b.Trust(b.Context(), b.dir, f.Trust.Hash))
	want.Trust.State = "trusted"
	want.Commands = []pawl.CommandInfo{{Name: "fix", Description: "Fixes.", Arguments: "number", Origin: "project"}}
	want.Skills = []pawl.SkillInfo{{Name: "pdf", Description: "Reads.", Origin: "project"}}
	f, err = b.Look(b.Context(), b.dir)
	b.ok(err)
	check(b, want, f)
}

// testProjectsRefuse checks that the errors for a path that is not a directory and
// for one that does not exist differ.
func testProjectsRefuse(b *testEnv) {
	b.place("file", "x")
	for dir, want := range map[string]pawl.Code{"sub": pawl.CodeInvalid, b.dir + "/file": pawl.CodeInvalid, b.dir + "/gone": pawl.CodeNotFound} {
		_, err := b.Look(b.Context(), dir)
		b.code(want, err)
		b.code(want, b.Trust(b.Context(), dir, "x"))
		_, err = b.Files(b.Context(), dir, "x", 1)
		b.code(want, err)
		_, _, err = b.Expand(b.Context(), dir, prompt("x", "", pawl.DeliverNow))
		b.code(want, err)
	}
}

func testModels(b *testEnv) {
	list, err := b.Models(b.Context())
	b.ok(err)
	check(b, []pawl.ModelInfo{{Ref: "p/m", Name: "M", Provider: "P", Context: 1000, Input: 5}}, list)
}

func testFiles(b *testEnv) {
	for _, name := range []string{"main.go", "sub/domain.go", ".gitignore", "out/main.o", "with blank & more.go", "bad\x1b[2J.go"} {
		b.place(name, "out/\n")
	}
	for query, want := range map[string][]string{
		"main":     {"main.go", "sub/domain.go"},
		"sd":       {"sub/domain.go"},
		"blank & ": {"with blank & more.go"},
		"out/":     nil,
		"zz":       nil,
	} {
		got, err := b.Files(b.Context(), b.dir, query, 0)
		b.ok(err)
		check(b, want, got, cmpopts.EquateEmpty())
	}
	got, err := b.Files(b.Context(), b.dir, "", 3)
	b.ok(err)
	check(b, 3, len(got))
}

// testExpand checks that commands and mentions of a prompt are expanded and
// everything else is unchanged.
func testExpand(b *testEnv) {
	b.place("a.txt", "text")
	b.place(".env", "KEY=s3cret")
	b.place(".pawl/commands/fix.md", "---\nagent: plan\n---\nFix $1 as in @a.txt and @.env.")
	p := prompt("see @a.txt and @.env", "p/m", pawl.DeliverSteer)
	p.MaxSteps, p.Absent = 3, true
	attached := pawl.File{Name: "x.png", MediaType: "image/png", Data: []byte{1, 2}}
	p.Parts = append(p.Parts, attached)
	got, notes, err := b.Expand(b.Context(), b.dir, p)
	b.ok(err)
	file := pawl.File{Name: "a.txt", MediaType: "text/plain", Data: []byte("text")}
	want := p
	want.Parts = pawl.Parts{p.Parts[0], attached, file}
	check(b, want, got)
	check(b, []string{"@.env was not attached: reading it requires permission"}, notes)

	_, _, err = b.Expand(b.Context(), b.dir, prompt("/fix 7", "", pawl.DeliverNow))
	b.code(pawl.CodeInvalid, err)
	f, err := b.Look(b.Context(), b.dir)
	b.ok(err)
	b.ok(b.Trust(b.Context(), b.dir, f.Trust.Hash))
	got, notes, err = b.Expand(b.Context(), b.dir, prompt("/fix 7", "", pawl.DeliverNow))
	b.ok(err)
	want = prompt("Fix 7 as in @a.txt and @.env.\n\nThe file a.txt:\n```\ntext\n```", "", pawl.DeliverNow)
	want.Agent = "plan"
	check(b, want, got)
	check(b, 1, len(notes))
}

// testOutput checks that a full output can be read by its session and ID.
func testOutput(b *testEnv) {
	id, other := b.create(), b.create()
	text := strings.Repeat("a line\n", 10_000)
	blob, err := b.store.PutBlob(b.Context(), id, strings.NewReader(text))
	b.ok(err)
	out, err := b.Output(b.Context(), id, blob.ID)
	if err != nil {
		b.Fatal(err)
	}
	got, err := io.ReadAll(out)
	b.ok(err)
	b.ok(out.Close())
	if string(got) != text {
		b.Errorf("%d bytes came of %d", len(got), len(text))
	}
	for _, id := range []pawl.SessionID{other, "01JD0000000000000000000000"} {
		_, err := b.Output(b.Context(), id, blob.ID)
		b.code(pawl.CodeNotFound, err)
	}
	_, err = b.Output(b.Context(), id, strings.Repeat("0", len(blob.ID)))
	b.code(pawl.CodeNotFound, err)
}
