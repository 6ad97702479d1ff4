package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the release build.
var version = "dev"

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  usage(cobra.NoArgs),
		Run: func(cmd *cobra.Command, _ []string) {
			revision := ""
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" {
						revision = " " + s.Value[:min(12, len(s.Value))]
					}
				}
			}
			fmt.Fprintf(cmd.OutOrStdout(), "pawl %s%s %s/%s %s\n", version, revision, runtime.GOOS, runtime.GOARCH, runtime.Version())
		},
	}
}
