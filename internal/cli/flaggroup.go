package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The groups of flags, which help prints under their own headings. Flags of no group are printed last.
const (
	FlagsModel       = "Model"
	FlagsSession     = "Session"
	FlagsPermissions = "Permission"
	FlagsLimits      = "Limit"
	FlagsChange      = "Change"
	FlagsTeam        = "Team"
	FlagsChecks      = "Verification"
	FlagsOutput      = "Output"
	FlagsServer      = "Server"
	flagsOther       = "Other"
)

// flagGroups is the order in which the groups are printed.
var flagGroups = []string{FlagsSession, FlagsModel, FlagsPermissions, FlagsLimits, FlagsChange, FlagsTeam, FlagsChecks, FlagsOutput, FlagsServer, flagsOther}

const flagGroupKey = "pawl_group"

// GroupFlags puts flags of cmd into a group. It panics if a flag does not exist.
func GroupFlags(cmd *cobra.Command, group string, names ...string) {
	for _, name := range names {
		if err := cmd.Flags().SetAnnotation(name, flagGroupKey, []string{group}); err != nil {
			panic(err)
		}
	}
}

// FlagGroup has the usage of the flags of a group.
type FlagGroup struct{ Title, Usages string }

// helpColumns is the width of help texts.
const helpColumns = 100

// minGrouped is how many flags a command must have for its flags to be printed in groups.
const minGrouped = 8

// FlagGroups returns the usage of the visible flags of cmd by group.
func FlagGroups(cmd *cobra.Command) []FlagGroup {
	sets := map[string]*pflag.FlagSet{}
	count := 0
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		count++
		group := flagsOther
		if in := f.Annotations[flagGroupKey]; len(in) > 0 {
			group = in[0]
		}
		if sets[group] == nil {
			sets[group] = pflag.NewFlagSet(group, pflag.ContinueOnError)
		}
		sets[group].AddFlag(f)
	})
	if count == 0 {
		return nil
	}
	if count < minGrouped || len(sets) == 1 {
		return []FlagGroup{{"Flags", cmd.LocalFlags().FlagUsagesWrapped(helpColumns)}}
	}
	var groups []FlagGroup
	for _, title := range flagGroups {
		if set := sets[title]; set != nil {
			groups = append(groups, FlagGroup{title + " flags", set.FlagUsagesWrapped(helpColumns)})
		}
	}
	return slices.Clip(groups)
}
