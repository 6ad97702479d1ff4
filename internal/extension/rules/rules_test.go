package rules_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/extension/rules"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// fataler is a test, or a check of one.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Cleanup(f func())
}

// put makes files below a directory. A text that begins with -> is a link.
func put(t fataler, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if to, link := strings.CutPrefix(text, "->"); link {
			err = errors.Join(err, os.Symlink(to, path))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte(text), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// temp returns a new directory's real path.
func temp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func folder(t fataler, dir string) frontmatter.Directory {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return frontmatter.Directory{Tree: w, Path: dir}
}

func sources(t fataler, base string) frontmatter.Sources {
	t.Helper()
	return frontmatter.Sources{
		Project: folder(t, filepath.Join(base, "repo")), Dir: "sub/dir", Trusted: func(string) bool { return true },
		Home: folder(t, filepath.Join(base, "home")), Config: folder(t, filepath.Join(base, "home/.config/pawl")),
	}
}

// TestLoad: the order, and which file counts. Row C18 for what is not followed.
func TestLoad(t *testing.T) {
	t.Parallel()
	base := put(t, temp(t), map[string]string{
		"home/.config/pawl/AGENTS.md": "own\n", "home/.claude/CLAUDE.md": "claude's\n", "home/.agents/AGENTS.md": "shared", "home/AGENTS.md": "of a project at home",
		"repo/AGENTS.md": "top\u202e\n@sub/more.md and @~/.ssh/id_rsa, @../out/secret.md\n```\n@code.md\n```\nmail me@x.org, @types/node\n", "repo/CLAUDE.md": "hidden by AGENTS.md",
		"repo/sub/CLAUDE.md": "sub\x00\xff", "repo/sub/dir/AGENTS.md": "->../../../out/secret.md", "repo/sub/dir/CLAUDE.md": "not meant to count", "repo/sub/dir/below/AGENTS.md": "below",
		"out/secret.md": "s3cret", "repo/sub/more.md": "imported",
	})
	set := rules.Load(sources(t, base))
	want := `Rules from /home/.agents/AGENTS.md (user):

shared

Rules from /home/.claude/CLAUDE.md (user):

claude's

Rules from /home/.config/pawl/AGENTS.md (user):

own

Rules from /repo/AGENTS.md (project):

top\u{202e}
@sub/more.md and @~/.ssh/id_rsa, @../out/secret.md
` + "```\n@code.md\n```" + `
mail me@x.org, @types/node

Rules from /repo/sub/CLAUDE.md (project):

` + "sub\uFFFD\uFFFD\n\n"
	if diff := cmp.Diff(want, strings.ReplaceAll(set.Prompt(), base, "")); diff != "" {
		t.Error(diff)
	}
	shown := `/home/.agents/AGENTS.md  user agents  6 bytes
/home/.claude/CLAUDE.md  user claude  8 bytes
/home/.config/pawl/AGENTS.md  user agents  3 bytes
/repo/AGENTS.md  project agents  106 bytes
/repo/sub/CLAUDE.md  project claude  9 bytes
warning  /repo/AGENTS.md: imports of sub/more.md, ~/.ssh/id_rsa, ../out/secret.md are not followed; the model can read the files itself
warning  /repo/sub/CLAUDE.md: the file is not valid UTF-8: invalid bytes are replaced
warning  /repo/sub/dir/AGENTS.md: it is a symbolic link: use the path of its target
`
	if diff := cmp.Diff(shown, strings.ReplaceAll(set.Show(), base, "")); diff != "" {
		t.Error(diff)
	}
}

// TestTrust: nothing of a project is read unless its directory is trusted. Row A19.
func TestTrust(t *testing.T) {
	t.Parallel()
	base := put(t, temp(t), map[string]string{"repo/AGENTS.md": "top @x.md", "repo/sub/dir/AGENTS.md": "folder", "repo/sub/dir/a/AGENTS.md": "below", "home/.config/pawl/AGENTS.md": "user"})
	s := sources(t, base)
	top, dir, below := filepath.Join(base, "repo"), filepath.Join(base, "repo/sub/dir"), filepath.Join(base, "repo/sub/dir/a")
	for name, tt := range map[string]struct {
		trusted     func(string) bool
		want, below string
	}{
		"nobody said so": {nil, "user", ""},
		"none":           {func(string) bool { return false }, "user", ""},
		"the top":        {func(d string) bool { return d == top }, "user top @x.md", ""},
		"the folder":     {func(d string) bool { return d == dir }, "user folder", ""},
		"below":          {func(d string) bool { return d == below }, "user", "below"},
		"all":            {func(string) bool { return true }, "user top @x.md folder", "below"},
	} {
		s.Trusted = tt.trusted
		set, inner := rules.Load(s), rules.For(s, filepath.Join(below, "x.go"), nil)
		if texts(set) != tt.want || texts(inner) != tt.below || (len(set.Faults) > 0) != strings.Contains(tt.want, "top") {
			t.Errorf("%s: %q, %q, %v", name, texts(set), texts(inner), set.Faults)
		}
	}
}

func texts(s *rules.Set) string {
	var all []string
	for _, f := range s.Files {
		all = append(all, f.Text)
	}
	return strings.Join(all, " ")
}

// TestFor: the rules on the way to a file, once.
func TestFor(t *testing.T) {
	t.Parallel()
	base := put(t, temp(t), map[string]string{
		"repo/AGENTS.md": "top", "repo/sub/dir/AGENTS.md": "dir", "repo/sub/dir/a/AGENTS.md": "a", "repo/sub/dir/a/b/CLAUDE.md": "b", "repo/sub/dir/a/b/c/x.go": "", "repo/sub/other/AGENTS.md": "other",
		"repo/sub/dir/link": "->../../../out", "out/AGENTS.md": "s3cret",
	})
	s := sources(t, base)
	at := func(name string) string { return filepath.Join(base, "repo", name) }
	given := map[string]bool{}
	for _, tt := range []struct{ file, want string }{
		{at("sub/dir/x.go"), ""},
		{at("sub/dir/a/x.go"), "a"},
		{at("sub/dir/a/b/c/x.go"), "b"},
		{at("sub/dir/a/b/c/x.go"), ""},
		{at("sub/other/x.go"), ""},
		{at("x.go"), ""},
		{at("sub/dir/link/x.go"), ""},
		{at("sub/dir/none/at/all/x.go"), ""},
		{at("sub/dir"), ""},
		{filepath.Join(base, "out/x"), ""},
		{"relative/x", ""},
		{"", ""},
	} {
		inner := rules.For(s, tt.file, given)
		if got := texts(inner); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.file, got, tt.want)
		}
		for _, f := range inner.Files {
			given[f.Origin.File] = true
		}
	}
}

