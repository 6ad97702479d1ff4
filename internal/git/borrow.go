package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

const (
	maxShallow = 1 << 20 // bytes of the file that lists the boundary commits of a shallow repository
	sha256Hex  = 64      // length of a SHA-256 object id
)

// Borrow creates a repository in the existing directory dir, with one branch at a
// commit of r. It has no objects but reads those of r (git alternates), including
// the history. It has no settings or hooks of r, and its index is empty. commit
// must be a full id.
func (r *Repo) Borrow(dir, branch, commit string) error {
	if err := CheckRef(branch); err != nil {
		return err
	}
	objects := filepath.Join(r.Common, "objects")
	if strings.ContainsAny(objects, "\n\r") {
		return fault.New(pawl.ErrInvalid, "the path %q contains a line break, so no repository can borrow objects from it: rename the directory", objects)
	}
	shallow, err := bytesOf(filepath.Join(r.Common, "shallow"), maxShallow)
	if err != nil {
		return err
	}
	dotgit := filepath.Join(dir, ".git")
	heads, info := filepath.Join(dotgit, "refs", "heads"), filepath.Join(dotgit, "objects", "info")
	if err := errors.Join(initialize(dir), os.Mkdir(heads, 0o700), os.Mkdir(info, 0o700)); err != nil {
		return err
	}
	files := map[string]string{
		filepath.Join(info, "alternates"): objects + "\n",
		filepath.Join(dotgit, "HEAD"):     "ref: refs/heads/" + branch + "\n",
		filepath.Join(heads, branch):      commit + "\n",
	}
	if shallow != "" {
		files[filepath.Join(dotgit, "shallow")] = shallow
	}
	if len(commit) == sha256Hex {
		files[filepath.Join(dotgit, "config")] = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectFormat = sha256\n"
	}
	for path, text := range files {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return identify(dir)
}

// bytesOf returns the content of a regular file of at most limit bytes, or "" if it
// does not exist.
func bytesOf(path string, limit int64) (string, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return "", fault.New(pawl.ErrInvalid, "%s is not a regular file, or is larger than %d bytes", path, limit)
	}
	text, err := os.ReadFile(path)
	return string(text), err
}
