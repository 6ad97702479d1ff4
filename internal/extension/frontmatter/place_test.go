package frontmatter_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/workspace"
)

var _ frontmatter.Tree = (*workspace.Workspace)(nil)

// open makes a directory and opens it.
func open(t *testing.T, dir string) frontmatter.Directory {
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

func TestLevels(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	home := open(t, filepath.Join(base, "home"))
	config := open(t, filepath.Join(base, "home/.config/pawl"))
	repo := open(t, filepath.Join(base, "home/repo"))
	all := func(string) bool { return true }
	only := func(dirs ...string) func(string) bool {
		return func(dir string) bool {
			for _, d := range dirs {
				if dir == filepath.Join(base, "home", d) {
					return true
				}
			}
			return false
		}
	}
	for name, tt := range map[string]struct {
		sources frontmatter.Sources
		want    []string
	}{
		"all":               {frontmatter.Sources{Project: repo, Dir: "a/b", Trusted: all, Home: home, Config: config}, []string{"project repo/a/b", "project repo/a", "project repo", "user .config/pawl own", "user ."}},
		"nobody says so":    {frontmatter.Sources{Project: repo, Dir: "a/b", Home: home}, []string{"user ."}},
		"not trusted":       {frontmatter.Sources{Project: repo, Dir: "a/b", Trusted: only(), Home: home}, []string{"user ."}},
		"the top alone":     {frontmatter.Sources{Project: repo, Dir: "a/b", Trusted: only("repo")}, []string{"project repo"}},
		"the nearest alone": {frontmatter.Sources{Project: repo, Dir: "a/b", Trusted: only("repo/a/b")}, []string{"project repo/a/b"}},
		"at the top":        {frontmatter.Sources{Project: repo, Trusted: all}, []string{"project repo"}},
		"out of it":         {frontmatter.Sources{Project: repo, Dir: "../../x", Trusted: all}, []string{"project repo"}},
		"home is the top":   {frontmatter.Sources{Project: home, Dir: "repo", Trusted: all, Home: home}, []string{"project repo", "user ."}},
		"in the config":     {frontmatter.Sources{Project: home, Dir: ".config/pawl", Trusted: all, Home: home, Config: config}, []string{"project .config", "user .config/pawl own", "user ."}},
		"none":              {frontmatter.Sources{}, nil},
	} {
		var got []string
		for _, l := range tt.sources.Levels() {
			rel, err := filepath.Rel(home.Path, l.Dir())
			if err != nil {
				t.Fatal(err)
			}
			line := string(l.Layer) + " " + rel
			if l.Own {
				line += " own"
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestRead: what is read is a file that was named, and no more of it than may be.
func TestRead(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	f := open(t, filepath.Join(base, "in"))
	for name, text := range map[string]string{"in/a.md": "text", "in/sub/b.md": "more", "in/big": strings.Repeat("x", 100), "out/secret": "s"} {
		path := filepath.Join(base, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(
		os.Symlink("../out/secret", filepath.Join(base, "in/link")), os.Symlink("../out", filepath.Join(base, "in/folder")),
		os.Symlink("a.md", filepath.Join(base, "in/near")), syscall.Mkfifo(filepath.Join(base, "in/pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"a.md": "text", "sub/b.md": "more", "big": "larger than 50 bytes", "link": "symbolic link", "near": "symbolic link",
		"folder/secret": "symbolic link", "pipe": "not a regular file", "sub": "not a regular file", "../out/secret": "escapes",
	} {
		text, err := frontmatter.Read(f.Tree, path, 50)
		if err == nil && string(text) != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
	entries, err := frontmatter.Entries(f.Tree, ".")
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"a.md", "big", "folder", "link", "near", "pipe", "sub"}, names); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if entries, err := frontmatter.Entries(f.Tree, "none/at/all"); entries != nil || err != nil {
		t.Error(entries, err)
	}
	if entries, err := frontmatter.Entries(f.Tree, "folder"); entries != nil || err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Error(entries, err)
	}
}