// TestBounds: what is too long is cut, the project's before the user's and the
// nearest of it last; never more than all may have; always text.
func TestBounds(t *testing.T) {
	t.Parallel()
	big := func(n int, with string) string { return strings.Repeat(with, n/len(with)) }
	base := put(t, temp(t), map[string]string{"home/.config/pawl/AGENTS.md": big(10<<10, "u"), "repo/AGENTS.md": big(20<<10, "t"), "repo/sub/dir/AGENTS.md": big(20<<10, "ä")})
	set := rules.Load(sources(t, base))
	if f := set.Files; len(f) != 3 || f[0].Given != 10<<10 || f[2].Given != 20<<10 || f[1].Given > 2<<10 || !strings.HasSuffix(f[1].Text, "for the rest)") || f[1].Bytes != 20<<10 {
		t.Error(set.Show())
	}
	base = put(t, temp(t), map[string]string{"home/.config/pawl/AGENTS.md": "user", "repo/AGENTS.md": "top", "repo/sub/dir/AGENTS.md": big(100<<10, "ä"), "repo/sub/AGENTS.md": big(2<<20, "x")})
	set = rules.Load(sources(t, base))
	if f := set.Files; len(f) != 3 || f[0].Text != "user" || f[1].Text != "" || f[2].Given < 30<<10 || !strings.Contains(set.Prompt(), "repo/AGENTS.md are left out") || !strings.Contains(set.Show(), "sub/AGENTS.md: it is larger than 1048576 bytes") {
		t.Error(set.Show())
	}
}

func TestAlwaysFits(t *testing.T) {
	t.Parallel()
	base := temp(t)
	s := sources(t, base)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(rapid.SampledFrom([]string{"x", "ä", "漢\n", "\xff", "\U000E0041"}).Draw(t, "unit"), rapid.IntRange(0, 5000).Draw(t, "count"))
		})
		put(t, base, map[string]string{"home/.config/pawl/AGENTS.md": text.Draw(t, "user"), "repo/AGENTS.md": text.Draw(t, "top"), "repo/sub/AGENTS.md": text.Draw(t, "middle"), "repo/sub/dir/AGENTS.md": text.Draw(t, "nearest")})
		set, total := rules.Load(s), 0
		for _, f := range set.Files {
			total += len(f.Text)
			if !utf8.ValidString(f.Text) || f.Given > f.Bytes {
				t.Fatalf("%s: %d of %d", f.Origin.File, f.Given, f.Bytes)
			}
		}
		if total > rules.MaxBytes || set.Prompt() != rules.Load(s).Prompt() {
			t.Fatalf("%d bytes", total)
		}
	})
}
