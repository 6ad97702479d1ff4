package discover

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

var (
	solutionFile = regexp.MustCompile(`\.slnx?$`)
	projectFile  = regexp.MustCompile(`\.(cs|fs|vb)proj$`)
)

var dotnetEnv = []string{"DOTNET_CLI_TELEMETRY_OPTOUT=1", "DOTNET_NOLOGO=1", "DOTNET_SKIP_FIRST_TIME_EXPERIENCE=1"}

// dotnet finds solutions of .NET and, without one, projects with tests.
func dotnet(t *tree) (list []Found) {
	top := directory{t, ""}
	var solutions []directory
	for _, name := range top.files(solutionFile) {
		d := directory{t, parent(name)}
		if !slices.ContainsFunc(solutions, func(s directory) bool { return below(d.path, s.path) }) {
			solutions = append(solutions, d)
			list = append(list, dotnetChecks(d, path.Base(name), "is a .NET solution")...)
		}
	}
	for _, name := range top.files(projectFile) {
		d := directory{t, parent(name)}
		in := func(s directory) bool { return below(d.path, s.path) }
		if !slices.ContainsFunc(solutions, in) && strings.Contains(d.text(path.Base(name)), "Microsoft.NET.Test.Sdk") {
			list = append(list, dotnetChecks(d, path.Base(name), "is a .NET project with tests")...)
		}
	}
	return list
}

func dotnetChecks(d directory, file, why string) []Found {
	restore := d.check("dotnet-restore", pawl.CheckSetup, file, why, "dotnet", "restore", file).env(dotnetEnv...)
	restore.Network = []string{"api.nuget.org"}
	test := d.check("dotnet-test", pawl.CheckTest, file, why, "dotnet", "test", file, "--no-restore").env(dotnetEnv...)
	return []Found{restore, test}
}
