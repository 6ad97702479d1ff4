package discover

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

// target is a target of a Makefile, or a recipe of a justfile.
type target struct {
	needs []string // other targets
	lines []string // commands
}

// targets are those that are run, by convention.
var targets = []struct {
	name string
	kind pawl.CheckKind
}{{"build", pawl.CheckBuild}, {"lint", pawl.CheckLint}, {"test", pawl.CheckTest}, {"check", pawl.CheckTest}}

// makefiles finds the targets build, lint, test and check of Makefiles.
func makefiles(t *tree) (list []Found) {
	for _, d := range outermost(t.directories("GNUmakefile", "makefile", "Makefile")) {
		file := d.first("GNUmakefile", "makefile", "Makefile")
		list = append(list, d.targetChecks("make", file, readMakefile(d.text(file)))...)
	}
	return list
}

// targetChecks returns checks for the targets that do something that other checks do not: with the targets that it
// needs, a target has a command line whose program no check below the directory is about, and that no earlier target
// has. A line that cannot be understood counts as new.
func (d directory) targetChecks(program, file string, all map[string]target) (list []Found) {
	known := d.programs()
	seen := map[string]bool{}
	for _, one := range targets {
		if _, ok := all[one.name]; !ok {
			continue
		}
		why := ""
		for _, line := range commandLines(all, one.name, map[string]bool{}) {
			if what := d.news(line, known); what != "" && !seen[line] && why == "" {
				why = "has the target " + one.name + ", which runs " + what
			}
			seen[line] = true
		}
		if why != "" {
			list = append(list, d.check(program+"-"+one.name, one.kind, file, why, program, one.name))
		}
	}
	return list
}

// commandLines returns the commands of a target and of those that it needs. A target that is missing, and that may be a
// file that other rules make, is a line of its own.
func commandLines(all map[string]target, name string, visited map[string]bool) (lines []string) {
	if visited[name] {
		return nil
	}
	visited[name] = true
	t, ok := all[name]
	if !ok {
		return []string{"make " + name}
	}
	for _, need := range t.needs {
		lines = append(lines, commandLines(all, need, visited)...)
	}
	for _, line := range t.lines {
		if m := submake.FindStringSubmatch(line); m != nil {
			lines = append(lines, commandLines(all, m[1], visited)...)
			continue
		}
		lines = append(lines, line)
	}
	return lines
}

// submake matches a command that makes another target of the same file.
var submake = regexp.MustCompile(`^(?:make|just)(?:\s+--no-print-directory)?\s+([\w.-]+)$`)

// families are the programs that a check of an ecosystem stands for.
var families = map[string][]string{
	"go":     {"go", "gotestsum", "gofmt"},
	"python": {"python", "python3", "pytest", "py.test", "tox", "nox", "uv", "poetry", "pip", "coverage"},
	"node":   {"npm", "npx", "pnpm", "yarn", "bun", "node", "jest", "vitest", "mocha", "tsc"},
	"cargo":  {"cargo"},
	"mvn":    {"mvn", "mvnw"},
	"gradle": {"gradle", "gradlew"},
	"dotnet": {"dotnet"},
	"ruby":   {"bundle", "rake", "rspec", "ruby", "rails"},
	"php":    {"php", "phpunit", "composer", "pest"},
	"prove":  {"prove", "perl"},
	"mix":    {"mix"},
	"swift":  {"swift"},
	"cmake":  {"cmake", "ctest", "meson", "ninja"},
	"bats":   {"bats"},
}

// silent are programs that check nothing.
var silent = []string{"echo", "printf", "cd", "mkdir", "rm", "true", ":", "export", "set", "cp", "touch", "exit", "time", "which", "command", "@echo"}

// programs returns the programs that the checks below a directory stand for.
func (d directory) programs() map[string]bool {
	known := map[string]bool{}
	for _, name := range silent {
		known[name] = true
	}
	for _, f := range d.found {
		if !below(f.Dir, d.path) {
			continue
		}
		for _, names := range families {
			for _, name := range names {
				if slices.ContainsFunc(f.Args, func(a string) bool { return path.Base(a) == name || strings.HasPrefix(a, name+" ") }) {
					for _, member := range names {
						known[member] = true
					}
				}
			}
		}
	}
	return known
}

// news returns the program of a command line that is not known, or "".
func (d directory) news(line string, known map[string]bool) string {
	commands, ok := parseCommands(line)
	if !ok {
		return line
	}
	for _, c := range commands {
		args := c.unwrap().args
		name := path.Base(args[0])
		if i := slices.Index(args, "-C"); name == "make" && i >= 0 && i+1 < len(args) && d.tests(path.Join(d.path, args[i+1])) {
			continue
		}
		if name == "make" && len(args) == 2 && slices.Contains(d.Paths, path.Join(d.path, args[1])) {
			continue // a file
		}
		if !known[name] {
			return name
		}
	}
	return ""
}

var (
	makeRule     = regexp.MustCompile(`^([\w./ -]+?)\s*::?(?:$|[^=](.*))$`)
	makeVariable = regexp.MustCompile(`^\s*(?:export\s+)?([A-Za-z_]\w*)\s*[:?+]?:?=\s*(.*)$`)
	// makeCondition matches a line that may be in the middle of a recipe.
	makeCondition = regexp.MustCompile(`^\s*(ifn?eq|ifn?def|else|endif)\b`)
	makeAutomatic = regexp.MustCompile(`\$(?:[@<^*?+%]|\([@<^*?+%][DF]?\))`)
	makeUse       = regexp.MustCompile(`\$[({]([A-Za-z_]\w*)[)}]`)
)

// readMakefile reads the targets of a Makefile, with its variables expanded.
func readMakefile(text string) map[string]target {
	all, values := map[string]target{}, map[string]string{"MAKE": "make", "CURDIR": ".", "PWD": "."}
	expand := func(s string) string {
		for range 5 {
			s = makeUse.ReplaceAllStringFunc(s, func(use string) string { return values[use[2:len(use)-1]] })
		}
		return makeAutomatic.ReplaceAllString(s, "file")
	}
	var current []string
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		line = strings.TrimRight(line, "\r\n")
		recipe, isRecipe := strings.CutPrefix(line, "\t")
		line, _, _ = strings.Cut(line, "#")
		switch rule := makeRule.FindStringSubmatch(line); {
		case isRecipe:
			appendLine(all, current, strings.ReplaceAll(expand(strings.TrimLeft(strings.TrimSpace(recipe), "@-+")), "$$", "$"))
		case makeVariable.MatchString(line):
			m := makeVariable.FindStringSubmatch(line)
			values[m[1]] = m[2]
		case rule != nil:
			needs, inline, _ := strings.Cut(expand(rule[2]), ";")
			needs, _, _ = strings.Cut(needs, "|")
			current = strings.Fields(rule[1])
			for _, name := range current {
				t := all[name]
				t.needs = append(t.needs, strings.Fields(needs)...)
				all[name] = t
			}
			appendLine(all, current, strings.TrimSpace(inline))
		case strings.TrimSpace(line) != "" && !makeCondition.MatchString(line):
			current = nil
		}
	}
	return all
}

func appendLine(all map[string]target, names []string, line string) {
	if line == "" || strings.HasPrefix(line, "#") {
		return
	}
	for _, name := range names {
		t := all[name]
		t.lines = append(t.lines, line)
		all[name] = t
	}
}
