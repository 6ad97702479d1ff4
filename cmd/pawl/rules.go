package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/extend"
	"github.com/pawl-dev/pawl/internal/plain"
	"github.com/pawl-dev/pawl/internal/safety"
)

func rulesCommand() *cobra.Command {
	cmd := listCommand("config", func(f *extend.Found) (any, string) { return f.Rules, f.Rules.Show() })
	cmd.Use, cmd.Short = "rules", "List the rules that a model is given here"
	cmd.Long = `List the files of rules, AGENTS.md and its kin, that a model is given for a session
here, in their order, and how much of each. Those of the folder are there only if you
trust it.`
	cmd.Example = "  pawl config rules\n  pawl config rules --trust --json"
	return cmd
}

// checkExtensions says what is picked up of agents, commands, rules and skills.
func checkExtensions(ctx context.Context) finding {
	f := finding{Name: "extensions", Status: checkOK}
	found, err := lookHere(ctx, false)
	if err != nil {
		f.Status, f.Detail = checkWarn, err.Error()
		return f
	}
	f.Detail = fmt.Sprintf("agents %d, commands %d, rules %d, skills %d",
		len(found.Agents.Agents), len(found.Commands.Commands), len(found.Rules.Files), len(found.Skills.Skills))
	if guard, err := safety.Open(); err == nil && !guard.Instructs(found.Dir) {
		f.Detail += "; this folder is not trusted"
	}
	if faults := found.Faults(); len(faults) > 0 {
		f.Status = checkWarn
		f.Detail += fmt.Sprintf("; %d files have faults", len(faults))
		f.Fix = fmt.Sprintf("%s: %s", plain.Line(faults[0].File), plain.Line(faults[0].Text))
	}
	return f
}
