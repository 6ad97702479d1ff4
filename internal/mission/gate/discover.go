package gate

import (
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
)

// Files gives Discover access to a tree.
type Files struct {
	Paths []string
	Read  func(path string) ([]byte, error)
}

func (f Files) has(name string) bool { return slices.Contains(f.Paths, name) }

// Discover finds the checks of a project: what its files say about building, linting and testing it. Programs
// are bare names; NewCriteria resolves them.
func Discover(f Files) []pawl.Check {
	var checks []pawl.Check
	for _, find := range []func(Files) []pawl.Check{goChecks, nodeChecks, pythonChecks, cargoChecks} {
		checks = append(checks, find(f)...)
	}
	if len(checks) == 0 {
		checks = makeChecks(f)
	}
	return checks
}

// TestFormats returns the supported formats of test reports.
func TestFormats() []string { return slices.Sorted(maps.Keys(inventory.Formats)) }

func goChecks(f Files) []pawl.Check {
	if !f.has("go.mod") {
		return nil
	}
	checks := []pawl.Check{
		{ID: "go-build", Kind: pawl.CheckBuild, Args: []string{"go", "build", "./..."}},
		{ID: "go-vet", Kind: pawl.CheckLint, Args: []string{"go", "vet", "./..."}},
		{ID: "go-test", Kind: pawl.CheckTest, Args: []string{"go", "test", "-json", "-count=1", "./..."}, Tests: "gotest"},
	}
	if f.has("vendor/modules.txt") {
		for i := range checks {
			checks[i].Env = []string{"GOFLAGS=-mod=vendor"}
		}
	}
	return checks
}

// packageFile is the part of a package.json that matters for checks.
type packageFile struct {
	Scripts                       map[string]string
	Dependencies, DevDependencies map[string]string
}

func (p packageFile) needs(name string) bool {
	_, a := p.Dependencies[name]
	_, b := p.DevDependencies[name]
	return a || b
}

const (
	nodeReport = ".pawl-tests.json"
	testReport = ".pawl-tests.xml"
)

func nodeChecks(f Files) []pawl.Check {
	text, err := f.Read("package.json")
	var p packageFile
	if err != nil || json.Unmarshal(text, &p) != nil {
		return nil
	}
	var checks []pawl.Check
	if len(p.Dependencies)+len(p.DevDependencies) > 0 && f.has("package-lock.json") {
		checks = append(checks, pawl.Check{
			ID: "npm-ci", Kind: pawl.CheckSetup, Args: []string{"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"}, Network: []string{"registry.npmjs.org"},
		})
	}
	test := pawl.Check{ID: "node-test", Kind: pawl.CheckTest, Tests: "jest", Report: nodeReport}
	switch script := p.Scripts["test"]; {
	case p.needs("vitest"):
		test.Args = []string{"node", "node_modules/vitest/vitest.mjs", "run", "--reporter=json", "--outputFile=" + nodeReport}
	case p.needs("jest"):
		test.Args = []string{"node", "node_modules/jest/bin/jest.js", "--ci", "--json", "--outputFile=" + nodeReport}
	case strings.Contains(script, "node --test"):
		test.Tests, test.Report = "junit", testReport
		test.Args = []string{"node", "--test", "--test-reporter=junit", "--test-reporter-destination=" + testReport}
	case script != "" && !strings.Contains(script, "no test specified"):
		test.Tests, test.Report, test.Args = "", "", []string{"npm", "run", "--silent", "test"}
	default:
		test.Args = nil
	}
	if test.Args != nil {
		checks = append(checks, test)
	}
	for name, kind := range map[string]pawl.CheckKind{"lint": pawl.CheckLint, "typecheck": pawl.CheckTypes, "build": pawl.CheckBuild} {
		if p.Scripts[name] != "" {
			checks = append(checks, pawl.Check{ID: "npm-" + name, Kind: kind, Args: []string{"npm", "run", "--silent", name}})
		}
	}
	slices.SortStableFunc(checks, func(a, b pawl.Check) int { return order(a) - order(b) })
	return checks
}

// order sorts checks: setup first, then builds, tests last.
func order(c pawl.Check) int {
	return slices.Index([]pawl.CheckKind{pawl.CheckSetup, pawl.CheckBuild, pawl.CheckTypes, pawl.CheckLint, pawl.CheckOther, pawl.CheckTest}, c.Kind)
}

func pythonChecks(f Files) []pawl.Check {
	project := f.has("pyproject.toml") || f.has("setup.py") || f.has("setup.cfg") || f.has("pytest.ini") || f.has("tox.ini") || f.has("requirements.txt")
	tests := slices.ContainsFunc(f.Paths, func(name string) bool {
		return path.Ext(name) == ".py" && languages["python"].tests.MatchString(name) && path.Base(name) != "conftest.py"
	})
	if !tests || !project && len(f.Paths) > 1000 {
		return nil
	}
	return []pawl.Check{
		{ID: "python-compile", Kind: pawl.CheckBuild, Args: []string{"python3", "-m", "compileall", "-q", "."}},
		{
			ID: "pytest", Kind: pawl.CheckTest, Tests: "junit", Report: testReport,
			Args: []string{"python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors", "--junitxml=" + testReport},
			Env:  []string{"PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0"},
		},
	}
}

func cargoChecks(f Files) []pawl.Check {
	if !f.has("Cargo.toml") {
		return nil
	}
	return []pawl.Check{
		{ID: "cargo-build", Kind: pawl.CheckBuild, Args: []string{"cargo", "build", "--all-targets", "--offline"}},
		{ID: "cargo-test", Kind: pawl.CheckTest, Args: []string{"cargo", "test", "--offline", "--no-fail-fast"}, Tests: "cargo"},
	}
}

var makeTarget = regexp.MustCompile(`(?m)^(check|test|lint|build)\s*:`)

// makeChecks returns the conventional targets of a Makefile, for a project without other checks.
func makeChecks(f Files) []pawl.Check {
	text, err := f.Read("Makefile")
	if err != nil {
		return nil
	}
	var checks []pawl.Check
	kinds := map[string]pawl.CheckKind{"check": pawl.CheckTest, "test": pawl.CheckTest, "lint": pawl.CheckLint, "build": pawl.CheckBuild}
	for _, m := range makeTarget.FindAllSubmatch(text, -1) {
		name := string(m[1])
		if !slices.ContainsFunc(checks, func(c pawl.Check) bool { return c.ID == "make-"+name }) {
			checks = append(checks, pawl.Check{ID: "make-" + name, Kind: kinds[name], Args: []string{"make", name}})
		}
	}
	slices.SortStableFunc(checks, func(a, b pawl.Check) int { return order(a) - order(b) })
	return checks
}
