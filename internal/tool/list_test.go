package tool

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

func TestList(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"b.go":           "x",
		"a/one.go":       "x",
		"a/deep/two.go":  "x",
		"a/deep/er/3.go": "x",
		"a/two.o":        "x",
		"target/x.o":     "x",
		"only/x.o":       "x",
		"odd\nname":      "x",
		".gitignore":     "*.o\ntarget/\n",
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
			".git/\n.github/\n  ci.yml\n.gitignore\na/\n  deep/ (2 inside)\n  one.go\nb.go\ndangling (link)\nempty/\nlink (link)\n\"odd\\nname\"\nonly/\nout (link)\n(3 ignored)\n", "",
		},
		{
			"one level", fields{"depth": 1},
			".git/\n.github/ (1 inside)\n.gitignore\na/ (2 inside)\nb.go\ndangling (link)\nempty/\nlink (link)\n\"odd\\nname\"\nonly/\nout (link)\n(1 ignored)\n", "",
		},
		{"a folder", fields{"path": "a"}, "deep/\n  er/ (1 inside)\n  two.go\none.go\n(1 ignored)\n", ""},
		{"a folder, deeper", fields{"path": "a", "depth": 9}, "deep/\n  er/\n    3.go\n  two.go\none.go\n(1 ignored)\n", ""},
		{"the same, absolute", fields{"path": dir + "/a/", "depth": 9}, "deep/\n  er/\n    3.go\n  two.go\none.go\n(1 ignored)\n", ""},
		{"a negative depth is none", fields{"path": "a", "depth": -3}, "deep/\n  er/ (1 inside)\n  two.go\none.go\n(1 ignored)\n", ""},
		{"inside of .git", fields{"path": ".git"}, "config\n", ""},
		{"an empty folder", fields{"path": "empty"}, "(the directory is empty)\n", ""},
		{"an ignored folder that is named", fields{"path": "target"}, "x.o\n", ""},
		{"only ignored files", fields{"path": "only"}, "(1 ignored)\n", ""},
		{"a link that stays inside", fields{"path": "link", "depth": 1}, "deep/ (2 inside)\none.go\n(1 ignored)\n", ""},
		{"a link that leads out", fields{"path": "out"}, "", "list out:"},
		{"a file", fields{"path": "b.go"}, "", "b.go is not a directory"},
		{"missing", fields{"path": "nope"}, "", "list nope:"},
		{"outside", fields{"path": ".."}, "", ".. is outside the workspace"},
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

func TestContract_R14_ListIsCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := try(ctx, List(), call(t.TempDir(), "{}"))
	checkError(t, err, "context canceled")
}
