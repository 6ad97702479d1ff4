package skill_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension/skill"
)

func TestParseSource(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("a1", 20)
	for text, want := range map[string]skill.Source{
		"owner/repo":                         {Address: "https://github.com/owner/repo"},
		"owner/repo@v1.2":                    {Address: "https://github.com/owner/repo", Ref: "v1.2"},
		"owner/repo@" + id + "#skills/a":     {Address: "https://github.com/owner/repo", Ref: id, Path: "skills/a"},
		"owner/repo@feature/x":               {Address: "https://github.com/owner/repo", Ref: "feature/x"},
		"https://example.com/a/b.git@main#c": {Address: "https://example.com/a/b.git", Ref: "main", Path: "c"},
		"file:///tmp/repo@main":              {Address: "file:///tmp/repo", Ref: "main", Local: true},
	} {
		got, err := skill.ParseSource(text, true)
		if diff := cmp.Diff(want, got); diff != "" || err != nil || got.String() != text {
			t.Errorf("%s: %s, %v, %s", text, diff, err, got)
		}
	}
	for _, text := range []string{
		"", "repo", "a/b/c", "-x/y", "owner/..", "../x", "owner/repo@", "owner/repo#", "owner/repo#../x", "owner/repo#/x", "owner/repo#a\\b", "owner/repo#.git", "http://x/y", "git@github.com:a/b", "ssh://x/y",
		"ext::sh", "owner/repo x", "owner/repo\n", "/tmp/x", "owner/re\u202epo", "owner/" + strings.Repeat("x", 3000),
	} {
		if got, err := skill.ParseSource(text, true); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
	if _, err := skill.ParseSource("file:///tmp/repo", false); !errors.Is(err, pawl.ErrDenied) {
		t.Error(err)
	}
}

// apply makes a plan real, and returns what it said.
func apply(t *testing.T, p *skill.Plan, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Apply(), p.Close()); err != nil {
		t.Fatal(err)
	}
	return p.Show()
}

func states(t *testing.T, in *skill.Installer) string {
	t.Helper()
	list, err := in.Verify()
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, s := range list {
		words = append(words, s.Name+" "+string(s.State))
	}
	return strings.Join(words, ", ")
}

