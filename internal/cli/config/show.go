package config

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/app/management"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/config"
)

// showConfig prints the settings in effect. If some cannot be read, it prints the others and
// returns an error.
func showConfig(cmd *cobra.Command, asJSON bool) error {
	list, err := effective(cmd.Context())
	if asJSON {
		return errors.Join(cli.WriteJSON(cmd.OutOrStdout(), append([]config.Setting{}, list...)), err)
	}
	return errors.Join(printSettings(cmd, list), err)
}

func printSettings(cmd *cobra.Command, list []config.Setting) error {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KEY\tVALUE\tLAYER\tSOURCE")
	for _, s := range list {
		value := s.Text()
		if value == "" {
			value = `""`
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Key, value, s.Layer, s.Source)
	}
	return w.Flush()
}

// effective returns the settings in effect in the working directory. If some cannot be read, it
// returns the others with an error.
func effective(ctx context.Context) ([]config.Setting, error) {
	dir, err := app.WorkingDir()
	if err != nil {
		return nil, err
	}
	return management.Settings(ctx, dir)
}

func configGetCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "get key",
		Short: "Print the value of a setting",
		Long: `Print the effective value of a setting, or of all settings below a key. Values
that may be secret are masked.

Exit codes: 0 the setting is set, 1 it is not.`,
		Example: `  pawl config get permissions.mode
  pawl config get providers`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, fault := effective(cmd.Context())
			list = slices.DeleteFunc(list, func(s config.Setting) bool { return s.Key != args[0] && !strings.HasPrefix(s.Key, args[0]+".") })
			if len(list) > 0 {
				return errors.Join(printValues(cmd, list, args[0], asJSON), fault)
			}
			if err := config.Known(args[0]); err != nil {
				return cli.UsageError(cmd, err)
			}
			if fault != nil {
				return fault
			}
			return fmt.Errorf("%s is not set", args[0])
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, including the source")
	return cmd
}

// printValues prints the bare value if key is a single setting, otherwise a table of settings.
func printValues(cmd *cobra.Command, list []config.Setting, key string, asJSON bool) error {
	switch {
	case asJSON:
		return cli.WriteJSON(cmd.OutOrStdout(), list)
	case len(list) == 1 && list[0].Key == key:
		_, err := fmt.Fprintln(cmd.OutOrStdout(), list[0].Text())
		return err
	}
	return printSettings(cmd, list)
}
