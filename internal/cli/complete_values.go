package cli

import (
	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/app"
)

// AgentNames returns the agents that can be used in the working directory.
func AgentNames(cmd *cobra.Command) []string {
	var names []string
	for _, name := range agent.Offered() {
		if _, err := agent.Lookup(name); err == nil { // the others do not accept prompts
			names = append(names, name)
		}
	}
	found, err := app.ExtensionsHere(cmd.Context(), false)
	if err != nil {
		return names
	}
	for _, a := range found.Agents.Agents {
		if !a.Hidden {
			names = append(names, a.Name)
		}
	}
	return names
}
