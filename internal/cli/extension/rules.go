package extension

import (
	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/extension"
)

// RulesCommand returns 'pawl config rules'.
func RulesCommand() *cobra.Command {
	cmd := listCommand("config", func(f *extension.Found) (any, string) { return f.Rules, f.Rules.Show() })
	cmd.Use, cmd.Short = "rules", "List the rules that a model is given here"
	cmd.Long = `List the files of rules, AGENTS.md and its kin, that a model is given for a session
here, in their order, and how much of each. Those of the folder are there only if you
trust it.`
	cmd.Example = "  pawl config rules\n  pawl config rules --trust --json"
	return cmd
}
