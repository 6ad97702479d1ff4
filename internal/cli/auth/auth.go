// Package auth implements the commands for API keys and models.
package auth

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/config/auth"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/model/catalog"
)

// Command returns 'pawl auth' with its subcommands.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "auth",
		Short: "Manage API keys",
		Long: `Manage the API keys of model providers and search services. Without a subcommand,
show which keys and local model servers were found, and how to set one up.

Pawl looks for a key in the environment, then in the system keyring, then in
keys.json in its data directory, which is used on systems without a keyring.`,
		Example: `  pawl auth
  pawl auth login anthropic
  pawl auth test anthropic`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := app.ModelHelp(cmd.Context())
			if err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), text)
			return err
		},
	}
	cmd.AddCommand(authLoginCommand(), authListCommand(), authLogoutCommand(), authTestCommand())
	return cmd
}

// withProvider calls f with the model provider or search service id and the user's API keys.
func withProvider(cmd *cobra.Command, id string, f func(p catalog.Provider, keys *auth.Keys) error) error {
	c, keys, err := app.CatalogAndKeys()
	if err != nil {
		return err
	}
	p, err := app.KeyProvider(c, id)
	if err != nil {
		return cli.UsageError(cmd, err)
	}
	return f(p, keys)
}

func authLoginCommand() *cobra.Command {
	var inFile bool
	cmd := &cobra.Command{
		Use:   "login provider",
		Short: "Save a provider's API key",
		Long: `Save a provider's API key in the system keyring or, on systems without one, in
keys.json in Pawl's data directory, readable only by you.

Pawl prompts for the key, or reads it from standard input if that is a pipe. The key
is never an argument, because other users of the machine could see it.`,
		Example: `  pawl auth login anthropic
  pass show anthropic | pawl auth login anthropic`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return Login(cmd, args[0], inFile)
		},
	}
	cmd.Flags().BoolVar(&inFile, "file", false, "save the key in keys.json instead of the keyring")
	return cmd
}

// Login reads a provider's API key and saves it, in keys.json if inFile is set.
func Login(cmd *cobra.Command, provider string, inFile bool) error {
	return withProvider(cmd, provider, func(p catalog.Provider, keys *auth.Keys) error {
		key, err := readKey(cmd, p)
		if err != nil {
			return err
		}
		save := keys.Save
		if inFile {
			save = keys.SaveInFile
		}
		saved, err := save(p.ID, key)
		if err != nil {
			return err
		}
		return reportLogin(cmd.ErrOrStderr(), p, keys, saved)
	})
}

// reportLogin prints where the key is stored, and a note if another key takes precedence.
func reportLogin(w io.Writer, p catalog.Provider, keys *auth.Keys, saved auth.Saved) error {
	where := "the keyring"
	if saved.Origin == auth.OriginFile {
		where = keys.File
	}
	if saved.Reason != nil {
		where += ", readable only by you (" + saved.Reason.Error() + ")"
	}
	fmt.Fprintf(w, "pawl: saved the %s key in %s\n", p.ID, where)
	_, origin, err := keys.Key(app.AuthProvider(p))
	if err != nil {
		return err
	}
	if origin != saved.Origin {
		fmt.Fprintf(w, "pawl: note: %s takes precedence over the saved key\n", origin)
	}
	return nil
}

// readKey prompts for the key on the terminal, or reads it from standard input.
func readKey(cmd *cobra.Command, p catalog.Provider) (auth.Secret, error) {
	var text string
	var err error
	if in, ok := cmd.InOrStdin().(*os.File); ok && term.IsTerminal(int(in.Fd())) {
		fmt.Fprintf(cmd.ErrOrStderr(), "API key for %s (not shown): ", p.Name)
		text, err = readHidden(int(in.Fd()))
		fmt.Fprintln(cmd.ErrOrStderr())
	} else {
		text, err = cli.ReadStdin(cmd.InOrStdin())
	}
	if err != nil {
		return "", err
	}
	key, err := auth.Parse(text)
	if err != nil {
		return "", cli.UsageError(cmd, fmt.Errorf("read key: %w", err))
	}
	return key, nil
}

