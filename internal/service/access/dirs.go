package access

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/pawl-dev/pawl"
)

// Roots are the directories that a server is for, by their real paths. nil means all directories.
type Roots []string

// Contains reports whether a directory is in one of the roots, or below. Symbolic links count as what
// they lead to now. Of a directory that does not exist, the part that does counts.
func (r Roots) Contains(dir string) bool {
	if r == nil {
		return true
	}
	real, err := resolve(dir)
	if err != nil {
		return false
	}
	for _, root := range r {
		if rel, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// resolve returns the real path of a directory that may not exist.
func resolve(dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", errors.New("not an absolute path")
	}
	real, err := filepath.EvalSymlinks(dir)
	if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
		return real, err
	}
	parent, err := resolve(filepath.Dir(dir))
	return filepath.Join(parent, filepath.Base(dir)), err
}

// served reports whether a session works in a directory of the server. A subagent does if the session
// that started it does: the workers of a mission have worktrees of their own.
func (s *service) served(ctx context.Context, row pawl.Session) (bool, error) {
	if s.access.Roots == nil {
		return true, nil
	}
	for range maxDepth {
		if row.Parent == "" {
			break
		}
		above, err := s.next.Get(ctx, row.Parent)
		if errors.Is(err, pawl.ErrNotFound) {
			break
		}
		if err != nil {
			return false, err
		}
		row = above
	}
	return s.access.Roots.Contains(row.Dir), nil
}

// list returns the sessions that match and are in a directory of the server. It removes sessions of
// other directories from the page, and reads the next page only if that leaves none: a page can have
// fewer sessions than the limit and still have a next one.
func (s *service) list(ctx context.Context, f pawl.Filter) (pawl.SessionPage, error) {
	for {
		page, err := s.next.List(ctx, f)
		if err != nil || s.access.Roots == nil {
			return page, err
		}
		var found []pawl.Session
		for _, row := range page.Sessions {
			ok, err := s.served(ctx, row)
			if err != nil {
				return pawl.SessionPage{}, err
			}
			if ok {
				found = append(found, row)
			}
		}
		if len(found) > 0 || page.Next == "" {
			return pawl.SessionPage{Sessions: found, Next: page.Next}, nil
		}
		f.Cursor = page.Next
	}
}

// usage returns the usage that matches, of sessions in a directory of the server.
func (s *service) usage(ctx context.Context, f pawl.UsageFilter) (found []pawl.UsageRow, err error) {
	rows, err := s.next.Usage(ctx, f)
	if err != nil || s.access.Roots == nil {
		return rows, err
	}
	seen := map[pawl.SessionID]bool{}
	for _, r := range rows {
		ok, known := seen[r.Session]
		if !known {
			_, err := s.get(ctx, r.Session)
			if err != nil && !errors.Is(err, pawl.ErrNotFound) {
				return nil, err
			}
			ok = err == nil
			seen[r.Session] = ok
		}
		if ok {
			found = append(found, r)
		}
	}
	return found, nil
}
