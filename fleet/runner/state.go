package runner

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/store"
)

// workspaceState is what the host stores on disk about a workspace, to survive its own restart.
type workspaceState struct {
	Dir        string       `json:"dir"`
	Tenant     store.Tenant `json:"tenant"`
	Epoch      int64        `json:"epoch"`
	Checkpoint string       `json:"checkpoint"`
	Boot       string       `json:"boot,omitempty"`
}

// intact reports whether the directory on disk can be trusted to match its state. After a reboot of the host it
// cannot: recent writes may not have reached the disk. Without a checkpoint store there is nothing better.
func (s *Workspaces) intact(m workspaceState) bool {
	return m.Boot == s.Boot || s.Checkpoints == nil
}

func (s *Workspaces) statePath(t store.Tenant, dir string) string {
	return filepath.Join(s.Dir, filepath.FromSlash(Key(t, dir))+".json")
}

// readState returns the stored state of a directory, or the zero value if it cannot be read; the workspace is then
// restored from its checkpoint.
func (s *Workspaces) readState(t store.Tenant, dir string) (m workspaceState) {
	m, ok := s.readStateFile(s.statePath(t, dir))
	if !ok || m.Dir != dir || m.Tenant != t {
		return workspaceState{}
	}
	return m
}

// readStateFile reads a state file and reports whether it is valid and stands where its content says.
func (s *Workspaces) readStateFile(path string) (m workspaceState, ok bool) {
	text, err := os.ReadFile(path)
	ok = err == nil && json.Unmarshal(text, &m) == nil && s.statePath(m.Tenant, m.Dir) == path
	return m, ok
}

// LoadStates loads the states of the workspaces that were on this host before it restarted, so that EvictIdle also
// removes those that are never entered again.
func (s *Workspaces) LoadStates() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entries == nil {
		s.entries = map[string]*workspace{}
	}
	err := filepath.WalkDir(s.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if m, ok := s.readStateFile(path); ok && s.entries[m.Dir] == nil {
			s.entries[m.Dir] = &workspace{known: true, state: m, used: info.ModTime()}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// deleteState removes the state of a workspace, in memory and on disk.
func (s *Workspaces) deleteState(w *workspace, t store.Tenant, dir string) error {
	w.state = workspaceState{}
	if err := os.Remove(s.statePath(t, dir)); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

func (s *Workspaces) writeState(m workspaceState) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	path := s.statePath(m.Tenant, m.Dir)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
