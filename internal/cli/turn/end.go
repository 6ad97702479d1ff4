package turn

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// EndSession ends the work on a session for the hooks, and tells what they say. A
// session whose turn was interrupted has not ended: whoever resumes it goes on.
func EndSession(cmd *cobra.Command, a *app.App, id pawl.SessionID, err error) error {
	if a.Runner != nil && !errors.Is(err, ErrInterrupted) {
		for _, text := range a.Runner.Stepper.End(cmd.Context(), id, hook.EndOther) {
			fmt.Fprintf(cmd.ErrOrStderr(), "pawl: %s\n", sanitize.Line(text))
		}
	}
	return err
}
