package hook

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-dev/pawl"
)

// Role is what an agent may do, whatever the rules allow it.
type Role struct {
	Tools  []string // that it may call
	Writes []string // patterns of the paths, from the workspace, that it may write; ** is any folders
}

// AnyRole is the role of agents that have none of their own. Without it they may
// do nothing.
const AnyRole = "*"

// StrictRoleGuard holds agents to their roles. It goes by what a call would
// touch, so the event must have its Access.
func StrictRoleGuard(roles map[string]Role) Hook {
	h := Hook{Name: "strict-role-guard", Priority: PriorityGuard, Points: []Point{ToolBefore}}
	if len(roles) > 0 {
		h.Run = func(_ context.Context, e Event) (Outcome, error) {
			if why := refusal(roles, e); why != "" {
				return Outcome{Block: true, Reason: why}, nil
			}
			return Outcome{}, nil
		}
	}
	return h
}

// refusal says why a role does not cover a call, or "".
func refusal(roles map[string]Role, e Event) string {
	role, ok := roles[e.Agent]
	if !ok {
		if role, ok = roles[AnyRole]; !ok {
			return fmt.Sprintf("the agent %q has no role here, so it may call no tool", e.Agent)
		}
	}
	if !slices.Contains(role.Tools, e.Tool) {
		return fmt.Sprintf("the role %s may not use %s. It has: %s. Leave this to the role whose work it is.", e.Agent, e.Tool, strings.Join(role.Tools, ", "))
	}
	for _, a := range e.Access {
		if a.Kind == pawl.AccessWrite && !role.writes(e.Dir, a.Target) {
			return fmt.Sprintf("the role %s may not write %s. It may write: %s. Leave this to the role whose work it is.", e.Agent, a.Target, strings.Join(role.Writes, ", "))
		}
	}
	return ""
}

func (r Role) writes(dir, path string) bool {
	if filepath.IsAbs(path) {
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return false
		}
		path = rel
	}
	path = filepath.Clean(path)
	return filepath.IsLocal(path) && slices.ContainsFunc(r.Writes, func(pattern string) bool {
		ok, err := doublestar.Match(pattern, filepath.ToSlash(path))
		return ok && err == nil
	})
}