// TestInstall: the life of a skill: planned, installed, loaded, updated, removed.
func TestInstall(t *testing.T) { //nolint:paralleltest // it sets environment variables
	r := newRepository(t, map[string]string{
		"skills/a/SKILL.md": md("a", "does a", "Body."), "skills/a/run.sh": "#!/bin/sh\n", "skills/a/old.md": "x",
		"skills/b/SKILL.md": md("b", "does b", "x"), "README.md": "x",
	})
	first := r.git("rev-parse", "HEAD")
	dir := real(t)
	in := installer(t, dir)
	p, err := in.Add(t.Context(), r.source())
	if err != nil {
		t.Fatal(err)
	}
	if got := user(t, dir); len(got.Skills) > 0 || len(got.Faults) > 0 {
		t.Errorf("it is there before it is applied: %s", got.Show())
	}
	shown := strings.NewReplacer(r.source(), "SOURCE", first[:12], "FIRST").Replace(apply(t, p, nil))
	golden(t, "add.txt", shown)
	set := user(t, dir)
	loaded, err := set.Load("a")
	if err != nil || loaded.Body != "Body." || loaded.Commit != first || loaded.Origin.Layer != "user" {
		t.Errorf("%+v, %v", loaded, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "skills/a/run.sh")); err != nil || info.Mode().Perm() != 0o755 {
		t.Error(info.Mode(), err)
	}
	lock, err := os.ReadFile(filepath.Join(in.Dir, skill.LockFile))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "skills.lock", strings.NewReplacer(r.source(), "SOURCE", first, "FIRST").Replace(string(lock)))
	if got := apply(t, must(in.Update(t.Context())), nil); strings.Count(got, "keep") != 2 {
		t.Error(got)
	}
	put(t, r.dir, map[string]string{"skills/a/new.md": "new"})
	r.git("rm", "-q", "skills/a/old.md", "skills/b/SKILL.md")
	second := r.commit(map[string]string{"skills/a/SKILL.md": md("a", "does a better", "Other.")})
	p, err = in.Update(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if loaded, err := user(t, dir).Load("a"); err != nil || loaded.Body != "Body." {
		t.Errorf("it has changed before that was confirmed: %+v, %v", loaded, err)
	}
	golden(t, "update.txt", strings.NewReplacer(r.source(), "SOURCE", first[:12], "FIRST", second[:12], "SECOND").Replace(apply(t, p, nil)))
	if loaded, err := user(t, dir).Load("a"); err != nil || loaded.Body != "Other." || loaded.Commit != second {
		t.Errorf("%+v, %v", loaded, err)
	}
	if got := states(t, in); got != "a whole, b whole" {
		t.Error(got)
	}
	if err := errors.Join(in.Remove("a"), in.Remove("b")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(in.Dir)
	if len(entries) != 1 || entries[0].Name() != skill.LockFile || err != nil {
		t.Errorf("%v, %v", entries, err)
	}
	if err := in.Remove("a"); !errors.Is(err, pawl.ErrNotFound) {
		t.Error(err)
	}
}

func must(p *skill.Plan, err error) *skill.Plan {
	if err != nil {
		panic(err)
	}
	return p
}

// TestAddSome: one skill of many, a commit, a directory; a skill that is a whole
// repository; what does not exist.
func TestAddSome(t *testing.T) { //nolint:paralleltest // it sets environment variables
	r := newRepository(t, map[string]string{
		"skills/a/SKILL.md": md("a", "d", "first"), "skills/b/SKILL.md": md("b", "d", "x"), "more/c/SKILL.md": md("c", "d", "x"), "node_modules/x/SKILL.md": md("x", "d", "x"),
	})
	first := r.git("rev-parse", "HEAD")
	r.commit(map[string]string{"skills/a/SKILL.md": md("a", "d", "second")})
	whole := newRepository(t, map[string]string{"SKILL.md": md("whole", "d", "x"), "ref/x.md": "x"})
	dir := real(t)
	in := installer(t, dir)
	apply(t, must(in.Add(t.Context(), r.source()+"@"+first, "a")), nil)
	apply(t, must(in.Add(t.Context(), r.source()+"#more")), nil)
	apply(t, must(in.Add(t.Context(), whole.source())), nil)
	set := user(t, dir)
	if diff := cmp.Diff([]string{"a", "c", "whole"}, namesOf(set)); diff != "" {
		t.Error(diff)
	}
	if got, err := set.Load("a"); got.Body != "first" || err != nil {
		t.Error(got, err)
	}
	if got := apply(t, must(in.Update(t.Context(), "a")), nil); !strings.HasPrefix(got, "keep  a ") { // it is pinned
		t.Error(got)
	}
	if got := apply(t, must(in.Add(t.Context(), r.source(), "a")), nil); !strings.Contains(got, "replaces the one from "+r.source()+"@"+first) {
		t.Error(got)
	}
	for _, test := range []struct {
		source string
		only   []string
	}{{r.source(), []string{"none"}}, {r.source() + "#none", nil}, {r.source() + "@none", nil}, {"no source", nil}} {
		if p, err := in.Add(t.Context(), test.source, test.only...); err == nil {
			t.Errorf("%v: %s", test, p.Show())
		}
	}
	if _, err := in.Add(t.Context(), r.source()+"@"+first[:9]); err == nil || !strings.Contains(err.Error(), "use its full id") {
		t.Error(err)
	}
	if _, err := in.Update(t.Context(), "none"); !errors.Is(err, pawl.ErrNotFound) {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(in.Dir, ".staging-*")); left != nil || err != nil {
		t.Errorf("%v is left, %v", left, err)
	}
}

// tree writes a tree of git that no git would make, with names as they are.
func (r repository) tree(entries ...[2]string) {
	r.t.Helper()
	var raw bytes.Buffer
	for _, e := range entries { // mode and name; content is a skill's
		text := "/etc/passwd"
		if strings.HasPrefix(e[0], "100") {
			text = md("evil", "d", "x")
		}
		id := strings.Repeat("1", 40)
		if e[0] != "160000" {
			id = r.object("blob", []byte(text))
		}
		bin, err := hex.DecodeString(id)
		if err != nil {
			r.t.Fatal(err)
		}
		fmt.Fprintf(&raw, "%s %s\x00%s", e[0], e[1], bin)
	}
	r.git("update-ref", "refs/heads/main", r.git("commit-tree", "-m", "x", r.object("tree", raw.Bytes())))
}

func (r repository) object(kind string, data []byte) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", "hash-object", "-w", "--literally", "-t", kind, "--stdin") //nolint:gosec // the tests' own words
	cmd.Dir, cmd.Stdin = r.dir, bytes.NewReader(data)
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// hostile are skills that must not be installed. Row C17.
var hostile = []struct {
	name string
	tree [][2]string
	want string
}{
	{"a link", [][2]string{{"100644", "SKILL.md"}, {"120000", "link"}}, "only contain regular files"},
	{"SKILL.md is a link", [][2]string{{"120000", "SKILL.md"}}, "only contain regular files"},
	{"a submodule", [][2]string{{"100644", "SKILL.md"}, {"160000", "sub"}}, "only contain regular files"},
	{"dots", [][2]string{{"100644", "../../out"}, {"100644", "SKILL.md"}}, "cannot be stored safely"},
	{"dots within", [][2]string{{"100644", "SKILL.md"}, {"100644", "a/../../x"}}, "cannot be stored safely"},
	{"absolute", [][2]string{{"100644", "/tmp/evil"}, {"100644", "SKILL.md"}}, "cannot be stored safely"},
	{"backslash", [][2]string{{"100644", "SKILL.md"}, {"100644", "a\\..\\b"}}, "cannot be stored safely"},
	{"a drive", [][2]string{{"100644", "C:evil"}, {"100644", "SKILL.md"}}, "cannot be stored safely"},
	{"git's folder", [][2]string{{"100644", ".GIT/config"}, {"100644", "SKILL.md"}}, "cannot be stored safely"},
	{"a line end", [][2]string{{"100644", "SKILL.md"}, {"100644", "a\nb"}}, "cannot be stored safely"},
	{"two manifests", [][2]string{{"100644", "SKILL.md"}, {"100644", "skill.md"}}, "same name on some systems"},
	{"the same name twice", [][2]string{{"100644", "SKILL.md"}, {"100644", "SKILL.md"}}, "same name on some systems"},
	{"two spellings", [][2]string{{"100644", "SKILL.md"}, {"100644", "a\u0308"}, {"100644", "Ä"}}, "same name on some systems"},
	{"folders alike", [][2]string{{"100644", "A/x"}, {"100644", "SKILL.md"}, {"100644", "a/y"}}, "same name on some systems"},
	{"a file like a folder", [][2]string{{"100644", "A"}, {"100644", "SKILL.md"}, {"100644", "a/y"}}, "same name on some systems"},
}

func TestHostileRepository(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for _, tt := range hostile {
		t.Run(tt.name, func(t *testing.T) {
			r := newRepository(t, nil)
			r.tree(tt.tree...)
			dir := real(t)
			in := installer(t, dir)
			p, err := in.Add(t.Context(), r.source())
			if err != nil {
				t.Fatal(err)
			}
			if got := apply(t, p, nil); !strings.Contains(got, "refuse") || !strings.Contains(got, tt.want) {
				t.Error(got)
			}
			if got := user(t, dir); len(got.Skills) > 0 || states(t, in) != "" {
				t.Errorf("installed: %s", got.Show())
			}
			if left, err := os.ReadDir(in.Dir); len(left) > 0 || err != nil {
				t.Errorf("%v is left, %v", left, err)
			}
		})
	}
}

// TestRefused: skills of plain files that are not to be installed either.
func TestRefused(t *testing.T) { //nolint:paralleltest // it sets environment variables
	many := map[string]string{"SKILL.md": md("a", "d", "x")}
	for i := range skill.MaxFiles {
		many[fmt.Sprintf("f%d", i)] = ""
	}
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a bad name":     {map[string]string{"SKILL.md": md("Bad_Name", "d", "x")}, "lowercase letters"},
		"a path as name": {map[string]string{"SKILL.md": md("../../x", "d", "x")}, "invalid name"},
		"no description": {map[string]string{"SKILL.md": "---\nname: a\n---\n"}, "description is missing"},
		"a bomb":         {map[string]string{"SKILL.md": "---\nname: &a a\ndescription: *a\n---\n"}, "aliases"},
		"too many":       {many, "limited to 500 files"},
		"too large":      {map[string]string{"SKILL.md": md("a", "d", "x"), "big": strings.Repeat("x", skill.MaxFile+1)}, "exceeds that"},
		"too deep":       {map[string]string{"SKILL.md": md("a", "d", "x"), "1/2/3/4/5/6/7/8/9/x": "x"}, "exceeds that"},
		"the same twice": {map[string]string{"x/a/SKILL.md": md("a", "d", "x"), "y/a/SKILL.md": md("a", "d", "other")}, "another skill of the source has the same name"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := real(t)
			in := installer(t, dir)
			p, err := in.Add(t.Context(), newRepository(t, tt.files).source())
			if got := apply(t, p, err); !strings.Contains(got, "refuse") || !strings.Contains(got, tt.want) {
				t.Error(got)
			}
		})
	}
}

