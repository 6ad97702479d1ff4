package hook

import (
	"context"
	"slices"
)

// Builtins configures the built-in hooks. A hook whose field is not set is
// left out; without Roles, the role guard uses the event's role.
type Builtins struct {
	Activity  *Activity
	Roles     map[string]Role
	Mask      func(text string) string
	Resources func(context.Context, Event) ([]Resource, error)
	Sanity    func(Event) Finding
}

// Hooks returns the hooks. To add one, add a file to this package and a line
// here.
func (b Builtins) Hooks() []Hook {
	hooks := []Hook{
		UserActivity(b.Activity),
		StrictRoleGuard(b.Roles),
		SecretScanner(b.Mask),
		ResourceControl(b.Resources),
		SanityCheck(b.Sanity),
	}
	return slices.DeleteFunc(hooks, func(h Hook) bool { return h.Run == nil })
}
