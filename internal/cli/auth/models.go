package auth

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/config/auth"
	"github.com/pawl-dev/pawl/internal/model/catalog"
)

// modelsFlags are the flags of 'pawl models'.
type modelsFlags struct {
	provider  string
	local     bool
	available bool
	asJSON    bool
}

// ModelsCommand returns 'pawl models'.
func ModelsCommand() *cobra.Command {
	var f modelsFlags
	cmd := &cobra.Command{
		Use:   "models [word…]",
		Short: "List models with their limits and prices",
		Long: `List the models that Pawl knows, with their context window, their output limit, and
their prices in USD per million tokens: input, output and cached input.

With words, list only the models whose ref or name contains all of them. The list is
built in and works offline; models.json in Pawl's data directory extends it.`,
		Example: `  pawl models sonnet
  pawl models --available                # models that you have a key for
  pawl models --local                    # models on this machine
  pawl models --provider openai --json | jq -r '.[].ref'`,
		RunE: func(cmd *cobra.Command, words []string) error { return f.run(cmd, words) },
	}
	cmd.Flags().StringVar(&f.provider, "provider", "", "list only the models of this `provider`")
	cmd.Flags().BoolVar(&f.local, "local", false, "list the models of local model servers")
	cmd.Flags().BoolVar(&f.available, "available", false, "list only the models that you have an API key for")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("local", "available")
	return cmd
}

func (f *modelsFlags) run(cmd *cobra.Command, words []string) error {
	c, keys, err := app.CatalogAndKeys()
	if err != nil {
		return err
	}
	if f.provider != "" {
		if _, err := c.Provider(f.provider); err != nil {
			return cli.UsageError(cmd, err)
		}
	}
	models, err := f.choose(cmd.Context(), c, keys)
	if err != nil {
		return err
	}
	models = slices.DeleteFunc(models, func(m catalog.Model) bool {
		return f.provider != "" && m.Provider != f.provider || !hasWords(m, words)
	})
	if f.asJSON {
		return cli.WriteJSON(cmd.OutOrStdout(), append([]catalog.Model{}, models...))
	}
	if f.local && len(models) == 0 {
		for _, p := range c.Locals() {
			fmt.Fprintf(cmd.ErrOrStderr(), "pawl: no models found at %s (%s)\n", p.BaseURL, p.Name)
		}
	}
	return printModels(cmd.OutOrStdout(), models)
}

// choose returns the models selected by the flags local and available.
func (f *modelsFlags) choose(ctx context.Context, c *catalog.Catalog, keys *auth.Keys) ([]catalog.Model, error) {
	switch {
	case f.local:
		var models []catalog.Model
		for _, s := range catalog.Local(ctx, c.Locals()...) {
			models = append(models, s.Models...)
		}
		return models, nil
	case f.available:
		found, err := app.FindKeys(keys, c.Providers)
		if err != nil {
			return nil, err
		}
		return slices.DeleteFunc(slices.Clone(c.Models), func(m catalog.Model) bool {
			return !slices.ContainsFunc(found, func(k app.FoundKey) bool { return k.Provider == m.Provider })
		}), nil
	default:
		return slices.Clone(c.Models), nil
	}
}

func hasWords(m catalog.Model, words []string) bool {
	text := strings.ToLower(m.Ref + " " + m.Name)
	for _, w := range words {
		if !strings.Contains(text, strings.ToLower(w)) {
			return false
		}
	}
	return true
}

func printModels(w io.Writer, models []catalog.Model) error {
	if len(models) == 0 {
		_, err := fmt.Fprintln(w, "No models found.")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "MODEL\tCONTEXT\tOUTPUT\tIN $/M\tOUT $/M\tCACHED $/M\tCAPABILITIES")
	for _, m := range models {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			m.Ref, tokens(m.Context), tokens(m.Output), m.Prices.Input, m.Prices.Output, m.Prices.CacheRead, strings.Join(takes(m), ","))
	}
	return t.Flush()
}

// tokens formats a number of tokens, such as 200k or 1.05M.
func tokens(n int) string {
	switch {
	case n == 0:
		return "?"
	case n >= 1_000_000:
		return strconv.FormatFloat(float64(n/10_000)/100, 'f', -1, 64) + "M"
	case n >= 1_000:
		return strconv.Itoa(n/1_000) + "k"
	default:
		return strconv.Itoa(n)
	}
}

func takes(m catalog.Model) []string {
	var list []string
	for _, flag := range []struct {
		name string
		set  bool
	}{{"tools", m.Tools}, {"images", m.Images}, {"pdf", m.PDF}, {"reasoning", m.Reasoning}, {"prefill", m.Prefill}} {
		if flag.set {
			list = append(list, flag.name)
		}
	}
	return list
}
