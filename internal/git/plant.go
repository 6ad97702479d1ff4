package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// maxEntries bounds the list of a tree's files, in bytes.
const maxEntries = 64 << 20

// Entry is a file, symbolic link or submodule of a tree. Path is untrusted text.
type Entry struct {
	Mode string // git's file mode: 100644, 100755, 120000 or 160000
	ID   string
	Path string
}

// Submodule reports whether the entry is a submodule.
func (e Entry) Submodule() bool { return e.Mode == "160000" }

// Tree returns the files of a commit, sorted by path.
func (r *Repo) Tree(ctx context.Context, ref string) ([]Entry, error) {
	commit, err := r.Commit(ctx, ref)
	if err != nil {
		return nil, err
	}
	out, err := r.run(ctx, Call{Args: []string{"ls-tree", "-r", "-z", "--full-tree", commit}, Limit: maxEntries})
	if err != nil {
		return nil, err
	}
	var list []Entry
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		about, path, ok := strings.Cut(line, "\t")
		fields := strings.Fields(about)
		if !ok || len(fields) != 3 {
			if line == "" {
				continue
			}
			return nil, fmt.Errorf("git ls-tree: unexpected output %q", line)
		}
		list = append(list, Entry{fields[0], fields[2], path})
	}
	return list, nil
}

// Plant creates a new repository at dir, which must not exist, with the given files
// of r checked out and in one commit without parents. It contains nothing else of
// r, neither history nor settings. Submodules are empty directories. Plant also
// returns the id of the tree.
func (r *Repo) Plant(ctx context.Context, dir string, entries []Entry) (planted *Repo, tree string, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, "", err
	}
	if err := errors.Join(initialize(dir), identify(dir)); err != nil {
		return nil, "", err
	}
	if planted, err = r.git.Open(ctx, dir); err != nil {
		return nil, "", err
	}
	if err := r.carry(ctx, planted, entries); err != nil {
		return nil, "", fmt.Errorf("plant %s: %w", dir, err)
	}
	if tree, err = planted.fill(ctx, entries); err != nil {
		return nil, "", fmt.Errorf("plant %s: %w", dir, err)
	}
	return planted, tree, nil
}

// identify configures pawl as the author of commits in a repository that pawl
// creates.
func identify(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, ".git", "config"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("[user]\n\tname = pawl\n\temail = pawl@localhost\n")
	return errors.Join(err, f.Close())
}

// carry copies the contents of files to another repository.
func (r *Repo) carry(ctx context.Context, to *Repo, entries []Entry) error {
	var ids bytes.Buffer
	for _, e := range entries {
		if !e.Submodule() {
			ids.WriteString(e.ID + "\n")
		}
	}
	return r.pass(ctx, to, &ids)
}

// pass copies objects to another repository. wanted and how are the input and the
// options of git pack-objects.
func (r *Repo) pass(ctx context.Context, to *Repo, wanted io.Reader, how ...string) error {
	path := filepath.Join(to.Dir, "planted.pack")
	pack, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		_ = pack.Close()
		_ = os.Remove(path) // index-pack has copied it, or the call failed
	}()
	if _, err := r.run(ctx, Call{Args: append([]string{"pack-objects", "--stdout", "--quiet"}, how...), In: wanted, Out: pack}); err != nil {
		return err
	}
	if _, err := pack.Seek(0, 0); err != nil {
		return err
	}
	_, err = to.run(ctx, Call{Args: []string{"index-pack", "--stdin"}, In: pack})
	return err
}

// fill commits the entries, checks them out and returns the id of the tree.
func (r *Repo) fill(ctx context.Context, entries []Entry) (tree string, err error) {
	var info bytes.Buffer
	for _, e := range entries {
		if strings.ContainsRune(e.Path, 0) || !filepath.IsLocal(e.Path) {
			return "", fault.New(pawl.ErrInvalid, "%q is not a valid path in a repository", e.Path)
		}
		info.WriteString(e.Mode + " " + e.ID + "\t" + e.Path + "\x00")
	}
	if _, err := r.run(ctx, Call{Args: []string{"update-index", "-z", "--index-info"}, In: &info}); err != nil {
		return "", err
	}
	out, err := r.run(ctx, Call{Args: []string{"write-tree"}, Limit: maxLine})
	if err != nil {
		return "", err
	}
	tree = strings.TrimSpace(string(out))
	out, err = r.run(ctx, Call{Args: []string{"commit-tree", "-m", "as it is", tree}, Limit: maxLine})
	if err != nil {
		return "", err
	}
	if _, err := r.run(ctx, Call{Args: []string{"update-ref", "HEAD", strings.TrimSpace(string(out))}}); err != nil {
		return "", err
	}
	_, err = r.run(ctx, Call{Args: []string{"checkout-index", "--all", "--force", "--quiet"}})
	return tree, err
}
