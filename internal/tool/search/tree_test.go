package search

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// draw writes a tree as text: name, what is hidden, then its children.
func draw(n *Node) string {
	text := n.Name
	if n.Type.IsDir() {
		text += "/"
	}
	if n.Type == fs.ModeSymlink {
		text += "@"
	}
	if n.Hidden > 0 {
		text += fmt.Sprintf("+%d", n.Hidden)
	}
	var below []string
	for _, c := range n.Children {
		below = append(below, draw(c))
	}
	if len(below) > 0 {
		text += "[" + strings.Join(below, " ") + "]"
	}
	return text
}

func TestTree(t *testing.T) {
	t.Parallel()
	dir := folderOf(t, map[string]string{
		".gitignore": "*.o\n/big/x*\n", ".git/config": "", ".github/ci.yml": "",
		"a.o": "", "b": "", "link": "->sub", "empty/": "",
		"sub/c": "", "sub/d.o": "", "sub/deep/e": "", "sub/deep/er/f": "",
		"big/1": "", "big/2": "", "big/3": "", "big/x1": "", "big/x2": "",
	})
	tests := []struct {
		name    string
		dir     string
		depth   int
		entries int
		bytes   int
		want    string
		ignored int
	}{
		{"one level", ".", 1, 100, 1000, "/[.git/ .github/+1 .gitignore b big/+3 empty/ link@ sub/+2]", 1},
		{"two levels", ".", 2, 100, 1000, "/[.git/ .github/[ci.yml] .gitignore b big/[1 2 3] empty/ link@ sub/[c deep/+2]]", 4},
		{"all levels", ".", 9, 100, 1000, "/[.git/ .github/[ci.yml] .gitignore b big/[1 2 3] empty/ link@ sub/[c deep/[e er/[f]]]]", 4},
		{"a directory", "sub", 9, 100, 1000, "/[c deep/[e er/[f]]]", 1},
		{"a link, named", "link", 1, 100, 1000, "/[c deep/+2]", 1},
		{"git's directory, named", ".git", 9, 100, 1000, "/[config]", 0},
		{"entries for what is further up", ".", 9, 11, 1000, "/[.git/ .github/[ci.yml] .gitignore b big/+3 empty/ link@ sub/[c deep/+2]]", 2},
		{"entries for the top only", ".", 9, 8, 1000, "/[.git/ .github/+1 .gitignore b big/+3 empty/ link@ sub/+2]", 1},
		{"not even that", ".", 9, 3, 1000, "/+5[.git/ .github/+1 .gitignore]", 1},
		{"few bytes", ".", 9, 100, 80, "/+4[.git/ .github/+1 .gitignore b]", 1},
		{"no entries", ".", 9, 0, 1000, "/+8", 1},
	}
	for _, test := range tests {
		limits := wide
		limits.Results, limits.Bytes = test.entries, test.bytes
		tree, err := List(t.Context(), open(t, dir), test.dir, test.depth, limits)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, draw(tree.Root)); diff != "" || tree.Ignored != test.ignored || tree.TimeUp {
			t.Errorf("%s: %d ignored, time up %v %s", test.name, tree.Ignored, tree.TimeUp, diff)
		}
	}
}
