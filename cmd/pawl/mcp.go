package main

import "github.com/spf13/cobra"

func mcpCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Look at MCP servers, add and test them, and be one",
		Args:  usage(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(mcpServeCommand())
	return cmd
}
