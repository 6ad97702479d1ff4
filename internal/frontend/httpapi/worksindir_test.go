package httpapi

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/api"
)

// TestWorksAreKnown: whatever is asked of a session either does nothing in its
// directory, or is held to the directories that may be worked in. A new route has to say.
func TestWorksAreKnown(t *testing.T) {
	t.Parallel()
	idle := []string{"renameSession", "shareSession", "deleteSession", "withdrawPrompt", "cancelSession", "stopMission"}
	for _, r := range api.Routes {
		if !r.Scope.Covers(api.ScopeRun) || !strings.Contains(r.Path, "{id}") {
			continue
		}
		if worksInDir[r.Name] == slices.Contains(idle, r.Name) {
			t.Errorf("%s: say whether it works in the session's folder", r.Name)
		}
	}
}
