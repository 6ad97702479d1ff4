package root

import (
	"errors"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/suggest"
)

// flagError returns the error for flags that cannot be parsed. It suggests a flag for an unknown one.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var noValue *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		err = fault.New(pawl.ErrInvalid, "unknown flag %q", "-"+unknown.GetSpecifiedName())
	case errors.As(err, &unknown):
		e := fault.New(pawl.ErrInvalid, "unknown flag %.80q", "--"+unknown.GetSpecifiedName())
		if similar := suggest.Quoted("", "--"+unknown.GetSpecifiedName(), flagNames(cmd)); similar != "" {
			e = e.Hint("Did you mean %s?", similar)
		}
		err = e
	case errors.As(err, &noValue):
		err = fault.New(pawl.ErrInvalid, "flag %s needs a value", flagName(noValue.GetFlag()))
	case errors.As(err, &invalid):
		err = fault.New(pawl.ErrInvalid, "invalid value %.80q for %s: use a %s", invalid.GetValue(), flagName(invalid.GetFlag()), valueKind(invalid.GetFlag()))
	}
	return cli.UsageError(cmd, err)
}

// flagName returns a flag as it is typed.
func flagName(f *pflag.Flag) string { return "--" + f.Name }

// valueKind describes the values of a flag.
func valueKind(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "int64", "float64":
		return "number"
	case "duration":
		return "duration such as 30s, 5m or 1h"
	case "bool":
		return "boolean: true or false"
	}
	return "value of type " + f.Value.Type()
}

// flagNames returns the visible flags of cmd as they are typed.
func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, flagName(f))
		}
	})
	return names
}

// suggestSubcommands makes the commands below cmd that have subcommands suggest one for an unknown
// one.
func suggestSubcommands(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		suggestSubcommands(c)
		check := c.Args
		if !c.HasSubCommands() || check == nil {
			continue
		}
		c.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err != nil && len(args) > 0 {
				return cli.UsageError(cmd, unknownCommand(cmd, args[0]))
			}
			return err
		}
	}
}

// unknownCommand returns the error for an unknown subcommand of cmd, with a suggestion.
func unknownCommand(cmd *cobra.Command, name string) *fault.Error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	e := fault.New(pawl.ErrInvalid, "unknown command %.80q", strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name())+" "+name))
	if similar := suggest.Quoted("", name, names); similar != "" {
		return e.Hint("Did you mean %s?", similar)
	}
	return e
}

// exclusive matches cobra's error for flags that exclude each other.
var exclusive = regexp.MustCompile(`^if any flags in the group \[.*\] are set none of the others can be; \[(.*)\] were all set$`)

// flagGroupError returns cobra's error for flags that exclude each other in Pawl's words, as a usage
// error, and other errors unchanged.
func flagGroupError(cmd *cobra.Command, err error) error {
	m := exclusive.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	var names []string
	for _, name := range strings.Fields(m[1]) {
		names = append(names, "--"+name)
	}
	return cli.UsageError(cmd, fault.New(pawl.ErrInvalid, "%s cannot be used together", strings.Join(names, " and ")))
}
