package discover

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"go.yaml.in/yaml/v3"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
)

// packageFile is the part of a package.json that matters for checks.
type packageFile struct {
	Scripts                       map[string]string
	Dependencies, DevDependencies map[string]string
	Workspaces                    any // patterns, or an object with them
}

func (p packageFile) needs(name string) bool {
	_, a := p.Dependencies[name]
	_, b := p.DevDependencies[name]
	return a || b
}

// packages is a package of JavaScript: a directory with a package.json.
type packages struct {
	directory
	packageFile

	manager manager
	root    bool // it has its own node_modules
}

// node finds packages of npm, pnpm, yarn and bun. The members of a workspace run their own tests, unless the workspace
// has a script for all. Packages below others that are neither members nor locked are left out.
func node(t *tree) (list []Found) {
	var roots []packages
	tested := map[string]bool{} // roots with tests for their members
	for _, d := range t.directories("package.json") {
		p := packages{directory: d}
		if err := json.Unmarshal([]byte(d.text("package.json")), &p.packageFile); err != nil {
			continue
		}
		i := slices.IndexFunc(roots, func(r packages) bool { return d.path != r.path && below(d.path, r.path) && !p.locked() })
		switch {
		case i < 0:
			p.root, p.manager = true, managerOf(d)
			roots = append(roots, p)
			list = append(list, p.setup()...)
		case tested[roots[i].path] || !roots[i].member(d.path):
			continue
		default:
			p.manager = roots[i].manager
		}
		checks := p.checks()
		tested[d.path] = p.root && slices.ContainsFunc(checks, func(f Found) bool { return f.Kind == pawl.CheckTest })
		list = append(list, checks...)
	}
	return list
}

// member reports whether a directory matches a pattern of the workspace.
func (p packages) member(dir string) bool {
	patterns := p.Workspaces
	if object, ok := patterns.(map[string]any); ok {
		patterns = object["packages"]
	}
	if p.has("pnpm-workspace.yaml") {
		var w struct{ Packages []any }
		if err := yaml.Unmarshal([]byte(p.text("pnpm-workspace.yaml")), &w); err == nil {
			patterns = w.Packages
		}
	}
	list, _ := patterns.([]any)
	in := false
	for _, one := range list {
		pattern, _ := one.(string)
		pattern, not := strings.CutPrefix(pattern, "!")
		if doublestar.MatchUnvalidated(path.Join(p.path, pattern), dir) {
			in = !not
		}
	}
	return in
}

// checks returns the checks of a package, without its setup.
func (p packages) checks() (list []Found) {
	for _, s := range []struct {
		kind  pawl.CheckKind
		names []string
	}{
		{pawl.CheckBuild, []string{"build"}},
		{pawl.CheckTypes, []string{"typecheck", "type-check", "check-types", "check:types", "types"}},
		{pawl.CheckLint, []string{"lint"}},
	} {
		if i := slices.IndexFunc(s.names, func(name string) bool { return p.Scripts[name] != "" }); i >= 0 {
			list = append(list, p.script(s.names[i], s.kind))
		}
	}
	if p.has("tsconfig.json") && p.needs("typescript") && !slices.ContainsFunc(list, func(f Found) bool { return f.Kind == pawl.CheckTypes || p.compiles(f) }) {
		args := []string{"--noEmit", "-p", "."}
		if strings.Contains(p.text("tsconfig.json"), `"references"`) {
			args = []string{"-b"}
		}
		list = append(list, p.check("tsc", pawl.CheckTypes, "tsconfig.json", "configures TypeScript, which package.json requires", append(p.bin("tsc", "typescript/bin/tsc"), args...)...))
	}
	return append(list, p.testChecks()...)
}

// compiles reports whether a check runs a script that calls tsc.
func (p packages) compiles(f Found) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(f.ID, string(p.manager)+"-"), "@")
	return slices.Contains(strings.Fields(p.Scripts[name]), "tsc")
}

// script returns a check that runs a script of the package.
func (p packages) script(name string, kind pawl.CheckKind) Found {
	return p.check(string(p.manager)+"-"+strings.ReplaceAll(name, ":", "-"), kind, "package.json", "has the script "+name, p.manager.run(name)...)
}

// testChecks returns the tests. A runner that reports its tests is called directly, with the arguments of the script. The
// script itself runs if it is unknown what it does, or if it does more.
func (p packages) testChecks() (list []Found) {
	script := p.Scripts["test"]
	if script == "" || strings.Contains(script, "no test specified") {
		for _, name := range []string{"vitest", "jest"} {
			if p.needs(name) {
				return []Found{p.runner(command{args: []string{name}, static: true}, "requires "+name)}
			}
		}
		return nil
	}
	commands, ok := p.expand(script, 0)
	var builds []string
	for _, c := range commands {
		f := p.runner(c, "has the script test, which runs "+c.program())
		switch {
		case building.MatchString(c.program()):
			builds = append(builds, strings.Join(append(slices.Clone(c.env), c.source...), " "))
		case f.Args != nil && len(builds) > 0:
			f = f.inShell(nil)
			f.Args[2] = "PATH=\"$PWD/node_modules/.bin:$PATH\"; " + strings.Join(builds, " && ") + " && " + f.Args[2]
			list = append(list, f)
		case f.Args != nil && !slices.ContainsFunc(list, func(o Found) bool { return o.ID == f.ID }):
			list = append(list, f)
		case !preparing.MatchString(c.program()):
			ok = false
		}
	}
	if !ok || len(list) == 0 {
		list = append(list, p.script("test", pawl.CheckTest))
	}
	return list
}

