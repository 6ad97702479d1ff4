package policy

import (
	"path/filepath"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// maxDirs bounds the further project directories of a session.
const maxDirs = 16

// CheckDirs returns an error unless directories can be further project directories of a
// session that works in dir. They are given by their real paths.
func (s *Safety) CheckDirs(dir string, more []string) error {
	if len(more) == 0 {
		return nil
	}
	if len(more) > maxDirs {
		return fault.New(pawl.ErrInvalid, "%d project directories are added: at most %d can be", len(more), maxDirs)
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	if _, worker, err := s.Worktree(dir); err != nil || worker {
		return fault.New(pawl.ErrDenied, "a mission worker has no further project directories")
	}
	if s.Allow != nil {
		return fault.New(pawl.ErrDenied, "sessions of a fleet have no further project directories")
	}
	own, err := privateFiles()
	if err != nil {
		return err
	}
	taken := []string{dir}
	for _, path := range more {
		if err := sandbox.CheckDir("project directory", path); err != nil {
			return fault.New(pawl.ErrInvalid, "%w", err)
		}
		for _, other := range taken {
			if overlap(path, other) {
				return fault.New(pawl.ErrInvalid, "project directory %s: one of it and %s contains the other", path, other)
			}
		}
		for _, private := range own {
			if overlap(path, private) {
				return fault.New(pawl.ErrDenied, "project directory %s: Pawl's own files are there", path)
			}
		}
		taken = append(taken, path)
	}
	return nil
}

// privateFiles returns the real paths of Pawl's own files: data, configuration and cache.
func privateFiles() ([]string, error) {
	own, err := ownFiles()
	if err != nil {
		return nil, err
	}
	cache, err := config.Cache()
	if err != nil {
		return nil, err
	}
	own = append(own, cache)
	for i, path := range own {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			own[i] = real
		}
	}
	return own, nil
}

// overlap reports whether one of two clean paths contains the other, or both are equal.
func overlap(a, b string) bool {
	for _, pair := range [][2]string{{a, b}, {b, a}} {
		if rel, err := filepath.Rel(pair[0], pair[1]); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}
