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
)

const (
	maxFetch   = 128 << 20 // bytes that a fetch may leave on the disk
	maxTree    = 8 << 20   // bytes of the list of a commit's files
	fetchWatch = 100 * time.Millisecond
)

// Remote is a commit to be fetched.
type Remote struct {
	Address string // for CheckURL, or file:///path if Local says so
	Ref     string // a branch, a tag or the full id of a commit; "" means the remote's HEAD
	Local   bool   // the address may be a repository on this machine: for tests and for CI

	// At is where the host of an https address is: IP addresses with commas between
	// them. Git asks nobody else then, and follows no redirect. "" lets it look.
	At string
}

// pin are the settings that hold git to At.
func (r Remote) pin() []setting {
	u, err := CheckURL(r.Address)
	if err != nil || r.At == "" {
		return nil
	}
	return []setting{{"http.curloptResolve", fmt.Sprintf("%s:%d:%s", u.Host, cmp.Or(u.Port, 443), r.At)}, {"http.followRedirects", "false"}}
}

// Fetched is one commit of a repository elsewhere. Its files are in git's own
// store, in a directory of its own, and nowhere else: none is checked out, so that
// no filter, hook or link of it has any effect. Close it.
type Fetched struct {
	commit string // its full id
	repo   *Repo
	limit  int64
	files  []blob
	ids    map[string]string
}

// blob is a file of a commit, or a link, or a submodule.
type blob struct {
	path string
	mode fs.FileMode
	size int64
}

// Fetch brings a commit, without its history, tags, submodules, or files that
// are kept elsewhere. It bounds what it brings and the time that it takes.
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
	if err = f.bring(ctx, g, dir, address, protocol, from.Ref); err != nil {
		return nil, fmt.Errorf("fetch %s: %w", address, errors.Join(err, os.RemoveAll(dir)))
	}
	return f, nil
}

// check returns the address in its one spelling, and git's name for the way there.
func (r Remote) check() (address, protocol string, err error) {
	if r.Ref != "" {
		if err := CheckRef(r.Ref); err != nil {
			return "", "", err
		}
	}
	if path, ok := strings.CutPrefix(r.Address, "file://"); ok && r.Local {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path {
			return "", "", fmt.Errorf("%.100q is no plain path of a repository: %w", path, pawl.ErrInvalid)
		}
		return r.Address, "file", nil
	}
	u, err := CheckURL(r.Address)
	return u.String(), u.Scheme, err
}

// bring makes a repository, fetches into it and lists what has come.
func (f *Fetched) bring(ctx context.Context, g *Git, dir, address, protocol, ref string) error {
	if err := initialize(dir); err != nil {
		return err
	}
	var err error
	if f.repo, err = g.Open(ctx, dir); err != nil {
		return err
	}
	if ref == "" {
		ref = "HEAD"
	}
	bounded, stop := watched(ctx, dir, f.limit)
	defer stop()
	_, err = f.repo.run(bounded, Call{Args: []string{"fetch", "--quiet", "--depth=1", "--no-tags", address}, Refs: []string{ref}, Protocols: []string{protocol}})
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

// initialize makes an empty repository, by hand: it is all that git needs.
func initialize(dir string) error {
	dotgit := filepath.Join(dir, ".git")
	return errors.Join(
		os.MkdirAll(filepath.Join(dotgit, "objects"), 0o700), os.MkdirAll(filepath.Join(dotgit, "refs"), 0o700),
		os.WriteFile(filepath.Join(dotgit, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600),
		os.WriteFile(filepath.Join(dotgit, "config"), []byte("[core]\n\trepositoryformatversion = 0\n\tbare = false\n"), 0o600))
}

// list reads what the commit holds.
func (f *Fetched) list(ctx context.Context) error {
	// The id is git's own. Behind --end-of-options ls-tree would take -- for a path.
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
			return fmt.Errorf("a file of %s cannot be read: %w", f.commit, pawl.ErrInvalid)
		}
		b := blob{path: path, mode: modeOf(fields[0])}
		if fields[3] != "-" { // which a submodule has
			if b.size, err = strconv.ParseInt(fields[3], 10, 64); err != nil {
				return fmt.Errorf("the size of %q: %w", path, err)
			}
		}
		f.files, f.ids[path] = append(f.files, b), fields[2]
	}
	return nil
}

// modeOf reads git's mode of a file. A submodule is neither a file nor a link.
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

// Walk calls f for each file of the commit, in git's order. Paths are third parties'
// texts, with slashes. A link has [fs.ModeSymlink], a submodule
// [fs.ModeIrregular].
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

// ReadFile returns a file as the commit has it, up to MaxShow bytes.
func (f *Fetched) ReadFile(ctx context.Context, path string) ([]byte, error) {
	id, ok := f.ids[path]
	if !ok {
		return nil, fmt.Errorf("%s has no %q: %w", f.commit, path, pawl.ErrNotFound)
	}
	return f.repo.run(ctx, Call{Args: []string{"cat-file", "blob"}, Refs: []string{id}, Limit: MaxShow})
}

// Close removes what was fetched.
func (f *Fetched) Close() error { return os.RemoveAll(f.repo.Top) }

// watched returns a context that ends when a directory holds more than may be.
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

// fits refuses a directory that holds more than limit bytes. What goes away while
// it looks does not count.
func fits(dir string, limit int64) error {
	var total int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // it no longer exists, and so is its size
		}
		if info, err := d.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	if total > limit {
		return fmt.Errorf("the repository has more than %d bytes: %w", limit, pawl.ErrInvalid)
	}
	return nil
}
