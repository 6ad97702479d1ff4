package policy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// The owners of caches that are no sessions. Sessions of a workspace share a server, and
// nobody else uses its caches; nor those of commands that a person runs.
const (
	ownerServer = "server"
	ownerPerson = "person"
	ownerSeed   = "seed" // what the sessions of a mission's worktree start with
)

// ownerOf returns the name of an owner of caches for a workspace.
func ownerOf(kind, dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return kind + "-" + hex.EncodeToString(sum[:8])
}

// useCaches gives a profile caches of its own: nobody can write those of the user, nor of
// another session, because programs run what they find there.
func (s *Safety) useCaches(p *sandbox.Profile, owner string) error {
	if _, err := s.dirs.private("box", owner); err != nil {
		return err
	}
	var err error
	p.CacheHome, err = s.dirs.private("box", owner, "files")
	return err
}

// cacheNames are caches of build tools in the user's cache directory, and links to them
// in that of a command.
var cacheNames = []string{
	"go-build", "golangci-lint", "staticcheck", "pip", "uv", "pypoetry", "pre-commit", "ruff", "yarn", "pnpm", "node-gyp", "node/corepack",
	"ms-playwright", "Cypress", "puppeteer", "electron", "ccache", "sccache", "deno", "zig", "composer", "coursier", "bazelisk",
}

// homeCaches are caches of build tools elsewhere in a home directory. A command finds
// them at their own path, or by the link in its cache directory.
var homeCaches = []struct{ path, link string }{
	{".npm/_cacache", "npm/_cacache"},
	{"go/pkg/mod", ""}, {".cargo/registry", ""}, {".cargo/git", ""}, {".m2/repository", ""}, {".gradle/caches", ""}, {".ivy2/cache", ""}, {".coursier", ""},
	{".nuget/packages", ""}, {".bun/install/cache", ""}, {".local/share/pnpm/store", ""}, {".pub-cache/hosted", ""}, {".cabal/packages", ""}, {".conan2/p", ""},
}

// maxCaches bounds the caches of the user that a command can use.
const maxCaches = 16

// userCache is a cache of the user.
type userCache struct {
	dir  string // its real path
	link string // in the cache directory of a command, or ""
}

// userCaches returns the caches of the user that a command with the profile can use. It
// leaves out those that the user makes writable, hides or works in.
func (s *Safety) userCaches(p sandbox.Profile) (list []userCache) {
	taken := slices.Concat([]string{p.Dir, s.dirs.cache}, p.Dirs, p.Writable, p.Readable, p.Hidden)
	add := func(path, link string) {
		dir, err := filepath.EvalSymlinks(path)
		if err != nil || len(list) == maxCaches {
			return // most of them do not exist
		}
		if !isDir(dir) || !sandbox.CanShow(dir) {
			return
		}
		conflicts := func(other string) bool { return filepath.IsAbs(other) && overlap(dir, other) }
		if slices.ContainsFunc(taken, conflicts) || slices.ContainsFunc(list, func(c userCache) bool { return overlap(dir, c.dir) }) {
			return
		}
		list = append(list, userCache{dir, link})
	}
	if dir, err := os.UserCacheDir(); err == nil {
		for _, name := range cacheNames {
			add(filepath.Join(dir, name), name)
		}
	}
	for _, c := range homeCaches {
		add(filepath.Join(s.home, c.path), c.link)
	}
	if path := os.Getenv("GOPATH"); path != "" {
		add(filepath.Join(filepath.SplitList(path)[0], "pkg", "mod"), "")
	}
	if path := os.Getenv("CARGO_HOME"); path != "" {
		add(filepath.Join(path, "registry"), "")
		add(filepath.Join(path, "git"), "")
	}
	return list
}