// TestChanged: a skill that is not what was installed is not loaded, by whatever
// it differs, at the start or between.
func TestChanged(t *testing.T) { //nolint:paralleltest // it sets environment variables
	r := newRepository(t, map[string]string{"a/SKILL.md": md("a", "d", "x"), "a/run.sh": "#!/bin/sh\n", "a/ref.md": "x"})
	for name, change := range map[string]func(dir string) error{
		"the text": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(md("a", "d", "evil")), 0o644)
		},
		"a script":    func(dir string) error { return os.WriteFile(filepath.Join(dir, "run.sh"), []byte("evil"), 0o755) },
		"one more":    func(dir string) error { return os.WriteFile(filepath.Join(dir, "new"), nil, 0o644) },
		"one less":    func(dir string) error { return os.Remove(filepath.Join(dir, "ref.md")) },
		"another one": func(dir string) error { return os.Rename(filepath.Join(dir, "ref.md"), filepath.Join(dir, "fer.md")) },
		"a program":   func(dir string) error { return os.Chmod(filepath.Join(dir, "ref.md"), 0o755) },
		"a link":      func(dir string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, "link")) },
		"a linked file": func(dir string) error {
			return errors.Join(os.Rename(filepath.Join(dir, "ref.md"), filepath.Join(dir, "../ref.md")), os.Symlink("../ref.md", filepath.Join(dir, "ref.md")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := real(t)
			in := installer(t, dir)
			apply(t, must(in.Add(t.Context(), r.source())), nil)
			before := user(t, dir)
			if err := change(filepath.Join(in.Dir, "a")); err != nil {
				t.Fatal(err)
			}
			if _, err := before.Load("a"); !errors.Is(err, skill.ErrChanged) {
				t.Errorf("load: %v", err)
			}
			if _, err := before.ReadFile("a", "run.sh"); !errors.Is(err, skill.ErrChanged) {
				t.Errorf("read: %v", err)
			}
			if set := user(t, dir); len(set.Skills) > 0 || len(set.Faults) != 1 || !strings.Contains(set.Show(), "the skill has changed since it was installed") {
				t.Error(set.Show())
			}
			if got := states(t, in); got != "a changed" {
				t.Error(got)
			}
			if got := apply(t, must(in.Add(t.Context(), r.source())), nil); !strings.HasPrefix(got, "update  a ") {
				t.Error(got)
			}
			if got := states(t, in); got != "a whole" {
				t.Error(got)
			}
		})
	}
}

