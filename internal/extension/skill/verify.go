package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config/userfile"
	"github.com/pawl-dev/pawl/internal/fault"
)

// State is the state of a skill in an installer's directory.
type State string

// The states.
const (
	Whole   State = "whole"   // as installed
	Altered State = "changed" // changed: it is not loaded
	Missing State = "missing"
	ByHand  State = "by hand" // not installed by pawl: it is loaded as it is
)

// Status is the status of a skill in an installer's directory.
type Status struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	Entry Entry  `json:"entry,omitzero"`
	Why   string `json:"why,omitempty"`
}

// Verify compares all skills of the directory with what was installed, sorted
// by name.
func (in *Installer) Verify() ([]Status, error) {
	t, err := in.Open(in.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("verify skills: %w", err)
	}
	defer t.Close()
	lock, err := readLock(t, ".")
	if err != nil {
		return nil, fmt.Errorf("verify skills: %s: %w", filepath.Join(in.Dir, LockFile), err)
	}
	var list []Status
	for _, name := range slices.Sorted(maps.Keys(lock.Skills)) {
		s := Status{Name: name, State: Whole, Entry: lock.Skills[name]}
		hash, _, err := in.present(t, name)
		switch {
		case err != nil:
			s.State, s.Why = Altered, err.Error()
		case hash == "":
			s.State = Missing
		case hash != s.Entry.SHA256:
			s.State = Altered
		}
		list = append(list, s)
	}
	entries, err := os.ReadDir(in.Dir)
	for _, e := range entries {
		if _, ok := lock.Skills[e.Name()]; !ok && e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			list = append(list, Status{Name: e.Name(), State: ByHand})
		}
	}
	slices.SortFunc(list, func(a, b Status) int { return strings.Compare(a.Name, b.Name) })
	return list, err
}

// Remove removes an installed skill. It refuses to remove one that was not
// installed by pawl.
func (in *Installer) Remove(name string) error {
	lockPath := filepath.Join(in.Dir, LockFile)
	if _, err := os.Lstat(in.Dir); err != nil {
		return fault.New(pawl.ErrNotFound, "skill %.80q was not installed", name)
	}
	unlock, err := userfile.Lock(lockPath)
	if err != nil {
		return fmt.Errorf("remove skill: %w", err)
	}
	defer unlock()
	lock, err := in.lock()
	if err != nil {
		return fmt.Errorf("remove skill: %w", err)
	}
	if _, ok := lock.Skills[name]; !ok {
		return fault.New(pawl.ErrNotFound, "skill %.80q was not installed by Pawl", name).Hint("To remove it, delete its directory.")
	}
	trash, err := os.MkdirTemp(in.Dir, ".staging-")
	if err != nil {
		return fmt.Errorf("remove skill: %w", err)
	}
	if err := os.Rename(filepath.Join(in.Dir, name), filepath.Join(trash, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("remove skill %s: %w", name, err), os.RemoveAll(trash))
	}
	delete(lock.Skills, name)
	return errors.Join(userfile.Replace(lockPath, lock, maxLock), os.RemoveAll(trash))
}
