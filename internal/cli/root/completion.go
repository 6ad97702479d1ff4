package root

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/cli"
)

// shells are the shells with completion, and how to install the script. %[1]s is the program.
var shells = []struct {
	name, title, install string
	generate             func(root *cobra.Command, w io.Writer, descriptions bool) error
}{
	{"bash", "Bash", `  source <(%[1]s completion bash)                                # in this shell
  %[1]s completion bash >~/.local/share/bash-completion/completions/%[1]s`, (*cobra.Command).GenBashCompletionV2},
	{"zsh", "Zsh", `  source <(%[1]s completion zsh)                                 # in this shell
  %[1]s completion zsh >"${fpath[1]}/_%[1]s"`, func(root *cobra.Command, w io.Writer, descriptions bool) error {
		if descriptions {
			return root.GenZshCompletion(w)
		}
		return root.GenZshCompletionNoDesc(w)
	}},
	{"fish", "fish", `  %[1]s completion fish | source                                 # in this shell
  %[1]s completion fish >~/.config/fish/completions/%[1]s.fish`, (*cobra.Command).GenFishCompletion},
	{"powershell", "PowerShell", `  %[1]s completion powershell | Out-String | Invoke-Expression   # in this shell
  %[1]s completion powershell >>$PROFILE`, func(root *cobra.Command, w io.Writer, descriptions bool) error {
		if descriptions {
			return root.GenPowerShellCompletionWithDesc(w)
		}
		return root.GenPowerShellCompletion(w)
	}},
}

// completionCommand returns the command that generates the completion scripts of shells for the
// program.
func completionCommand(program string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "completion",
		Short: "Generate a shell completion script",
		Long: fmt.Sprintf(`Generate the script that makes a shell complete the commands and flags of %[1]s, and
values such as models, sessions and agents.`, program),
		Example: fmt.Sprintf(`  source <(%[1]s completion bash)
  %[1]s completion fish >~/.config/fish/completions/%[1]s.fish`, program),
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, s := range shells {
		var plain bool
		c := &cobra.Command{
			Use:     s.name,
			Short:   "Generate the completion script for " + s.title,
			Example: fmt.Sprintf(s.install, program),
			Args:    cli.Args(cobra.NoArgs),
			RunE: func(cmd *cobra.Command, _ []string) error {
				return s.generate(cmd.Root(), cmd.OutOrStdout(), !plain)
			},
		}
		c.Flags().BoolVar(&plain, "no-descriptions", false, "complete without descriptions")
		cmd.AddCommand(c)
	}
	return cmd
}
