package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

const (
	maxFetch   = 128 << 20              // bytes on disk of a fetch
	maxTree    = 8 << 20                // bytes of the list of a commit's files
	fetchWatch = 100 * time.Millisecond // interval between checks of the size on disk
)

// Remote is a commit to fetch.
type Remote struct {
	Address string // for CheckURL, or file:///path if Local is true
	Ref     string // a branch, a tag or the full id of a commit; "" means the remote's HEAD
	Local   bool   // permits file addresses, for tests and for CI

	// At pins the host of an https address: comma-separated IP addresses. Git then
	// resolves no name and follows no redirect. "" means no pinning.
	At string

	// Exact means that git follows no redirect, which could lead to another owner.
	Exact bool
}

// pin returns the settings that restrict git to At and Exact.
func (r Remote) pin() []setting {
	u, err := CheckURL(r.Address)
	if err == nil && r.At == "" && r.Exact {
		return []setting{{"http.followRedirects", "false"}}
	}
	if err != nil || r.At == "" {
		return nil
	}
	return []setting{{"http.curloptResolve", fmt.Sprintf("%s:%d:%s", u.Host, cmp.Or(u.Port, 443), r.At)}, {"http.followRedirects", "false"}}
}

// Fetched is one commit of a remote repository. It is kept as git objects in a
// temporary directory and is never checked out, so that its filters, hooks and
// symbolic links have no effect. The caller must close it.
type Fetched struct {
	commit string // full id
	repo   *Repo
	limit  int64
	files  []blob
	ids    map[string]string
}

// blob is a file, a symbolic link or a submodule of a commit.
type blob struct {
	path string
	mode fs.FileMode
	size int64
}

// Fetch fetches a commit without history, tags, submodules and LFS files. It bounds
// the size and the time of the transfer.
func (g *Git) Fetch(ctx context.Context, from Remote) (*Fetched, error) {
	return g.fetch(ctx, from, maxFetch)
}

func (g *Git) fetch(ctx context.Context, from Remote, limit int64) (*Fetched, error) {
	address, protocol, err := from.check()
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	dir, err := os.MkdirTemp("", "pawl-fetch-") // mode 0700, and new
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	f := &Fetched{limit: limit, ids: map[string]string{}}
	if err = f.bring(ctx, g, dir, address, protocol, from); err != nil {
		return nil, fmt.Errorf("fetch %s: %w", address, errors.Join(err, os.RemoveAll(dir)))
	}
	return f, nil
}

// check returns the normalized address and git's name of its protocol.
func (r Remote) check() (address, protocol string, err error) {
	if r.Ref != "" {
		if err := CheckRef(r.Ref); err != nil {
			return "", "", err
		}
	}
	if path, ok := strings.CutPrefix(r.Address, "file://"); ok && r.Local {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path {
			return "", "", fault.New(pawl.ErrInvalid, "%.100q is not a clean path in a repository", path)
		}
		return r.Address, "file", nil
	}
	u, err := CheckURL(r.Address)
	return u.String(), u.Scheme, err
}

// bring creates a repository, fetches the commit into it and lists its files.
func (f *Fetched) bring(ctx context.Context, g *Git, dir, address, protocol string, from Remote) error {
	if err := initialize(dir); err != nil {
		return err
	}
	var err error
	if f.repo, err = g.Open(ctx, dir); err != nil {
		return err
	}
	ref := cmp.Or(from.Ref, "HEAD")
	bounded, stop := watched(ctx, dir, f.limit)
	defer stop()
	_, err = f.repo.run(bounded, Call{Args: []string{"fetch", "--quiet", "--depth=1", "--no-tags", address}, Refs: []string{ref}, Protocols: []string{protocol}, settings: from.pin()})
	if cause := context.Cause(bounded); err != nil && cause != nil && ctx.Err() == nil {
		return cause
	}
	if err != nil {
		return err
	}
	if err := fits(dir, f.limit); err != nil {
		return err
	}
	if f.commit, err = f.repo.Commit(ctx, "FETCH_HEAD"); err != nil {
		return err
	}
	return f.list(ctx)
}

