package root

import (
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/run"
	"github.com/pawl-dev/pawl/internal/cli/tui"
	"github.com/pawl-dev/pawl/internal/fault"
)

const rootLong = `Pawl is a coding agent for the terminal. Describe the task. Watch every step, and every
diff, as it happens.

Without a command, Pawl opens the terminal UI. A prompt with more than one word is sent at
once. With -p, Pawl works on the prompt and exits, as 'pawl run' does; -p accepts the flags
of 'pawl run'.`

const rootExample = `  pawl
  pawl "fix the failing test"
  pawl -c                                # continue the last session of this directory
  pawl --add-dir ../lib                  # work in ../lib too
  pawl --isolated                        # work on a copy; apply or discard it at the end
  pawl -p "summarize the last commit"
  git diff | pawl -p "review this"`

// prompt is the root command: the terminal UI or, with --print, the same as 'pawl run'.
type prompt struct {
	ui    tui.Flags
	run   run.Flags
	forms *cobra.Command // has the flags of 'pawl run'
	print bool
}

// newPrompt returns the root command without subcommands.
func newPrompt() *cobra.Command {
	p := &prompt{forms: &cobra.Command{}}
	cmd := New("pawl", "A coding agent for the terminal")
	cmd.Use, cmd.Long, cmd.Example = "pawl [flags] [prompt]", rootLong, rootExample
	p.ui.Add(cmd)
	cmd.Flags().BoolVarP(&p.print, "print", "p", false, "work on the prompt and exit, like pawl run")
	p.run.Add(p.forms)
	p.forms.Flags().VisitAll(func(f *pflag.Flag) {
		if cmd.Flags().Lookup(f.Name) == nil {
			f.Hidden = true
			cmd.Flags().AddFlag(f)
		}
	})
	cmd.Args = p.checkArgs
	cmd.RunE = p.start
	return cmd
}

// checkArgs rejects a single word, which is more likely a misspelled command than a prompt.
func (p *prompt) checkArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || p.print || cmd.ArgsLenAtDash() == 0 || strings.ContainsFunc(args[0], unicode.IsSpace) {
		return nil
	}
	err := unknownCommand(cmd, args[0])
	if fault.HintOf(err) == "" {
		err = err.Hint("To send a prompt, use `pawl \"…\"` with more than one word, or `pawl -p`.")
	}
	return cli.UsageError(cmd, err)
}

// start runs the terminal UI or, with --print, the prompt.
func (p *prompt) start(cmd *cobra.Command, args []string) error {
	if p.print {
		return p.runPrompt(cmd, args)
	}
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Hidden && err == nil {
			err = fault.New(pawl.ErrInvalid, "--%s needs --print", f.Name).Hint("Use `pawl -p`, or `pawl run`.")
		}
	})
	if err != nil {
		return cli.UsageError(cmd, err)
	}
	return p.ui.Run(cmd, strings.Join(args, " "))
}

// runPrompt does what 'pawl run' does. The flags that both commands have are set on the root command
// only: it copies them.
func (p *prompt) runPrompt(cmd *cobra.Command, args []string) error {
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		other := p.forms.Flags().Lookup(f.Name)
		switch {
		case err != nil || other == f || f.Name == "print":
		case other == nil:
			err = fault.New(pawl.ErrInvalid, "--%s cannot be used with --print", f.Name)
		default:
			err = copyFlag(p.forms.Flags(), f)
		}
	})
	if err == nil {
		err = p.forms.ValidateFlagGroups()
	}
	if err != nil {
		return cli.UsageError(cmd, err)
	}
	return p.run.Run(cmd, args)
}

// copyFlag sets the flag of the same name in flags.
func copyFlag(flags *pflag.FlagSet, f *pflag.Flag) error {
	list, ok := f.Value.(pflag.SliceValue)
	if !ok {
		return flags.Set(f.Name, f.Value.String())
	}
	other := flags.Lookup(f.Name)
	other.Changed = true
	return other.Value.(pflag.SliceValue).Replace(list.GetSlice())
}
