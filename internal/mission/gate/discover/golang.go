package discover

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

var (
	goFile = regexp.MustCompile(`\.go$`)
	goUse  = regexp.MustCompile(`(?m)^(?:use\s+|\s+)("[^"]+"|\.[^\s"]*)\s*(?://.*)?$`)
)

// golang finds Go workspaces, and modules that belong to none.
func golang(t *tree) (list []Found) {
	inWorkspace := map[string]bool{}
	workspaces := t.directories("go.work")
	for _, d := range workspaces {
		var patterns []string
		for _, m := range goUse.FindAllStringSubmatch(d.text("go.work"), -1) {
			module := path.Join(d.path, strings.Trim(m[1], `"`))
			if !(directory{t, strings.TrimPrefix(module, ".")}).has("go.mod") {
				continue
			}
			inWorkspace[strings.TrimPrefix(module, ".")] = true
			patterns = append(patterns, "./"+path.Join(strings.Trim(m[1], `"`), "..."))
		}
		if len(patterns) > 0 {
			list = append(list, goChecks(d, "go.work", "declares a Go workspace", patterns)...)
		}
	}
	for _, d := range t.directories("go.mod") {
		if inWorkspace[d.path] || len(d.files(goFile)) == 0 {
			continue
		}
		checks := goChecks(d, "go.mod", "declares a Go module", []string{"./..."})
		if slices.ContainsFunc(workspaces, func(w directory) bool { return below(d.path, w.path) }) {
			for i := range checks {
				checks[i] = checks[i].env("GOWORK=off")
			}
		}
		list = append(list, checks...)
	}
	return list
}

func goChecks(d directory, file, why string, patterns []string) []Found {
	checks := []Found{
		d.check("go-build", pawl.CheckBuild, file, why, append([]string{"go", "build"}, patterns...)...),
		d.check("go-vet", pawl.CheckLint, file, why, append([]string{"go", "vet"}, patterns...)...),
		d.check("go-test", pawl.CheckTest, file, why, append([]string{"go", "test", "-json", "-count=1"}, patterns...)...).reports("gotest", ""),
	}
	if slices.Contains(d.Paths, path.Join(d.path, "vendor/modules.txt")) {
		for i := range checks {
			checks[i] = checks[i].env("GOFLAGS=-mod=vendor")
		}
	}
	return checks
}