// TestConflicts: an outdated plan is not applied.
// TestTakenName: what was installed from one repository is not replaced from
// another.
func TestTakenName(t *testing.T) { //nolint:paralleltest // it sets environment variables
	if got, body := takeName(t); !strings.Contains(got, "refuse  a") || !strings.Contains(got, "run `pawl skills remove a` first") || body != "honest" {
		t.Errorf("%q is loaded: %s", body, got)
	}
}

// takeName installs a skill and another of its name, and returns what that shows
// and what the skill says then.
func takeName(t *testing.T) (shown, body string) {
	t.Helper()
	dir := real(t)
	in := installer(t, dir)
	for _, body := range []string{"honest", "hostile"} {
		r := newRepository(t, map[string]string{"a/SKILL.md": md("a", "d", body)})
		shown = apply(t, must(in.Add(t.Context(), r.source())), nil)
	}
	loaded, err := user(t, dir).Load("a")
	if err != nil {
		t.Fatal(err)
	}
	return shown, loaded.Body
}

func TestConflicts(t *testing.T) { //nolint:paralleltest // it sets environment variables
	r := newRepository(t, map[string]string{"a/SKILL.md": md("a", "d", "x")})
	dir := real(t)
	in := installer(t, dir)
	p := must(in.Add(t.Context(), r.source()))
	staged, err := filepath.Glob(filepath.Join(in.Dir, ".staging-*/a/SKILL.md"))
	if len(staged) != 1 || err != nil {
		t.Fatal(staged, err)
	}
	put(t, filepath.Dir(staged[0]), map[string]string{"SKILL.md": md("a", "d", "swapped")})
	if err := p.Apply(); !errors.Is(err, pawl.ErrConflict) || states(t, in) != "" {
		t.Errorf("what was staged has changed: %v, %s", err, states(t, in))
	}
	p = must(in.Add(t.Context(), r.source()))
	put(t, in.Dir, map[string]string{"a/SKILL.md": md("a", "by hand", "x")})
	if err := p.Apply(); !errors.Is(err, pawl.ErrConflict) || states(t, in) != "a by hand" {
		t.Errorf("something is in its place: %v, %s", err, states(t, in))
	}
	if got := apply(t, must(in.Add(t.Context(), r.source())), nil); !strings.Contains(got, "was not installed by Pawl") {
		t.Error(got)
	}
	if err := in.Remove("a"); !errors.Is(err, pawl.ErrNotFound) {
		t.Error(err)
	}
	put(t, in.Dir, map[string]string{skill.LockFile: `{"version":1,"skills":{"a":{"SHA256":"x"}}}`})
	if set := user(t, dir); len(set.Skills) > 0 || !strings.Contains(set.Show(), "the skills in this directory are not used") {
		t.Error(set.Show())
	}
	if _, err := in.Add(t.Context(), r.source()); !errors.Is(err, pawl.ErrInvalid) {
		t.Error(err)
	}
}

