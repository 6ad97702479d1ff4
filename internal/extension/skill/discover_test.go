package skill_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/extension/skill"
)

// TestDiscover: every place, what wins, what is hidden, what is reported.
func TestDiscover(t *testing.T) {
	t.Parallel()
	base := real(t)
	put(t, base, map[string]string{
		"repo/.agents/skills/deploy/SKILL.md":                        md("deploy", "the top's", "x"),
		"repo/.pawl/skills/own/SKILL.md":                             md("own", "of pawl", "x"),
		"repo/.claude/skills/claudes/SKILL.md":                       md("claudes", "of claude", "x"),
		"repo/.claude/skills/deploy":                                 "->../../.agents/skills/deploy",
		"repo/.opencode/skill/one/SKILL.md":                          md("one", "of opencode", "x"),
		"repo/.opencode/skills/many/SKILL.md":                        md("many", "of opencode", "x"),
		"repo/sub/dir/.agents/skills/deploy/SKILL.md":                md("deploy", "the nearest", "x"),
		"repo/sub/.pawl/skills/deploy/SKILL.md":                      md("deploy", "the middle", "x"),
		"repo/other/.pawl/skills/unseen/SKILL.md":                    md("unseen", "beside the way", "x"),
		"home/.agents/skills/deploy/SKILL.md":                        md("deploy", "the user's", "x"),
		"home/.agents/skills/mine/SKILL.md":                          md("mine", "the user's", "x"),
		"home/.config/opencode/skills/far/SKILL.md":                  md("far", "of opencode", "x"),
		"home/.config/pawl/skills/mine/SKILL.md":                     md("mine", "installed", "x"),
		"repo/.pawl/skills/Odd_Name/SKILL.md":                        "---\nname: Odd_Name\ndescription: d\nversion: 2\n---\n",
		"repo/.pawl/skills/folder/SKILL.md":                          md("another", "d", "x"),
		"repo/.pawl/skills/nameless/SKILL.md":                        "---\ndescription: d\n---\n",
		"repo/.pawl/skills/long/SKILL.md":                            md("long", strings.Repeat("ä", 2000), "x"),
		"repo/.pawl/skills/no-description/SKILL.md":                  "---\nname: no-description\n---\n",
		"repo/.pawl/skills/no-head/SKILL.md":                         "just text\n",
		"repo/.pawl/skills/empty/README.md":                          "x",
		"repo/.pawl/skills/bomb/SKILL.md":                            "---\na: &a [x]\nb: *a\n---\n",
		"repo/.pawl/skills/two lines/SKILL.md":                       "---\nname: \"a\\nb\"\ndescription: d\n---\n",
		"repo/.pawl/skills/huge/SKILL.md":                            md("huge", "d", strings.Repeat("x", skill.MaxText)),
		"repo/.pawl/skills/linked/SKILL.md":                          "->../../../../out/SKILL.md",
		"repo/.pawl/skills/away":                                     "->../../../out",
		"repo/.pawl/skills/README.md":                                "x",
		"out/SKILL.md":                                               md("away", "s3cret", "x"),
		"repo/.pawl/skills/.hidden/SKILL.md":                         md("hidden", "d", "x"),
		"repo/sub/dir/.claude/skills":                                "->../../../.claude/skills",
		"repo/.pawl/skills/escapes\x1b[2J/SKILL.md":                  "---\nname: escapes\n---\n",
		"repo/.pawl/skills/turned/SKILL.md":                          md("turned", "a\u202eb\U000E0041", "x"),
		"repo/.pawl/skills/bytes/SKILL.md":                           md("bytes", "a\xff\x00b", "x"),
		"repo/.pawl/skills/case/skill.md":                            md("case", "d", "x"),
		"repo/.pawl/skills/colon/SKILL.md":                           md("colon", "Use when: asked", "x"),
		"home/.pawl/skills/" + strings.Repeat("x", 70) + "/SKILL.md": md(strings.Repeat("x", 70), "d", "x"),
	})
	if err := syscall.Mkfifo(filepath.Join(base, "repo/.pawl/skills/empty/SKILL.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	set := skill.Discover(frontmatter.Sources{
		Project: folder(t, filepath.Join(base, "repo")), Dir: "sub/dir", Trusted: trusted,
		Home: folder(t, filepath.Join(base, "home")), Config: folder(t, filepath.Join(base, "home/.config/pawl")),
	})
	golden(t, "discover.txt", strings.ReplaceAll(set.Show(), base, ""))
	if k, ok := set.Find("deploy"); !ok || k.Description != "the nearest" {
		t.Errorf("%+v", k)
	}
	if text := fmt.Sprintf("%+v", set); strings.Contains(text, "s3cret") {
		t.Error("what a link leads to was read")
	}
}

