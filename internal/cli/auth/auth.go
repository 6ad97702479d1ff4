// Package auth implements the commands for API keys and models.
package auth

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/config/auth"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/tool/websearch"
)

// Command returns 'pawl auth' with its subcommands.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "auth",
		Short: "Keep and test the keys of model providers and search services",
		Long: `Keep and test the keys of model providers and search services. Alone, it shows
which keys and local model servers are here, and what to do to get one.

A key is looked for in the environment, then in the system's keyring, then in
keys.json in pawl's data folder, which is used where there is no keyring.`,
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
	p, err := c.Provider(id)
	for _, s := range SearchProviders() {
		if s.ID == id {
			p, err = s, nil
		}
	}
	if err != nil {
		return cli.UsageError(cmd, err)
	}
	if p.Protocol == catalog.ProtocolVertex {
		return cli.UsageError(cmd, fmt.Errorf("%s takes no key: it signs in with Google's application default credentials", p.ID))
	}
	return f(p, keys)
}

// SearchProviders returns the search services that take an API key.
func SearchProviders() []catalog.Provider {
	var out []catalog.Provider
	for _, p := range websearch.Providers() {
		out = append(out, catalog.Provider{ID: p.ID, Name: p.ID, Protocol: "search", EnvKeys: p.EnvKeys})
	}
	return out
}

func authLoginCommand() *cobra.Command {
	var inFile bool
	cmd := &cobra.Command{
		Use:   "login provider",
		Short: "Keep a provider's key",
		Long: `Keep a provider's key: in the system's keyring, or where there is none in keys.json
in pawl's data folder, readable by you alone. The key is asked for, or read from
standard input when that is piped; it is never an argument, which others could see.`,
		Example: `  pawl auth login anthropic
  pass show anthropic | pawl auth login anthropic`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withProvider(cmd, args[0], func(p catalog.Provider, keys *auth.Keys) error {
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
		},
	}
	cmd.Flags().BoolVar(&inFile, "file", false, "keep it in keys.json, not in the keyring")
	return cmd
}

// reportLogin prints where the key is stored, and a note if another key takes precedence.
func reportLogin(w io.Writer, p catalog.Provider, keys *auth.Keys, saved auth.Saved) error {
	where := "the keyring"
	if saved.Origin == auth.OriginFile {
		where = keys.File
	}
	if saved.Reason != nil {
		where += ", readable by you alone (" + saved.Reason.Error() + ")"
	}
	fmt.Fprintf(w, "pawl: the key of %s is kept in %s\n", p.ID, where)
	_, origin, err := keys.Key(app.AuthProvider(p))
	if err != nil {
		return err
	}
	if origin != saved.Origin {
		fmt.Fprintf(w, "pawl: note: %s is set, and is used instead\n", origin)
	}
	return nil
}

// readKey prompts for the key on the terminal, or reads it from standard input.
func readKey(cmd *cobra.Command, p catalog.Provider) (auth.Secret, error) {
	var text string
	var err error
	if in, ok := cmd.InOrStdin().(*os.File); ok && term.IsTerminal(int(in.Fd())) {
		fmt.Fprintf(cmd.ErrOrStderr(), "Key of %s (it is not shown): ", p.Name)
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
		Short: "List the keys that were found, and where; never the keys themselves",
		Args:  cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, keys, err := app.CatalogAndKeys()
			if err != nil {
				return err
			}
			found, err := app.FindKeys(keys, append(slices.Clone(c.Providers), SearchProviders()...))
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
		_, err := fmt.Fprintln(w, "no keys: 'pawl auth' says how to get one")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "PROVIDER\tFROM\tKEY")
	for _, k := range found {
		fmt.Fprintf(t, "%s\t%s\t%d characters\n", k.Provider, k.Origin, k.Length)
	}
	return t.Flush()
}

func authLogoutCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "logout provider",
		Short: "Delete a provider's key from keyring and file",
		Args:  cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withProvider(cmd, args[0], func(p catalog.Provider, keys *auth.Keys) error {
				origins, err := keys.Delete(p.ID)
				for _, origin := range origins {
					fmt.Fprintf(cmd.ErrOrStderr(), "pawl: the key of %s is deleted from %s\n", p.ID, origin)
				}
				if err != nil {
					return err
				}
				if _, origin, err := keys.Key(app.AuthProvider(p)); err == nil {
					fmt.Fprintf(cmd.ErrOrStderr(), "pawl: note: %s is set, and is used\n", origin)
				}
				return nil
			})
		},
	}
}

// baseURLOf returns the base URL for requests to p: the flag or, if it is "", the one that
// 'pawl run' uses.
func baseURLOf(p catalog.Provider, flag string) (string, error) {
	user, err := app.LoadUser()
	if err != nil {
		return "", err
	}
	account := ""
	if p.BaseURLEnv != "" {
		account = os.Getenv(p.BaseURLEnv)
	}
	return strings.TrimRight(cmp.Or(flag, user.Providers[p.ID].BaseURL, account, p.BaseURL), "/"), nil
}

func authTestCommand() *cobra.Command {
	var baseURL string
	cmd := &cobra.Command{
		Use:   "test provider",
		Short: "Test a provider's key by asking for its models, which costs nothing",
		Long: `Test a provider's key by asking for its models, which costs nothing.

Exit codes: 0 it works, 1 there is no key or no way to test it, 5 it is refused, the
provider cannot be reached, or its answer proves nothing.`,
		Example: `  pawl auth test openai
  pawl auth test openai --base-url https://proxy.example.org/v1`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withProvider(cmd, args[0], func(p catalog.Provider, keys *auth.Keys) error {
				key, origin, err := keys.Key(app.AuthProvider(p))
				if err != nil {
					return err
				}
				base, err := baseURLOf(p, baseURL)
				if err != nil {
					return err
				}
				o, err := auth.Check(cmd.Context(), auth.Target{Protocol: string(p.Protocol), Dialect: p.Dialect, BaseURL: base}, key)
				if err != nil {
					return fmt.Errorf("test key of %s: %w", p.ID, err)
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
	cmd.Flags().StringVar(&baseURL, "base-url", "", "ask at this `url` instead of the provider's own")
	return cmd
}
