package search

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/pawl-dev/pawl/internal/workspace"
	"github.com/pawl-dev/pawl/internal/workspace/ignore"
)

const (
	ignoreBytes = 1 << 20 // bytes of an ignore file; the rest is ignored
	dirEntries  = 512     // entries that are read at a time
)

// directory is an open directory with the ignore rules for its entries.
type directory struct {
	path  string // relative to the workspace, with slashes; "." is the workspace
	root  *os.Root
	rules *ignore.Rules
}

// checkDirectory returns an error unless path is a directory in the workspace.
// Opening anything else, such as a pipe, could block.
func checkDirectory(ws *workspace.Workspace, path string) error {
	info, err := ws.Stat(path)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a directory", path)
	}
	return err
}

// openDirectory opens a directory. rules are those of its parent.
func openDirectory(ws *workspace.Workspace, path string, rules *ignore.Rules) (*directory, error) {
	root, err := ws.OpenFolder(path)
	if err != nil {
		return nil, err
	}
	return &directory{path: path, root: root, rules: rules.In(path, ignore.Files{
		Git:    readRules(root, ".gitignore"),
		Ignore: readRules(root, ".ignore"),
	})}, nil
}

// rulesAbove returns the ignore rules of the directories above dir. A
// directory that is named explicitly is searched even if it is ignored: it
// returns no rules then.
func rulesAbove(ws *workspace.Workspace, dir string) (*ignore.Rules, error) {
	top, err := ws.OpenFolder(".")
	if err != nil {
		return nil, err
	}
	defer top.Close()
	var rules *ignore.Rules
	rules = rules.In(".", ignore.Files{Git: readRules(top, ".git/info/exclude")})
	if dir == "." {
		return rules, nil
	}
	at := "."
	for name := range strings.SplitSeq(dir, "/") {
		f, err := openDirectory(ws, at, rules)
		if err != nil {
			return nil, err
		}
		_ = f.root.Close()
		rules, at = f.rules, path.Join(at, name)
		if name == ".git" || rules.Ignored(at, true) {
			return nil, nil
		}
	}
	return rules, nil
}

// readRules returns the content of an ignore file. It returns nil if the file
// cannot be read, is a link or is not a regular file.
func readRules(root *os.Root, name string) []byte {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, ignoreBytes))
	if err != nil {
		return nil
	}
	return text
}

// join returns the path of an entry.
func (f *directory) join(name string) string {
	if f.path == "." {
		return name
	}
	return f.path + "/" + name
}

// ignored reports whether the rules exclude an entry. The .git directory is
// always excluded.
func (f *directory) ignored(e fs.DirEntry) bool {
	return e.Name() == ".git" || f.rules.Ignored(f.join(e.Name()), e.IsDir())
}

// each calls visit for the entries, in no particular order, until ctx ends. It
// holds only a few entries at a time.
func (f *directory) each(ctx context.Context, visit func(fs.DirEntry)) error {
	dir, err := f.root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	for {
		entries, err := dir.ReadDir(dirEntries)
		for _, e := range entries {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			visit(e)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