// TestHalfInstalled: the lock is written before a skill is moved. Where pawl was
// killed between, the skill is missing, or an older one is not loaded; the next
// attempt sets it right.
func TestHalfInstalled(t *testing.T) { //nolint:paralleltest // it sets environment variables
	r := newRepository(t, map[string]string{"a/SKILL.md": md("a", "d", "first")})
	dir := real(t)
	in := installer(t, dir)
	apply(t, must(in.Add(t.Context(), r.source())), nil)
	older := filepath.Join(real(t), "a")
	if err := os.Rename(filepath.Join(in.Dir, "a"), older); err != nil {
		t.Fatal(err)
	}
	if got := states(t, in); got != "a missing" {
		t.Error(got)
	}
	if set := user(t, dir); len(set.Skills) > 0 || len(set.Faults) > 0 {
		t.Error(set.Show())
	}
	r.commit(map[string]string{"a/SKILL.md": md("a", "d", "second")})
	apply(t, must(in.Update(t.Context())), nil)
	if loaded, err := user(t, dir).Load("a"); loaded.Body != "second" || err != nil {
		t.Errorf("%q, %v", loaded.Body, err)
	}
	if err := errors.Join(os.RemoveAll(filepath.Join(in.Dir, "a")), os.Rename(older, filepath.Join(in.Dir, "a"))); err != nil {
		t.Fatal(err)
	}
	if _, err := user(t, dir).Load("a"); !errors.Is(err, pawl.ErrNotFound) {
		t.Error(err)
	}
	apply(t, must(in.Update(t.Context())), nil)
	if got := states(t, in); got != "a whole" {
		t.Error(got)
	}
}

// TestLeftovers: what an install that was killed has left is removed by the next
// one; what another one is about to install is not.
func TestLeftovers(t *testing.T) { //nolint:paralleltest // it sets environment variables
	r := newRepository(t, map[string]string{"a/SKILL.md": md("a", "d", "x"), "b/SKILL.md": md("b", "d", "x")})
	dir := real(t)
	in := installer(t, dir)
	put(t, in.Dir, map[string]string{".staging-1/a/SKILL.md": "x", ".staging-2": "->" + dir})
	first := must(in.Add(t.Context(), r.source(), "a"))
	second := must(in.Add(t.Context(), r.source(), "b"))
	apply(t, first, nil)
	apply(t, second, nil)
	if got := states(t, in); got != "a whole, b whole" {
		t.Error(got)
	}
	left, err := filepath.Glob(filepath.Join(in.Dir, ".staging-*"))
	if diff := cmp.Diff([]string{filepath.Join(in.Dir, ".staging-2")}, left); diff != "" || err != nil { // a link is none of ours
		t.Error(diff, err)
	}
}

// TestInstallThroughLink: a directory of the project that leads elsewhere is not
// installed into.
func TestInstallThroughLink(t *testing.T) { //nolint:paralleltest // it sets environment variables
	r := newRepository(t, map[string]string{"a/SKILL.md": md("a", "d", "x")})
	for _, link := range []string{".agents", ".agents/skills"} {
		dir, out := real(t), real(t)
		put(t, dir, map[string]string{link: "->" + out})
		in := installer(t, dir)
		in.Dir = filepath.Join(dir, ".agents/skills")
		if _, err := in.Add(t.Context(), r.source()); !errors.Is(err, pawl.ErrDenied) {
			t.Errorf("%s: %v", link, err)
		}
		if left, err := os.ReadDir(out); len(left) > 0 || err != nil {
			t.Errorf("%s: %v, %v", link, left, err)
		}
	}
}