var (
	// building matches programs in test scripts that write what the tests need. Each check starts with a clean tree.
	building = regexp.MustCompile(`^(tsc|tsup|vite|esbuild|rollup|webpack|swc|babel)$`)
	// preparing matches programs in test scripts that test nothing, or that other checks run.
	preparing = regexp.MustCompile(`^(eslint|prettier|biome|oxlint|echo|rimraf|rm|mkdir|cp|true|cd)$`)
)

// expand returns the commands of a script, with those of the scripts that it runs.
func (p packages) expand(script string, depth int) (list []command, ok bool) {
	commands, ok := parseCommands(script)
	if !ok || depth > 4 {
		return nil, false
	}
	for _, c := range commands {
		c = c.unwrap()
		if name := p.scriptName(c.args); name != "" {
			inner, good := p.expand(p.Scripts[name], depth+1)
			list, ok = append(list, inner...), ok && good
			continue
		}
		list = append(list, c)
	}
	return list, ok
}

var managers = regexp.MustCompile(`^(npm|pnpm|yarn|bun)$`)

// scriptName returns the script that a command such as "npm run lint" runs, or "".
func (p packages) scriptName(args []string) string {
	if !managers.MatchString(args[0]) {
		return ""
	}
	rest := slices.DeleteFunc(slices.Clone(args[1:]), func(a string) bool { return a == "run" || a == "-s" || a == "--silent" })
	if len(rest) == 1 && p.Scripts[rest[0]] != "" && (args[0] != "bun" || rest[0] != "test") {
		return rest[0]
	}
	return ""
}

// runner returns a check that runs the tests of a command with a report. Its Args are nil if the command is no known
// runner.
func (p packages) runner(c command, why string) Found {
	id := p.check("", pawl.CheckTest, "package.json", why)
	f, rest := id, c.args[1:]
	if !c.static {
		rest = c.source[1:]
	}
	var start, more []string
	name := c.program()
	switch {
	case name == "vitest":
		rest = without(rest, "run", "watch", "dev", "--watch", "-w", "--run", "--reporter", "--outputFile", "--coverage", "--ui")
		start, more = p.bin("vitest", "vitest/vitest.mjs"), []string{"run", "--reporter=json", "--outputFile=" + reportJSON}
		f = f.reports("jest", reportJSON)
	case name == "jest":
		rest = without(rest, "--watch", "--watchAll", "--json", "--outputFile", "--ci", "--coverage", "--verbose")
		start, more = p.bin("jest", "jest/bin/jest.js"), []string{"--ci", "--json", "--outputFile=" + reportJSON}
		f = f.reports("jest", reportJSON)
	case name == "mocha" || name == "_mocha":
		rest = without(rest, "--watch", "-w", "--reporter", "-R", "--reporter-option", "--reporter-options", "-O")
		start, more = p.bin("mocha", ""), []string{"--reporter", "xunit", "--reporter-option", "output=" + reportXML}
		f = f.reports("junit", reportXML)
	case name == "playwright" && len(rest) > 0 && rest[0] == "test":
		rest = without(rest[1:], "--reporter", "--ui")
		start, more = p.bin("playwright", ""), []string{"test", "--reporter=junit"}
		f = f.reports("junit", reportXML).env("PLAYWRIGHT_JUNIT_OUTPUT_NAME=" + reportXML)
	case name == "bun" && len(rest) > 0 && rest[0] == "test":
		rest = without(rest[1:], "--watch", "--reporter", "--reporter-outfile", "--coverage")
		start, more = []string{"bun"}, []string{"test", "--reporter=junit", "--reporter-outfile=" + reportXML}
		f = f.reports("junit", reportXML)
	case name == "node" && slices.Contains(rest, "--test"):
		rest = without(rest, "--test", "--watch", "--test-reporter", "--test-reporter-destination", "--experimental-test-coverage")
		start, more = []string{"node"}, []string{"--test", "--test-reporter=" + inventory.NodeReporter, "--test-reporter-destination=" + reportLines}
		f = f.reports("node", reportLines)
	default:
		return id
	}
	f.ID = strings.TrimPrefix(name, "_") + "-test" + f.ID
	f.Args = join(start, more...)
	f = f.env(c.env...)
	if c.static {
		f.Args = append(f.Args, rest...)
		return f
	}
	return f.inShell(rest)
}

// inShell has a shell expand the last arguments, as it does for the script.
func (f Found) inShell(rest []string) Found {
	script := "exec"
	for _, a := range f.Args {
		script += " " + quote(a)
	}
	f.Args = []string{"sh", "-c", strings.Join(append([]string{script}, rest...), " ")}
	return f
}

// without returns arguments without the given flags. A flag that takes a value is one of valued.
func without(args []string, flags ...string) (kept []string) {
	valued := []string{"--reporter", "--outputFile", "-R", "--reporter-option", "--reporter-options", "-O", "--reporter-outfile", "--test-reporter", "--test-reporter-destination"}
	for i := 0; i < len(args); i++ {
		name, _, hasValue := strings.Cut(args[i], "=")
		if !slices.Contains(flags, name) {
			kept = append(kept, args[i])
		} else if slices.Contains(valued, name) && !hasValue {
			i++
		}
	}
	return kept
}
