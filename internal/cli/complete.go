package cli

import (
	"github.com/spf13/cobra"
)

// Values returns the values that the shell can complete, each perhaps with a tab and a description.
// It must be fast, use no network, and return nothing after an error.
type Values func(cmd *cobra.Command) []string

// CompleteOne completes the first argument of a command.
func CompleteOne(values Values) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return values(cmd), cobra.ShellCompDirectiveNoFileComp
	}
}