// readHidden reads a line from the terminal without echo. Ctrl-C cancels it and restores the
// terminal.
func readHidden(fd int) (string, error) {
	state, err := term.GetState(fd)
	if err != nil {
		return "", fmt.Errorf("read key: %w", err)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	defer signal.Stop(stop)
	type answer struct {
		line []byte
		err  error
	}
	typed := make(chan answer, 1)
	go func() {
		line, err := term.ReadPassword(fd)
		typed <- answer{line, err}
	}()
	select {
	case a := <-typed:
		if a.err != nil && !errors.Is(a.err, io.EOF) {
			return "", fmt.Errorf("read key: %w", a.err)
		}
		return string(a.line), nil
	case <-stop:
		return "", &cli.ExitError{Code: cli.ExitCanceled, Err: errors.Join(errors.New("canceled"), term.Restore(fd, state))}
	}
}

func authListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the API keys that were found and their sources",
		Long:  "List the API keys that were found and their sources. The keys themselves are never shown.",
		Example: `  pawl auth list
  pawl auth list --json | jq -r '.[].provider'`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, keys, err := app.CatalogAndKeys()
			if err != nil {
				return err
			}
			found, err := app.FindKeys(keys, append(slices.Clone(c.Providers), app.SearchProviders()...))
			if err != nil {
				return err
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), found)
			}
			return printKeys(cmd.OutOrStdout(), found)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printKeys(w io.Writer, found []app.FoundKey) error {
	if len(found) == 0 {
		_, err := fmt.Fprintln(w, "No API keys found. Run `pawl auth` to see how to add one.")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "PROVIDER\tSOURCE\tKEY")
	for _, k := range found {
		fmt.Fprintf(t, "%s\t%s\t%s\n", k.Provider, k.Origin, humanize.Plural(k.Length, "character"))
	}
	return t.Flush()
}

func authLogoutCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "logout provider",
		Short: "Delete a provider's saved API key",
		Long: `Delete a provider's API key from the system keyring and from keys.json. Environment
variables stay set.`,
		Example: `  pawl auth logout openai
  pawl auth logout brave`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withProvider(cmd, args[0], func(p catalog.Provider, keys *auth.Keys) error {
				origins, err := keys.Delete(p.ID)
				for _, origin := range origins {
					fmt.Fprintf(cmd.ErrOrStderr(), "pawl: deleted the %s key from %s\n", p.ID, origin)
				}
				if err != nil {
					return err
				}
				if _, origin, err := keys.Key(app.AuthProvider(p)); err == nil {
					fmt.Fprintf(cmd.ErrOrStderr(), "pawl: note: %s is still set and provides a key\n", origin)
				}
				return nil
			})
		},
	}
}

func authTestCommand() *cobra.Command {
	var baseURL string
	cmd := &cobra.Command{
		Use:   "test provider",
		Short: "Test a provider's API key",
		Long: `Test a provider's API key with a request that lists its models. The request is free.

Exit codes: 0 the key works, 1 there is no key or no way to test it, 5 the key was
rejected, the provider is unreachable, or the answer is inconclusive.`,
		Example: `  pawl auth test openai
  pawl auth test openai --base-url https://proxy.example.org/v1`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withProvider(cmd, args[0], func(p catalog.Provider, keys *auth.Keys) error {
				o, origin, err := app.TestKey(cmd.Context(), p, keys, baseURL)
				if err != nil {
					return err
				}
				line := fmt.Sprintf("%s: %s (key from %s", p.ID, o.Verdict, origin)
				if o.Detail != "" {
					line += "; " + o.Detail
				}
				if o.Verdict != auth.Works {
					return &cli.ExitError{Code: cli.ExitModel, Err: errors.New(line + ")")}
				}
				fmt.Fprintln(cmd.OutOrStdout(), line+")")
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&baseURL, "base-url", "", "send the request to this `url` instead of the provider's default")
	return cmd
}
