package extension

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/app/inventory"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/extension/skill"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// SkillsCommand returns 'pawl skills' with its subcommands.
func SkillsCommand() *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "skills",
		Short: "List, install, update and remove skills",
		Long: `List the skills of this directory, as 'pawl extensions list skills' does. Skills of a
project are active only if you trust the project.`,
		Example: `  pawl skills
  pawl skills add owner/repo
  pawl skills show deploy`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.list(cmd, inventory.Skills) },
	}
	f.addJSON(cmd)
	cmd.AddCommand(skillShowCommand(), skillAddCommand(), skillUpdateCommand(), skillRemoveCommand(), skillVerifyCommand())
	return cmd
}

func skillShowCommand() *cobra.Command {
	var trusted, asJSON bool
	cmd := &cobra.Command{
		Use:     "show name",
		Short:   "Show a skill's instructions",
		Example: "  pawl skills show deploy\n  pawl skills show deploy --json",
		Args:    cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := app.ExtensionsHere(cmd.Context(), trusted)
			if err != nil {
				return err
			}
			k, err := found.Skills.Load(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), struct {
					skill.Skill
					Body  string   `json:"body"`
					Files []string `json:"files,omitempty"`
				}{k.Skill, k.Body, k.Files})
			}
			return printSkill(cmd.OutOrStdout(), k.Skill, k.Body, k.Files)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&trusted, "trust", false, "include project configuration that is not trusted")
	return cmd
}

// installFlags are the flags of the commands that install, remove and verify skills.
type installFlags struct{ project, yes, dry, asJSON, local bool }

func (f *installFlags) add(cmd *cobra.Command, changes bool) {
	cmd.Flags().BoolVar(&f.project, "project", false, "use .agents/skills of this directory, not of your home directory")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	if changes {
		cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask for confirmation")
		cmd.Flags().BoolVar(&f.dry, "dry-run", false, "print what would be done, and do nothing")
	}
}

// installer returns an installer for .agents/skills of the user or the project.
func (f *installFlags) installer() (*skill.Installer, error) {
	here, err := app.WorkingDir()
	if err != nil {
		return nil, err
	}
	base := here
	if !f.project {
		if base, err = os.UserHomeDir(); err != nil {
			return nil, err
		}
	}
	return app.SkillInstaller(base, here, f.local), nil
}

func skillAddCommand() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "add source [name…]",
		Short: "Install skills from a repository",
		Long: `Fetch a repository, show its skills and their files, and install them after you confirm:
the named ones, or all. A source is owner/repo on GitHub or an https:// URL, optionally
followed by @ref and #directory. Installing runs no code of the repository.`,
		Example: `  pawl skills add owner/repo
  pawl skills add owner/repo@v1.2#skills deploy
  pawl skills add owner/repo --dry-run --json`,
		Args: cli.Args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.change(cmd, func(in *skill.Installer) (*skill.Plan, error) { return in.Add(cmd.Context(), args[0], args[1:]...) })
		},
	}
	f.add(cmd, true)
	cmd.Flags().BoolVar(&f.local, "local", false, "allow file:// URLs")
	return cmd
}

func skillUpdateCommand() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:     "update [name…]",
		Short:   "Update installed skills from their sources",
		Example: "  pawl skills update\n  pawl skills update deploy --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.change(cmd, func(in *skill.Installer) (*skill.Plan, error) { return in.Update(cmd.Context(), args...) })
		},
	}
	f.add(cmd, true)
	cmd.Flags().BoolVar(&f.local, "local", false, "allow file:// URLs")
	return cmd
}

// change prints a plan, asks for confirmation unless --yes is set, and applies the plan.
func (f *installFlags) change(cmd *cobra.Command, plan func(*skill.Installer) (*skill.Plan, error)) error {
	in, err := f.installer()
	if err != nil {
		return err
	}
	p, err := plan(in)
	if err != nil {
		return err
	}
	defer p.Close()
	if f.asJSON {
		err = cli.WriteJSON(cmd.OutOrStdout(), p)
	} else {
		_, err = io.WriteString(cmd.OutOrStdout(), p.Show())
	}
	something := slices.ContainsFunc(p.Changes, func(c skill.Change) bool { return c.Action == skill.Install || c.Action == skill.Replace })
	if err != nil || f.dry || !something {
		return err
	}
	if !f.yes {
		if ok, err := cli.Confirm(cmd, "Install?"); err != nil || !ok {
			return err
		}
	}
	return p.Apply()
}

func skillRemoveCommand() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:     "remove name",
		Short:   "Remove an installed skill",
		Example: "  pawl skills remove deploy\n  pawl skills remove deploy --project --yes",
		Args:    cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := f.installer()
			if err != nil {
				return err
			}
			removed := removedSkill{Name: args[0], Folder: filepath.Join(in.Dir, args[0])}
			if f.dry {
				return f.printRemoved(cmd, removed)
			}
			if !f.yes {
				if ok, err := cli.Confirm(cmd, fmt.Sprintf("Remove skill %s?", sanitize.Line(args[0]))); err != nil || !ok {
					return err
				}
			}
			if err := in.Remove(args[0]); err != nil {
				return err
			}
			removed.Removed = true
			return f.printRemoved(cmd, removed)
		},
	}
	f.add(cmd, true)
	return cmd
}

// removedSkill is the output of 'pawl skills remove --json'.
type removedSkill struct {
	Name    string `json:"name"`
	Folder  string `json:"dir"`
	Removed bool   `json:"removed"`
}

func (f *installFlags) printRemoved(cmd *cobra.Command, r removedSkill) error {
	if f.asJSON {
		return cli.WriteJSON(cmd.OutOrStdout(), r)
	}
	done := "removed"
	if !r.Removed {
		done = "would remove"
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", done, sanitize.Line(r.Folder))
	return err
}

func skillVerifyCommand() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Verify that installed skills are unchanged",
		Long: `Compare the files of installed skills with the hashes recorded at installation. A changed
skill is not used.

Exit codes: 0 all are unchanged, 1 a skill was changed or is missing.`,
		Example: "  pawl skills verify\n  pawl skills verify --project --json",
		Args:    cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, err := f.installer()
			if err != nil {
				return err
			}
			list, err := in.Verify()
			if err != nil {
				return err
			}
			return f.report(cmd, list)
		},
	}
	f.add(cmd, false)
	return cmd
}

// report prints the status of skills. It returns an error if one was altered or is missing.
func (f *installFlags) report(cmd *cobra.Command, list []skill.Status) error {
	var err error
	if f.asJSON {
		err = cli.WriteJSON(cmd.OutOrStdout(), append([]skill.Status{}, list...))
	}
	wrong := false
	for _, s := range list {
		wrong = wrong || s.State == skill.Altered || s.State == skill.Missing
		if !f.asJSON {
			_, e := fmt.Fprintf(cmd.OutOrStdout(), "%s  %s  %s\n", s.State, sanitize.Line(s.Name), sanitize.Line(s.Why))
			err = errors.Join(err, e)
		}
	}
	if err == nil && wrong {
		err = &cli.ExitError{Code: cli.ExitFailed, Err: fault.New(pawl.ErrConflict, "installed skills were changed or are missing").Hint("Review them, then run `pawl skills add` or `pawl skills remove`.")}
	}
	return err
}
