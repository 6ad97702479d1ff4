package hook

import (
	"context"
	"slices"
)

// Builtins are what the hooks of pawl's own are made with. One whose part is
// missing is left out; the guard of roles goes by the event if there are no Roles.
type Builtins struct {
	Activity  *Activity
	Roles     map[string]Role
	Mask      func(text string) string
	Resources func(context.Context, Event) ([]Resource, error)
	Sanity    func(Event) Finding
}

// Hooks returns the hooks. A new one is a file beside this one, and a line here.
func (b Builtins) Hooks() []Hook {
	hooks := []Hook{
		UserActivity(b.Activity),
		StrictRoleGuard(b.Roles),
		SecretScanner(b.Mask),
		ResourceControl(b.Resources),
		SanityCheck(b.Sanity),
		// Yours.
	}
	return slices.DeleteFunc(hooks, func(h Hook) bool { return h.Run == nil })
}
