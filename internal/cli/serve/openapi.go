package serve

import (
	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/cli"
)

func serveOpenAPICommand() *cobra.Command {
	return &cobra.Command{
		Use:     "openapi",
		Short:   "Print the OpenAPI document of the server, for tools that make clients",
		Long:    "Print what a server answers at /v1/openapi.json. None has to run.",
		Example: `  pawl serve openapi >openapi.json`,
		Args:    cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := api.OpenAPIText()
			if err == nil {
				_, err = cmd.OutOrStdout().Write(text)
			}
			return err
		},
	}
}
