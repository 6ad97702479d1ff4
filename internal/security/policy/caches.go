package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
	dir, err := s.dirs.private("box", owner)
	if err != nil {
		return err
	}
	_, missing := os.Lstat(filepath.Join(dir, "files"))
	files, err := s.dirs.private("box", owner, "files")
	if err != nil {
		return err
	}
	if errors.Is(missing, fs.ErrNotExist) {
		if err := s.seed(files, p.Dir); err != nil {
			return err
		}
	}
	p.Writable = append(p.Writable, files)
	p.Env = append(p.Env, "XDG_CACHE_HOME="+files, "npm_config_cache="+filepath.Join(files, "npm"))
	return nil
}

// seed copies the caches that the sessions of a workspace start with.
func (s *Safety) seed(files, dir string) error {
	err := os.CopyFS(files, os.DirFS(filepath.Join(s.dirs.cache, "box", ownerOf(ownerSeed, dir))))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Cache returns the directory with the caches that sessions in a worktree start with.
// Only Pawl writes to it.
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
