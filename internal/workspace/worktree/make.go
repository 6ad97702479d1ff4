package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
)

// maxMakers bounds the worktrees that are created concurrently.
const maxMakers = 8

// plan holds a commit to check out into one or more worktrees.
type plan struct {
	commit  string
	entries []git.Entry // in git's order
	folders []folder    // parents before their subdirectories
	links   []int       // indexes of the entries that are symbolic links
	*contents
}

// A directory of a commit. Its path is "." or a local path.
type folder struct {
	path  string
	files []int // indexes of the entries that are files in it
}

// Make creates a worktree for each name, with the commit checked out as it is
// stored: without filters and line-ending conversion, and with empty directories
// for submodules. It creates all or none. It fails with pawl.ErrConflict if one
// exists already: to repeat a call that may have succeeded, remove the worktrees
// first.
func (t *Trees) Make(ctx context.Context, commit string, names ...string) error {
	for _, name := range names {
		if err := checkName(name); err != nil {
			return err
		}
		if _, err := os.Lstat(t.Path(name)); !errors.Is(err, fs.ErrNotExist) {
			return fault.New(pawl.ErrConflict, "create worktree %s: it already exists", t.Path(name))
		}
	}
	p, err := t.plan(ctx, commit)
	if err != nil {
		return fmt.Errorf("create worktrees of %s: %w", commit, err)
	}
	defer p.close()
	var wait sync.WaitGroup
	slots := make(chan struct{}, min(maxMakers, runtime.GOMAXPROCS(0)))
	faults := make([]error, len(names))
	for i, name := range names {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			if err := t.make(ctx, p, name); err != nil {
				faults[i] = fmt.Errorf("create worktree %s: %w", t.Path(name), err)
			}
		})
	}
	wait.Wait()
	if err := errors.Join(faults...); err != nil {
		for i, name := range names {
			if faults[i] == nil {
				err = errors.Join(err, t.Remove(name))
			}
		}
		return err
	}
	return nil
}

// plan reads a commit.
func (t *Trees) plan(ctx context.Context, commit string) (*plan, error) {
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return nil, err
	}
	id, err := t.Repo.Commit(ctx, commit)
	if err != nil {
		return nil, err
	}
	p := &plan{commit: id}
	if p.entries, err = t.Repo.Tree(ctx, id); err != nil {
		return nil, err
	}
	if len(p.entries) > t.maxFiles() {
		return nil, fault.New(pawl.ErrInvalid, "the commit has more than %d files: use a smaller repository", t.maxFiles())
	}
	if err := p.arrange(); err != nil {
		return nil, err
	}
	p.contents, err = t.fetch(ctx, p.entries, t.maxBytes())
	return p, err
}

// arrange groups the entries by directory. It validates their paths, since a commit
// may be crafted.
func (p *plan) arrange() error {
	at := map[string]*folder{".": {path: "."}}
	for i, e := range p.entries {
		if err := checkPath(e.Path); err != nil {
			return err
		}
		dir := path.Dir(e.Path)
		if e.Submodule() {
			dir = e.Path
		}
		for above := dir; at[above] == nil; above = path.Dir(above) {
			at[above] = &folder{path: above}
		}
		switch e.Mode {
		case modeSubmodule:
		case modeLink:
			p.links = append(p.links, i)
		case modeFile, modeExec:
			at[dir].files = append(at[dir].files, i)
		default:
			return fault.New(pawl.ErrInvalid, "%q has mode %s, which Pawl does not support", e.Path, e.Mode)
		}
	}
	for _, f := range at {
		p.folders = append(p.folders, *f)
	}
	slices.SortFunc(p.folders, func(a, b folder) int { return strings.Compare(a.path, b.path) })
	return nil
}

// make builds a worktree under a temporary name and renames it at the end, so that
// a worktree with its final name is complete.
func (t *Trees) make(ctx context.Context, p *plan, name string) (err error) {
	h, err := t.hold(prefixMaking)
	if err != nil {
		return err
	}
	defer h.release()
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(h.path))
		}
	}()
	t.reach("held")
	if err := t.Repo.Borrow(h.path, branch, p.commit); err != nil {
		return err
	}
	t.reach("borrowed")
	if t.Whole {
		if err := t.Repo.Endow(ctx, h.path, p.commit); err != nil {
			return err
		}
	}
	looks, err := p.lay(ctx, h.path)
	if err != nil {
		return err
	}
	index, err := encodeIndex(p.entries, looks)
	if err != nil {
		return err
	}
	t.reach("laid")
	if err := os.WriteFile(filepath.Join(h.path, ".git", "index"), index, 0o600); err != nil {
		return err
	}
	t.reach("indexed")
	if err := os.Rename(h.path, t.Path(name)); err != nil {
		return err
	}
	t.reach("made")
	return nil
}

// lay writes the files of a commit into a new directory and returns their metadata.
// It creates symbolic links last: until then no path of a crafted commit can lead
// out of the directory.
func (p *plan) lay(ctx context.Context, dir string) ([]unix.Stat_t, error) {
	root, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	defer unix.Close(root) //nolint:errcheck // it is a directory
	looks := make([]unix.Stat_t, len(p.entries))
	buffer := make([]byte, 1<<16)
	for _, f := range p.folders {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if f.path != "." {
			if err := unix.Mkdirat(root, f.path, 0o755); err != nil {
				return nil, &os.PathError{Op: "make", Path: f.path, Err: err}
			}
		}
		if err := p.layFiles(root, f, looks, buffer); err != nil {
			return nil, err
		}
	}
	for _, i := range p.links {
		e := p.entries[i]
		target, err := p.read(e.ID, buffer)
		if err == nil {
			err = unix.Symlinkat(string(target), root, e.Path)
		}
		if err == nil {
			err = unix.Fstatat(root, e.Path, &looks[i], unix.AT_SYMLINK_NOFOLLOW)
		}
		if err != nil {
			return nil, &os.PathError{Op: "link", Path: e.Path, Err: err}
		}
	}
	return looks, nil
}

// layFiles writes the files of one directory.
func (p *plan) layFiles(root int, f folder, looks []unix.Stat_t, buffer []byte) error {
	if len(f.files) == 0 {
		return nil
	}
	dir, err := openAt(root, f.path, unix.O_DIRECTORY)
	if err != nil {
		return &os.PathError{Op: "open", Path: f.path, Err: err}
	}
	defer unix.Close(dir) //nolint:errcheck // it is a directory
	for _, i := range f.files {
		e := p.entries[i]
		data, err := p.read(e.ID, buffer)
		if err == nil {
			err = layFile(dir, path.Base(e.Path), e.Mode, data, &looks[i])
		}
		if err != nil {
			return &os.PathError{Op: "write", Path: e.Path, Err: err}
		}
	}
	return nil
}

// layFile writes a new file in an open directory and stores its metadata in look.
func layFile(dir int, name, mode string, data []byte, look *unix.Stat_t) error {
	perm := uint32(0o644)
	if mode == modeExec {
		perm = 0o755
	}
	fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, perm)
	if err != nil {
		return err
	}
	for len(data) > 0 && err == nil {
		var n int
		if n, err = unix.Write(fd, data); errors.Is(err, unix.EINTR) {
			n, err = max(n, 0), nil
		}
		data = data[max(n, 0):]
	}
	if err == nil {
		err = unix.Fstat(fd, look)
	}
	return errors.Join(err, unix.Close(fd))
}

// openAt opens an entry of an open directory for reading. It fails for a symbolic
// link, and does not block on a named pipe.
func openAt(fd int, name string, flags int) (int, error) {
	for {
		opened, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return opened, err
		}
	}
}
