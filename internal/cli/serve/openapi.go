package serve

import (
	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/cli"
)

func serveOpenAPICommand() *cobra.Command {
	return &cobra.Command{
		Use:   "openapi",
		Short: "Print the OpenAPI document of the HTTP API",
		Long:  "Print the OpenAPI document of the HTTP API, as the server returns it at /v1/openapi.json.",
		Example: `  pawl serve openapi >openapi.json
  pawl serve openapi | jq -r '.paths | keys[]'`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := api.OpenAPIText()
			if err == nil {
				_, err = cmd.OutOrStdout().Write(text)
			}
			return err
		},
	}
}
