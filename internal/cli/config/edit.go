package config

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/config/userfile"
	"github.com/pawl-dev/pawl/internal/security/permission"
)

// Usable returns an error if pawl would not start with the configuration u.
func Usable(u config.User) error {
	findings := checkPermissions(u)
	if themes, err := UserThemes(); err == nil { // an unreadable theme is not an error of the configuration
		findings = append(findings, CheckTUI(u, themes)...)
	}
	for _, f := range findings {
		if f.Level == config.LevelError {
			return errors.New(f.Message)
		}
	}
	return nil
}

// checkPermissions checks the permission mode and rules.
func checkPermissions(u config.User) []config.Finding {
	findings := checkRules(u.Permissions.Rules, permission.OriginUser)
	if u.Permissions.Mode != "" {
		if _, err := permission.ParseMode(u.Permissions.Mode); err != nil {
			findings = append(findings, config.Finding{Level: config.LevelError, Key: "permissions.mode", Message: err.Error()})
		}
	}
	return findings
}

func configSetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "set key value",
		Short: "Set a value in your configuration file",
		Long: `Set a value in your configuration file. The rest of the file, including comments, does
not change. The file is created if it does not exist. Strings are written as they are,
all other values as JSON. A change that would make the file invalid is rejected.

Separate the parts of a key with dots or, if a part contains a dot, with slashes: /a/b.`,
		Example: `  pawl config set model sonnet
  pawl config set fallback '["openai/gpt-5"]'
  pawl config set providers.openai.headers.X-Team '{env:TEAM}'`,
		Args: cli.Args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error { return config.Set(args[0], args[1], Usable) },
	}
}

func configUnsetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "unset key",
		Short: "Remove a key from your configuration file",
		Example: `  pawl config unset model
  pawl config unset providers.openai.base_url`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return config.Unset(args[0], Usable) },
	}
}

func configEditCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "edit",
		Short: "Edit your configuration file and check it",
		Long: `Open your configuration file in the editor that VISUAL or EDITOR names, then check it.

Exit codes: 0 the file is valid, 1 it is invalid or the editor failed.`,
		Example: `  pawl config edit
  EDITOR="code --wait" pawl config edit`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := config.UserFile()
			if err != nil {
				return err
			}
			if err := makeConfig(path); err != nil {
				return err
			}
			if err := cli.OpenEditor(path); err != nil {
				return err
			}
			return reportFindings(cmd, CheckUserFile(path), outputText)
		},
	}
}

// makeConfig creates an empty configuration file if path does not exist.
func makeConfig(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	unlock, err := userfile.Lock(path)
	if err != nil {
		return err
	}
	defer unlock()
	return userfile.ReplaceText(path, fmt.Appendf(nil, "{\n  \"$schema\": %q\n}\n", config.SchemaURL))
}
