package tool

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

func TestList(t *testing.T) {
	dir := folder(t, map[string]string{
		"b.go":           "x",
		"a/one.go":       "x",
		"a/deep/two.go":  "x",
		"a/deep/er/3.go": "x",
		".git/config":    "x",
		".github/ci.yml": "x",
		"empty/":         "",
		"link":           "->a",
		"out":            "->/etc",
		"dangling":       "->nothing",
	})
	tests := []struct {
		name  string
		in    fields
		want  string
		error string
	}{
		{
			"two levels", fields{},
			".git/\n.github/\n  ci.yml\na/\n  deep/\n  one.go\nb.go\ndangling (link)\nempty/\nlink (link)\nout (link)\n", "",
		},
		{"one level", fields{"depth": 1}, ".git/\n.github/\na/\nb.go\ndangling (link)\nempty/\nlink (link)\nout (link)\n", ""},
		{"a folder", fields{"path": "a"}, "deep/\n  er/\n  two.go\none.go\n", ""},
		{"a folder, deeper", fields{"path": "a", "depth": 9}, "deep/\n  er/\n    3.go\n  two.go\none.go\n", ""},
		{"the same, absolute", fields{"path": dir + "/a/", "depth": 9}, "deep/\n  er/\n    3.go\n  two.go\none.go\n", ""},
		{"a negative depth is none", fields{"path": "a", "depth": -3}, "deep/\n  er/\n  two.go\none.go\n", ""},
		{"inside of .git", fields{"path": ".git"}, "config\n", ""},
		{"an empty folder", fields{"path": "empty"}, "(the folder is empty)", ""},
		{"a link that stays inside", fields{"path": "link", "depth": 1}, "deep/\none.go\n", ""},
		{"a link that leads out", fields{"path": "out"}, "", "list out:"},
		{"a file", fields{"path": "b.go"}, "", "b.go is not a folder"},
		{"missing", fields{"path": "nope"}, "", "list nope:"},
		{"outside", fields{"path": ".."}, "", ".. is outside of the workspace"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := try(t.Context(), List(), call(dir, input(t, test.in)))
			checkError(t, err, test.error)
			if diff := cmp.Diff(pawl.Result{Content: test.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// locked is a file system with a folder that cannot be read.
type locked struct{ fs.FS }

func (l locked) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == "locked" {
		return nil, fs.ErrPermission
	}
	return fs.ReadDir(l.FS, name)
}

func TestListUnreadableFolder(t *testing.T) {
	fsys := locked{fstest.MapFS{"a": {}, "locked/x": {}, "z": {}}}
	got, err := tree(t.Context(), fsys, ".", 2)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(pawl.Result{Content: "a\nlocked/\n  (cannot be read)\nz\n"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := tree(t.Context(), fsys, "locked", 2); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v", err)
	}
}

func TestContract_R14_ListIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := try(ctx, List(), call(t.TempDir(), "{}"))
	checkError(t, err, "context canceled")
}
