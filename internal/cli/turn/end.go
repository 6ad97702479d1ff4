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

// EndSession runs the hooks for the end of a session and prints what they say. It does nothing for an
// interrupted turn, which has not ended. It returns err.
func EndSession(cmd *cobra.Command, a *app.App, id pawl.SessionID, err error) error {
	if a.Runner != nil && !errors.Is(err, ErrInterrupted) {
		for _, text := range a.Runner.Stepper.End(cmd.Context(), id, hook.EndOther) {
			fmt.Fprintf(cmd.ErrOrStderr(), "pawl: %s\n", sanitize.Line(text))
		}
	}
	return err
}
