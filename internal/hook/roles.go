package hook

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-dev/pawl"
)

// Role restricts an agent, whatever the permission rules allow.
type Role struct {
	Tools    []string // tools that it may call
	Writes   []string // patterns of the paths, relative to the workspace, that it may write; ** matches any directories
	Anywhere bool     // it may write wherever the rules allow
}

// AnyRole is the role of agents without one of their own. If it is missing,
// they may do nothing.
const AnyRole = "*"

// StrictRoleGuard returns a hook that enforces roles: that of the event and,
// if there are roles, that of the agent's name. It checks the accesses of a
// call, so the event must have them.
func StrictRoleGuard(roles map[string]Role) Hook {
	return Hook{
		Name: "strict-role-guard", Priority: PriorityGuard, Points: []Point{ToolBefore},
		Run: func(_ context.Context, e Event) (Outcome, error) {
			var why string
			if e.Role != nil {
				why = e.Role.refusal(e)
			}
			if why == "" && len(roles) > 0 {
				why = refusal(roles, e)
			}
			return Outcome{Block: why != "", Reason: why}, nil
		},
	}
}

// refusal returns why the role of that name does not cover a call, or "".
func refusal(roles map[string]Role, e Event) string {
	role, ok := roles[e.Agent]
	if !ok {
		if role, ok = roles[AnyRole]; !ok {
			return fmt.Sprintf("the agent %q has no role here, so it may call no tool", e.Agent)
		}
	}
	return role.refusal(e)
}

func (role Role) refusal(e Event) string {
	if !slices.Contains(role.Tools, e.Tool) {
		return fmt.Sprintf("the role %s may not use %s. It has: %s. Leave this to the role whose work it is.", e.Agent, e.Tool, strings.Join(role.Tools, ", "))
	}
	for _, a := range e.Access {
		if a.Kind == pawl.AccessWrite && !role.Anywhere && !role.writes(e.Dir, a.Target) {
			return fmt.Sprintf("the role %s may not write %s. It may write: %s. Leave this to the role whose work it is.", e.Agent, a.Target, cmp.Or(strings.Join(role.Writes, ", "), "nothing"))
		}
	}
	return ""
}

func (role Role) writes(dir, path string) bool {
	if filepath.IsAbs(path) {
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return false
		}
		path = rel
	}
	path = filepath.Clean(path)
	return filepath.IsLocal(path) && slices.ContainsFunc(role.Writes, func(pattern string) bool {
		ok, err := doublestar.Match(pattern, filepath.ToSlash(path))
		return ok && err == nil
	})
}