// TestTrust: nothing of a project is read unless its directory is trusted. Row A19.
func TestTrust(t *testing.T) {
	t.Parallel()
	base := real(t)
	put(t, base, map[string]string{
		"repo/.agents/skills/a/SKILL.md": md("a", "d", "x"), "repo/sub/.agents/skills/b/SKILL.md": md("b", "d", "x"), "home/.agents/skills/c/SKILL.md": md("c", "d", "x"),
		"repo/.agents/skills/broken/SKILL.md": "no",
	})
	s := frontmatter.Sources{Project: folder(t, filepath.Join(base, "repo")), Dir: "sub", Home: folder(t, filepath.Join(base, "home"))}
	for name, tt := range map[string]struct {
		trusted func(string) bool
		want    []string
	}{
		"nobody said so": {nil, []string{"c"}},
		"none":           {func(string) bool { return false }, []string{"c"}},
		"the top":        {func(dir string) bool { return dir == filepath.Join(base, "repo") }, []string{"a", "c"}},
		"the folder":     {func(dir string) bool { return dir == filepath.Join(base, "repo/sub") }, []string{"b", "c"}},
		"both":           {trusted, []string{"a", "b", "c"}},
	} {
		s.Trusted = tt.trusted
		set := skill.Discover(s)
		if diff := cmp.Diff(tt.want, namesOf(set)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if want := slices.Contains(tt.want, "a"); (len(set.Faults) > 0) != want {
			t.Errorf("%s: %v", name, set.Faults)
		}
	}
}

func namesOf(s *skill.Set) []string {
	var names []string
	for _, k := range s.Skills {
		names = append(names, k.Name)
	}
	return names
}

func TestFields(t *testing.T) {
	t.Parallel()
	dir := real(t)
	put(t, dir, map[string]string{".agents/skills/a/SKILL.md": `---
name: a
description: >
  Does a,
  then b.
license: MIT
compatibility: needs git
metadata: {author: me, version: 1.0}
allowed-tools: Bash(git:*) Read
---
Body.
`})
	set := project(t, dir)
	want := skill.Skill{
		Name: "a", Description: "Does a, then b.", License: "MIT", Compatibility: "needs git", Metadata: map[string]string{"author": "me", "version": "1.0"},
		AllowedTools: []string{"Bash(git:*)", "Read"}, Folder: filepath.Join(dir, ".agents/skills/a"),
		Origin: frontmatter.Origin{File: filepath.Join(dir, ".agents/skills/a/SKILL.md"), Layer: frontmatter.Project, Tool: "agents"},
	}
	unexported := cmp.FilterPath(func(p cmp.Path) bool {
		f, ok := p.Last().(cmp.StructField)
		return ok && strings.ToLower(f.Name()) == f.Name()
	}, cmp.Ignore())
	if diff := cmp.Diff([]skill.Skill{want}, set.Skills, unexported); diff != "" || set.Faults != nil {
		t.Error(diff, set.Faults)
	}
}

// TestLoad: the body and the names of the files; and of the files what is in the
// directory, and no more.
func TestLoad(t *testing.T) {
	t.Parallel()
	dir := real(t)
	files := map[string]string{
		".agents/skills/a/SKILL.md":       md("a", "d", "Do\u202e this.\n"),
		".agents/skills/a/scripts/run.sh": "#!/bin/sh\n",
		".agents/skills/a/ref/b.md":       "reference",
		".agents/skills/a/link":           "->../../../secret",
		".agents/skills/a/out":            "->../../..",
		".agents/skills/a/big":            strings.Repeat("x", skill.MaxText+1),
		".agents/skills/other/SKILL.md":   md("other", "d", "x"),
		"secret":                          "s3cret",
	}
	for i := range 300 {
		files[fmt.Sprintf(".agents/skills/other/f%03d", i)] = "x"
	}
	put(t, dir, files)
	set := project(t, dir)
	got, err := set.Load("a")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"big", "ref/b.md", "scripts/run.sh"}; got.Body != "Do\\u202e this." && !strings.Contains(got.Body, "202") || !slices.Equal(got.Files, want) || got.More != 0 || got.Folder != filepath.Join(dir, ".agents/skills/a") {
		t.Errorf("%q, %q, %d", got.Body, got.Files, got.More)
	}
	if strings.ContainsRune(got.Body, '\u202e') {
		t.Errorf("hidden text is not shown: %q", got.Body)
	}
	if got, err := set.Load("other"); len(got.Files) != 200 || got.More != 100 || err != nil {
		t.Errorf("%d, %d, %v", len(got.Files), got.More, err)
	}
	if _, err := set.Load("none"); !errors.Is(err, pawl.ErrNotFound) {
		t.Error(err)
	}
	for file, want := range map[string]string{
		"ref/b.md": "reference", "./ref/../ref/b.md": "reference", "scripts/run.sh": "#!/bin/sh\n",
		"link": "symbolic link", "out/secret": "symbolic link", "big": "larger than", "../../../secret": "not a valid path in skill", "../other/SKILL.md": "not a valid path in skill",
		filepath.Join(dir, "secret"): "not a valid path in skill", "": "not a valid path in skill", "ref": "not a regular file", "none": "no such file",
	} {
		text, err := set.ReadFile("a", file)
		if err == nil && string(text) != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v", file, text, err)
		}
	}
	if _, err := set.ReadFile("a", "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if got := set.Search("OTH"); len(got) != 1 || got[0].Name != "other" || set.Search(" ") != nil {
		t.Errorf("%v", got)
	}
}
