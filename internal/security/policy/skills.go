package policy

import (
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/config"
)

// trustedOwners returns the owners whose skills agents may install without asking: those of
// the administrator or, without such a list, the user's. A project has no say.
func (s *Safety) trustedOwners(user config.User) ([]string, error) {
	m, err := s.Managed()
	if err != nil {
		return nil, err
	}
	if m.Skills != nil {
		return m.Skills.Owners()
	}
	return user.Skills.Owners()
}

// userSkills returns the directory of the user's installed skills, whose scripts commands
// may run, unless it is in one of the workspaces, is reached through a link or does not
// exist.
func (s *Safety) userSkills(workspaces []string) []string {
	home, err := filepath.EvalSymlinks(s.home)
	if err != nil {
		return nil
	}
	dir := filepath.Join(home, ".agents", "skills")
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || real != dir || slices.ContainsFunc(workspaces, func(w string) bool { return holds(w, dir) || holds(dir, w) }) {
		return nil
	}
	return directories([]string{dir})
}
