package skill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// maxFound is the maximum number of skills of a repository, maxListed that of
// its files.
const (
	maxFound  = 200
	maxListed = 50000
)

// Repository is a commit of a repository; git.Fetched is one. It is not
// checked out.
type Repository interface {
	Commit() string
	// Walk calls f for each file, link and submodule.
	Walk(f func(path string, mode fs.FileMode, size int64) error) error
	ReadFile(ctx context.Context, path string) ([]byte, error)
	Close() error
}

// item is a file of a repository.
type item struct {
	path string // relative to the top of the repository
	mode fs.FileMode
	size int64
}

// list returns the files of a repository below a directory.
func list(r Repository, under string) ([]item, error) {
	var items []item
	err := r.Walk(func(path string, mode fs.FileMode, size int64) error {
		if len(items) == maxListed {
			return fault.New(pawl.ErrInvalid, "the repository has more than %d files: name a directory of it with #path", maxListed)
		}
		if within(path, under) {
			items = append(items, item{path, mode, size})
		}
		return nil
	})
	return items, err
}

// roots returns the directories that are skills, sorted; "" is the top. A
// directory within a skill is a part of it. Skills in test and package
// directories do not count.
func roots(items []item) ([]string, error) {
	var found []string
	for _, i := range items {
		dir, name := path.Split(i.path)
		if name == File && !strings.Contains("/"+dir, "/node_modules/") {
			found = append(found, strings.TrimSuffix(dir, "/"))
		}
	}
	slices.Sort(found)
	var tops []string
	for _, dir := range found {
		if !slices.ContainsFunc(tops, func(top string) bool { return within(dir, top) }) {
			tops = append(tops, dir)
		}
	}
	if len(tops) > maxFound {
		return nil, fault.New(pawl.ErrInvalid, "the repository has more than %d skills: name a directory of it with #path", maxFound)
	}
	return tops, nil
}

// staged is a skill in the staging directory.
type staged struct {
	skill Skill
	path  string // path in the repository
	hash  string
	files map[string]string // hashes by path
}

// check returns an error if a skill has other than regular files or exceeds
// the limits. It returns the files by their paths relative to the skill's
// directory.
func check(items []item, root string) (map[string]item, error) {
	files, taken, total := map[string]item{}, names{}, int64(0)
	for _, i := range items {
		if !within(i.path, root) {
			continue
		}
		rel := i.path
		if root != "" {
			rel = strings.TrimPrefix(i.path, root+"/")
		}
		if !i.mode.IsRegular() {
			return nil, fault.New(pawl.ErrDenied, "%.100q is a symbolic link or a submodule: a skill can only contain regular files", i.path)
		}
		if err := checkPath(rel); err != nil {
			return nil, err
		}
		if err := taken.add(rel); err != nil {
			return nil, err
		}
		if total += i.size; i.size > MaxFile || total > MaxBytes || len(files) == MaxFiles || strings.Count(rel, "/") > MaxDepth {
			return nil, fault.New(pawl.ErrInvalid, "a skill is limited to %d files of %d bytes, %d bytes in total and %d directory levels; %.100q exceeds that", MaxFiles, MaxFile, MaxBytes, MaxDepth, i.path)
		}
		files[rel] = i
	}
	return files, nil
}

// stage writes a skill to a new directory and reads it back: what was checked
// is what will be moved into place.
func (in *Installer) stage(ctx context.Context, r Repository, items []item, root, staging string) (staged, error) {
	files, err := check(items, root)
	if err != nil {
		return staged{}, err
	}
	text, err := r.ReadFile(ctx, path.Join(root, File))
	if err != nil {
		return staged{}, err
	}
	s, _, err := parse(text, "")
	if err != nil {
		return staged{}, err
	}
	if err := CheckName(s.Name); err != nil {
		return staged{}, fault.New(pawl.ErrInvalid, "invalid name %.80q: %w", s.Name, err)
	}
	want, err := write(ctx, r, files, filepath.Join(staging, s.Name))
	if err != nil {
		return staged{}, err
	}
	return in.restage(staging, s.Name, root, want)
}

// write writes the files to a new directory and returns the expected hash.
func write(ctx context.Context, r Repository, files map[string]item, dir string) (string, error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	folder, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer folder.Close()
	var rels []string
	for rel := range files {
		rels = append(rels, rel)
	}
	slices.Sort(rels)
	d := newDigest()
	for _, rel := range rels {
		i := files[rel]
		data, err := r.ReadFile(ctx, i.path)
		if err != nil {
			return "", err
		}
		mode := fs.FileMode(0o644)
		if runs(i.mode) {
			mode = 0o755
		}
		if err := fill(folder, rel, data, mode); err != nil {
			return "", fmt.Errorf("write %.100q: %w", rel, err)
		}
		d.add(rel, runs(i.mode), data)
	}
	return d.sum(), nil
}

// fill writes a new file.
func fill(folder *os.Root, rel string, data []byte, mode fs.FileMode) error {
	if err := folder.MkdirAll(path.Dir(rel), 0o755); err != nil {
		return err
	}
	f, err := folder.OpenFile(rel, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
}

// restage reads a staged skill. It returns an error if it is not what was
// written or its SKILL.md has changed.
func (in *Installer) restage(staging, name, root, want string) (staged, error) {
	t, err := in.Open(staging)
	if err != nil {
		return staged{}, err
	}
	defer t.Close()
	hash, files, err := hashFolder(t, name)
	if err != nil {
		return staged{}, err
	}
	s, _, err := read(t, name)
	if err != nil {
		return staged{}, err
	}
	if hash != want || s.Name != name {
		return staged{}, fault.New(pawl.ErrConflict, "skill %s changed while it was installed", name)
	}
	return staged{skill: s, path: root, hash: hash, files: files}, nil
}
