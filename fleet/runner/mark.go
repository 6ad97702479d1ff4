package runner

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawl-dev/pawl"
)

// mark is what the host remembers of a workspace when it ends.
type mark struct {
	Dir        string      `json:"dir"`
	Tenant     pawl.Tenant `json:"tenant"`
	Epoch      int64       `json:"epoch"`
	Checkpoint string      `json:"checkpoint"`
	Boot       string      `json:"boot,omitempty"`
}

// sound reports whether a directory is what its mark says. What was written before the
// machine started anew need not be: it may not have come to the disk. Where nothing
// is kept there is nothing better.
func (s *Workspaces) sound(m mark) bool {
	return m.Boot == s.Boot || s.Keeper == nil
}

func (s *Workspaces) markPath(t pawl.Tenant, dir string) string {
	return filepath.Join(s.Dir, filepath.FromSlash(Key(t, dir))+".json")
}

// readMark returns what is remembered of a directory; nothing if that cannot be read:
// then it is restored.
func (s *Workspaces) readMark(t pawl.Tenant, dir string) (m mark) {
	m, ok := s.markAt(s.markPath(t, dir))
	if !ok || m.Dir != dir || m.Tenant != t {
		return mark{}
	}
	return m
}

// markAt reads a mark, and reports whether the file is one that belongs there.
func (s *Workspaces) markAt(path string) (m mark, ok bool) {
	text, err := os.ReadFile(path)
	ok = err == nil && json.Unmarshal(text, &m) == nil && s.markPath(m.Tenant, m.Dir) == path
	return m, ok
}

// Remember makes the workspaces known that were here when the host ended: else
// nobody would remove those that nobody enters again.
func (s *Workspaces) Remember() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spaces == nil {
		s.spaces = map[string]*space{}
	}
	err := filepath.WalkDir(s.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if m, ok := s.markAt(path); ok && s.spaces[m.Dir] == nil {
			s.spaces[m.Dir] = &space{known: true, mark: m, used: info.ModTime()}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// unmark forgets what is remembered of a directory.
func (s *Workspaces) unmark(w *space, t pawl.Tenant, dir string) error {
	w.mark = mark{}
	if err := os.Remove(s.markPath(t, dir)); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

func (s *Workspaces) writeMark(m mark) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	path := s.markPath(m.Tenant, m.Dir)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
