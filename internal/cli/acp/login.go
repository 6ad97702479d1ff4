package acp

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/auth"
	cliconfig "github.com/pawl-dev/pawl/internal/cli/config"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/fault"
)

// login saves the API key of a provider that the user names and, if no model is configured, makes
// the provider's default model the user's.
func login(cmd *cobra.Command) error {
	fmt.Fprint(cmd.ErrOrStderr(), "Provider, for example anthropic, openai or gemini: ")
	provider, err := readLine(cmd.InOrStdin())
	if err != nil {
		return err
	}
	if provider == "" {
		return cli.UsageError(cmd, fault.New(pawl.ErrInvalid, "no provider given").Hint("Run `pawl auth` to see all providers."))
	}
	if err := auth.Login(cmd, provider, false); err != nil {
		return err
	}
	user, err := app.LoadUser()
	if err != nil || user.Model != "" {
		return err
	}
	catalog, err := app.OpenCatalog()
	if err != nil {
		return err
	}
	model, ok := catalog.Default(provider)
	if !ok {
		fmt.Fprintln(cmd.ErrOrStderr(), "pawl: run `pawl config set model NAME` to choose a model (see `pawl models`)")
		return nil
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "pawl: the model is %s; `pawl config set model NAME` changes it\n", model.Ref)
	return config.Set("model", model.Ref, cliconfig.Usable)
}

// readLine reads a line and nothing after it.
func readLine(in io.Reader) (string, error) {
	var text strings.Builder
	for b := make([]byte, 1); ; {
		n, err := in.Read(b)
		if n == 1 && b[0] != '\n' {
			text.WriteByte(b[0])
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return strings.TrimSpace(text.String()), nil
	}
}