// initialize creates the minimal files of an empty repository, without running git.
func initialize(dir string) error {
	dotgit := filepath.Join(dir, ".git")
	return errors.Join(
		os.MkdirAll(filepath.Join(dotgit, "objects"), 0o700), os.MkdirAll(filepath.Join(dotgit, "refs"), 0o700),
		os.WriteFile(filepath.Join(dotgit, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600),
		os.WriteFile(filepath.Join(dotgit, "config"), []byte("[core]\n\trepositoryformatversion = 0\n\tbare = false\n"), 0o600))
}

// list reads the list of the commit's files.
func (f *Fetched) list(ctx context.Context) error {
	// The id comes from git, so it needs no --end-of-options, after which ls-tree takes -- for a path.
	out, err := f.repo.run(ctx, Call{Args: []string{"ls-tree", "-r", "-z", "-l", "--full-tree", f.commit}, Limit: maxTree})
	if err != nil {
		return err
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if entry == "" {
			continue
		}
		about, path, ok := strings.Cut(entry, "\t")
		fields := strings.Fields(about) // mode, type, id, size
		if !ok || len(fields) != 4 {
			return fault.New(pawl.ErrInvalid, "a file of %s cannot be read", f.commit)
		}
		b := blob{path: path, mode: modeOf(fields[0])}
		if fields[3] != "-" { // "-" means a submodule
			if b.size, err = strconv.ParseInt(fields[3], 10, 64); err != nil {
				return fmt.Errorf("size of %q: %w", path, err)
			}
		}
		f.files, f.ids[path] = append(f.files, b), fields[2]
	}
	return nil
}

// modeOf converts a git file mode. A submodule becomes [fs.ModeIrregular].
func modeOf(mode string) fs.FileMode {
	switch mode {
	case "100644", "100664":
		return 0o644
	case "100755":
		return 0o755
	case "120000":
		return fs.ModeSymlink
	}
	return fs.ModeIrregular
}

// Walk calls do for each file of the commit, in git's order, and stops at the first
// error. Paths are untrusted text, separated by slashes. A symbolic link has
// [fs.ModeSymlink], a submodule [fs.ModeIrregular].
func (f *Fetched) Walk(do func(path string, mode fs.FileMode, size int64) error) error {
	for _, b := range f.files {
		if err := do(b.path, b.mode, b.size); err != nil {
			return err
		}
	}
	return nil
}

// Commit returns the commit's full id.
func (f *Fetched) Commit() string { return f.commit }

// ReadFile returns the content of a file of the commit, up to MaxShow bytes.
func (f *Fetched) ReadFile(ctx context.Context, path string) ([]byte, error) {
	id, ok := f.ids[path]
	if !ok {
		return nil, fault.New(pawl.ErrNotFound, "%s does not contain %q", f.commit, path)
	}
	return f.repo.run(ctx, Call{Args: []string{"cat-file", "blob"}, Refs: []string{id}, Limit: MaxShow})
}

// Close removes the fetched objects.
func (f *Fetched) Close() error { return os.RemoveAll(f.repo.Top) }

// watched returns a context that is canceled when the files in dir exceed limit
// bytes, and a function that stops the check.
func watched(ctx context.Context, dir string, limit int64) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	tick := time.NewTicker(fetchWatch)
	go func() {
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if err := fits(dir, limit); err != nil {
					cancel(err)
					return
				}
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// fits returns an error if the files in dir exceed limit bytes. It ignores files
// that are removed during the check.
func fits(dir string, limit int64) error {
	var total int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // it was removed, so it has no size
		}
		if info, err := d.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	if total > limit {
		return fault.New(pawl.ErrInvalid, "the repository is larger than %d bytes", limit)
	}
	return nil
}