// withCaches calls wrap with a profile whose command starts with the caches of the user,
// and in a worktree of a mission with those of the mission's checks. The command has
// copy-on-write views of them. If keep is true, what it writes is kept for the next
// command of the same owner. Where such views are impossible, caches are empty at
// first, or copied from those of the checks.
func (s *Safety) withCaches(ctx context.Context, p sandbox.Profile, keep bool, wrap func(sandbox.Profile) (sandbox.Wrapped, error)) (sandbox.Wrapped, error) {
	list := s.userCaches(p)
	seed := filepath.Join(s.dirs.cache, "box", ownerOf(ownerSeed, p.Dir))
	if isDir(seed) {
		list = slices.DeleteFunc(list, func(c userCache) bool { return c.link != "" })
		list = append(list, userCache{dir: seed})
	}
	if len(list) == 0 || !s.cacheViews(ctx, list) {
		linkCaches(p.CacheHome, nil)
		if err := copySeed(p.CacheHome, seed); err != nil {
			return sandbox.Wrapped{}, err
		}
		return wrap(p)
	}
	linkCaches(p.CacheHome, list)
	l, err := openLayers(filepath.Dir(p.CacheHome), list, keep)
	if err != nil {
		return sandbox.Wrapped{}, fmt.Errorf("open the caches of the command: %w", err)
	}
	p.Caches = l.views
	if isDir(seed) {
		p.CacheHome = seed
	}
	w, err := wrap(p)
	if err != nil {
		l.close()
		return w, err
	}
	w.OnClose(l.close)
	return w, nil
}

// cacheViews reports whether this machine can show caches as copy-on-write views. It
// tries once.
func (s *Safety) cacheViews(ctx context.Context, list []userCache) bool {
	s.views.mu.Lock()
	defer s.views.mu.Unlock()
	var name strings.Builder
	for _, c := range list {
		name.WriteString(c.dir + "\x00")
	}
	works, known := s.views.caches[name.String()]
	if !known {
		works = s.tryCaches(context.WithoutCancel(ctx), list) == nil
		if s.views.caches == nil {
			s.views.caches = map[string]bool{}
		}
		s.views.caches[name.String()] = works
	}
	return works
}

func (s *Safety) tryCaches(ctx context.Context, list []userCache) error {
	backend, _ := s.detect(ctx)
	viewer, ok := backend.(sandbox.Viewer)
	if !ok {
		return errNoViews
	}
	boxes, err := s.dirs.private("box")
	if err != nil {
		return err
	}
	own, err := os.MkdirTemp(boxes, "try-")
	if err != nil {
		return err
	}
	defer tree.RemoveAll(own)
	l, err := openLayers(own, list, true)
	if err != nil {
		return err
	}
	defer l.close()
	dir, err := os.MkdirTemp("", "pawl-try-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(dir) }() // it is empty
	return viewer.TryView(ctx, sandbox.Profile{Dir: dir, ReadOnly: true, Caches: l.views})
}

// isDir reports whether a path is a directory, and no link to one.
func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// linkCaches creates links to caches in a command's cache directory, and removes those to
// other ones. Where the command has put something else, it stays.
func linkCaches(files string, list []userCache) {
	root, err := os.OpenRoot(files)
	if err != nil {
		return // the caches of the command are empty at first
	}
	defer func() { _ = root.Close() }() // nothing is lost
	for _, link := range cacheLinks() {
		to, err := root.Readlink(link)
		if err == nil && !slices.Contains(list, userCache{to, link}) {
			_ = root.Remove(link) // it may lead nowhere
		}
	}
	for _, c := range list {
		if c.link == "" {
			continue
		}
		if dir := filepath.Dir(c.link); dir != "." {
			_ = root.MkdirAll(dir, 0o700) // then there is no link
		}
		_ = root.Symlink(c.dir, c.link)
	}
}

// cacheLinks returns all links that linkCaches may create.
func cacheLinks() []string {
	links := slices.Clone(cacheNames)
	for _, c := range homeCaches {
		if c.link != "" {
			links = append(links, c.link)
		}
	}
	return links
}

// copySeed copies the caches that the sessions of a workspace start with, unless a command
// has used caches before.
func copySeed(files, seed string) error {
	if !isDir(seed) {
		return nil
	}
	if used, err := os.ReadDir(files); err != nil || len(used) > 0 {
		return err
	}
	return os.CopyFS(files, os.DirFS(seed))
}

// Cache returns the directory with the caches that sessions in a worktree start with.
// Only Pawl writes to it, and never to a file that exists.
func (s *Safety) Cache(dir string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	return s.dirs.private("box", ownerOf(ownerSeed, dir))
}

// DropCache removes the caches of a worktree and of its worker, before it is removed
// itself.
func (s *Safety) DropCache(dir string) error {
	cache, err := s.Cache(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	tree.RemoveAll(cache)
	for _, kind := range []string{ownerServer, ownerPerson} {
		tree.RemoveAll(filepath.Join(filepath.Dir(cache), ownerOf(kind, dir)))
	}
	s.dirs.drop(pawl.SessionID(strings.ToUpper(filepath.Base(dir)))) // see Admit
	return nil
}
