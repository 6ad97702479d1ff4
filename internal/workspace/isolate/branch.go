package isolate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/workspace/ignore"
	"github.com/pawl-dev/pawl/internal/workspace/transaction"
	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// maxIgnoreFile bounds an ignore file that is read, in bytes.
const maxIgnoreFile = 1 << 20

// Branch commits the changes of the view, on top of HEAD, to a new branch of the project's
// repository. It changes neither the project's files nor its index nor HEAD, and keeps
// the view. Files that git ignores are left out, and so is what Apply would refuse.
func (v View) Branch(ctx context.Context, name, message string) (commit string, refused []transaction.Refusal, err error) {
	ref := "refs/heads/" + name
	if err := git.CheckRef(ref); err != nil {
		return "", nil, err
	}
	err = v.locked(func(held *os.File) error {
		if err := v.notApplied(); err != nil {
			return err
		}
		if err := v.recover(held); err != nil {
			return err
		}
		g, err := git.Find(ctx, v.Root)
		if err != nil {
			return err
		}
		repo, err := g.Open(ctx, v.Root)
		if err != nil {
			return err
		}
		if _, err := repo.Commit(ctx, ref); err == nil {
			return fault.New(pawl.ErrInvalid, "branch %s exists", name).Hint("Choose another name.")
		}
		changes, left, err := v.Changes(ctx)
		if err != nil {
			return err
		}
		refused = left
		if commit, err = v.commit(ctx, repo, changes, message); err != nil {
			return err
		}
		_, err = repo.Run(ctx, git.Call{Args: []string{"update-ref", ref, commit, strings.Repeat("0", len(commit))}})
		return err
	})
	return commit, refused, err
}

// commit writes a commit object with the changes.
func (v View) commit(ctx context.Context, repo *git.Repo, changes []tree.Change, message string) (string, error) {
	head, err := repo.Head(ctx)
	if err != nil {
		return "", err
	}
	entries, err := repo.Tree(ctx, head)
	if err != nil {
		return "", err
	}
	apart, err := os.MkdirTemp(v.dir, "index-")
	if err != nil {
		return "", err
	}
	defer tree.RemoveAll(apart)
	c := committer{view: v, repo: repo, apart: apart, tracked: map[string]bool{}}
	if c.prefix, err = filepath.Rel(repo.Top, v.Root); err != nil {
		return "", err
	}
	for _, e := range entries {
		c.tracked[e.Path] = true
	}
	info, err := c.index(ctx, changes, len(head))
	if err != nil {
		return "", err
	}
	if info.Len() == 0 {
		return "", fault.New(pawl.ErrInvalid, "the session has changed no file that git does not ignore")
	}
	if _, err := c.line(ctx, "read-tree", nil, head); err != nil {
		return "", err
	}
	if _, err := c.line(ctx, "update-index", info, "-z", "--index-info"); err != nil {
		return "", err
	}
	id, err := c.line(ctx, "write-tree", nil)
	if err != nil {
		return "", err
	}
	by := "pawl <pawl@localhost> " + strconv.FormatInt(time.Now().Unix(), 10) + " +0000"
	text := "tree " + id + "\nparent " + head + "\nauthor " + by + "\ncommitter " + by + "\n\n" + message + "\n"
	return c.line(ctx, "hash-object", strings.NewReader(text), "-t", "commit", "-w", "--stdin")
}

// committer writes the changes of a view to a repository.
type committer struct {
	view    View
	repo    *git.Repo
	apart   string
	prefix  string // of the project in the repository
	tracked map[string]bool
}

// line runs git with an index of its own, and returns its output without the line end.
func (c committer) line(ctx context.Context, command string, in io.Reader, args ...string) (string, error) {
	out, err := c.repo.Run(ctx, git.Call{Args: append([]string{command}, args...), In: in, Apart: c.apart})
	return strings.TrimSuffix(string(out), "\n"), err
}

// index returns the changes as input of git update-index: deletions first, since a directory may replace a file.
func (c committer) index(ctx context.Context, changes []tree.Change, hash int) (*bytes.Buffer, error) {
	var removed, added bytes.Buffer
	for _, change := range changes {
		name := path.Join(filepath.ToSlash(c.prefix), change.Path)
		if change.Path == ".git" || strings.HasPrefix(change.Path, ".git/") {
			continue
		}
		if c.tracked[name] && change.New.Type != tree.File && change.New.Type != tree.Link {
			fmt.Fprintf(&removed, "0 %s\t%s\x00", strings.Repeat("0", hash), name)
			continue
		}
		if change.New.Type != tree.File && change.New.Type != tree.Link || !c.tracked[name] && c.ignored(name) {
			continue
		}
		mode, id, err := c.store(ctx, change)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", change.Path, err)
		}
		fmt.Fprintf(&added, "%s %s\t%s\x00", mode, id, name)
	}
	_, err := added.WriteTo(&removed)
	return &removed, err
}

// store writes the content of a changed file or link to the repository.
func (c committer) store(ctx context.Context, change tree.Change) (mode, id string, err error) {
	at := filepath.Join(c.view.path(upperName), filepath.FromSlash(change.Path))
	if change.New.Type == tree.Link {
		target, err := os.Readlink(at)
		if err != nil {
			return "", "", err
		}
		id, err = c.line(ctx, "hash-object", strings.NewReader(target), "-w", "--stdin")
		return "120000", id, err
	}
	f, err := os.Open(at)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	mode = "100644"
	if change.New.Mode&0o100 != 0 {
		mode = "100755"
	}
	id, err = c.line(ctx, "hash-object", f, "-w", "--stdin")
	return mode, id, err
}

// ignored reports whether git ignores a new file of the repository.
func (c committer) ignored(name string) bool {
	var rules *ignore.Rules
	dir := "."
	for part := range strings.SplitSeq(name, "/") {
		rules = rules.In(dir, ignore.Files{Git: c.ignoreFile(dir)})
		dir = path.Join(dir, part)
		if rules.Ignored(dir, dir != name) {
			return true
		}
	}
	return false
}

// ignoreFile returns the ignore file of a directory of the repository, as the session has it.
func (c committer) ignoreFile(dir string) []byte {
	name := path.Join(dir, ".gitignore")
	if rel, err := filepath.Rel(c.prefix, name); err == nil && filepath.IsLocal(rel) {
		if text, err := readSome(filepath.Join(c.view.path(upperName), rel)); !errors.Is(err, os.ErrNotExist) {
			return text
		}
	}
	text, _ := readSome(filepath.Join(c.repo.Top, name)) // what cannot be read ignores nothing
	return text
}

// readSome reads a regular file up to a limit.
func readSome(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxIgnoreFile))
}
