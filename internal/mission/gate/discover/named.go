package discover

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/pawl-dev/pawl"
)

var (
	workflowFile = regexp.MustCompile(`^\.github/workflows/[^/]+\.ya?ml$|^\.gitlab-ci\.ya?ml$`)

	// namedTest and namedLint match commands that clearly test or lint and do nothing else.
	namedTest = regexp.MustCompile(`^(make|just|task|npm|pnpm|yarn|bun|deno|go|cargo|mvn|gradle|sbt|lein|mill|stack|cabal|dune|dart|flutter|zig|mix|rebar3|gleam|nimble|crystal|swift|bazel|buck2|rake|composer|tox|nox|meson|xmake|elm-test|R|lua|luarocks|forge|hardhat|pytest|py\.test|prove|bats|busted|rspec|phpunit|ctest|runghc|raku)` +
		`( (--?[\w=.,:/-]+|-C [\w./-]+|run|exec|build|cmd))*( (run-)?(unit-?)?(tests?|check|spec|verify|runtest)([:/-][\w./:-]+)?)( [\w./:=@,+-]+)*$` +
		`|^(pytest|py\.test|tox|nox|prove|bats|busted|rspec|phpunit|ctest|elm-test)( [\w./:=@,+-]+)*$` +
		`|^(sh|bash|zsh|python3?|perl|ruby|node|php|lua|Rscript|julia|tclsh)( -[\w=.:-]+)* [\w./-]*(tests?|check|spec)[\w./-]*( [\w./:=@,+-]+)*$` +
		`|^(\./)?([\w.-]+/)*[\w.-]*(tests?|check)[\w-]*(\.\w+)?$`)
	namedLint = regexp.MustCompile(`^(golangci-lint run|ruff check|flake8|pylint|mypy|pyright|eslint|shellcheck|hadolint|yamllint|luacheck|rubocop|phpstan|credo|hlint|ktlint|swiftlint|clippy|stylelint|markdownlint|buf lint|terraform validate|tflint)( [\w./:=@,*+-]+)*$` +
		`|^(make|just|task|npm|pnpm|yarn|bun|composer|mix|cargo|go|deno)( run)? (lint|vet|clippy|fmt --check|typecheck|type-check|check-types)( [\w./:=@,+-]+)*$`)

	codeBlock  = regexp.MustCompile("(?ms)^\\s*```[a-z]*\\n(.*?)^\\s*```")
	inlineCode = regexp.MustCompile("`([^`\n]+)`")
	toxCommand = regexp.MustCompile(`(?m)^commands\s*=\s*(.*(?:\n[ \t]+.*)*)`)
)

// named finds commands that AGENTS.md, CI files and tox.ini name, if no tests were found otherwise. It takes only those
// that clearly test or, if nothing at all was found, lint.
func named(t *tree) (list []Found) {
	if t.tests("") {
		return nil
	}
	top := directory{t, ""}
	seen := map[string]bool{}
	add := func(file, line, dir string) {
		f, ok := top.namedCheck(strings.TrimSpace(line), dir)
		if !ok || seen[f.String()+dir] || f.Kind == pawl.CheckLint && len(t.found) > 0 {
			return
		}
		seen[f.String()+dir] = true
		f.Why = file + " names it"
		list = append(list, f)
	}
	for line := range strings.Lines(documentCode(top.text("AGENTS.md"))) {
		add("AGENTS.md", strings.TrimPrefix(strings.TrimSpace(line), "$ "), "")
	}
	for _, name := range t.Paths {
		if workflowFile.MatchString(name) {
			for _, c := range workflowLines(top.text(name)) {
				add(name, c.line, c.dir)
			}
		}
	}
	for _, m := range toxCommand.FindAllStringSubmatch(top.text("tox.ini"), -1) {
		for line := range strings.Lines(m[1]) {
			add("tox.ini", strings.TrimSpace(strings.ReplaceAll(line, "{posargs}", "")), "")
		}
	}
	return number(list)
}

// number makes the IDs unique.
func number(list []Found) []Found {
	count := map[string]int{}
	for i, f := range list {
		if count[f.ID]++; count[f.ID] > 1 {
			list[i].ID += "-" + strconv.Itoa(count[f.ID])
		}
	}
	return list
}

// documentCode returns the code blocks and the inline code of a Markdown document, in lines.
func documentCode(text string) string {
	var b strings.Builder
	for _, m := range codeBlock.FindAllStringSubmatch(text, -1) {
		b.WriteString(m[1])
	}
	for _, m := range inlineCode.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
		b.WriteString(m[1] + "\n")
	}
	return b.String()
}

// namedCheck returns a check for a command line, if it is a simple command that clearly tests or lints.
func (d directory) namedCheck(line, dir string) (Found, bool) {
	commands, ok := parseCommands(line)
	if dir = path.Clean(dir); dir == "." {
		dir = ""
	}
	if d.names[dir] == nil || !ok || len(commands) != 1 || !commands[0].static || len(commands[0].env) > 0 {
		return Found{}, false
	}
	args := commands[0].args
	text, kind := strings.Join(args, " "), pawl.CheckTest
	switch {
	case namedLint.MatchString(text):
		kind = pawl.CheckLint
	case !namedTest.MatchString(text):
		return Found{}, false
	}
	in := directory{d.tree, dir}
	if strings.Contains(args[0], "/") { // a script of the project
		shell, ok := in.shell(path.Clean(args[0]))
		if !ok {
			return Found{}, false
		}
		args = append([]string{shell, path.Clean(args[0])}, args[1:]...)
	}
	if !d.installed(args[0]) {
		return Found{}, false
	}
	f := in.check("named-"+string(kind), kind, "", "", args...)
	if args[0] == "bats" || args[0] == "prove" && slices.ContainsFunc(args, func(a string) bool { return a == "-v" || a == "--verbose" }) {
		f = f.reports("tap", "")
	}
	return f, true
}

// workflowLine is a line of a script in a CI file.
type workflowLine struct{ line, dir string }

// workflowLines returns the lines of all "run" and "script" entries of a CI file.
func workflowLines(text string) (list []workflowLine) {
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(text), &root); err != nil {
		return nil
	}
	var walk func(n *yaml.Node, dir string)
	walk = func(n *yaml.Node, dir string) {
		if n.Kind == yaml.MappingNode {
			if in := field(n, "working-directory"); in != nil {
				dir = in.Value
			}
			if in := field(field(field(n, "defaults"), "run"), "working-directory"); in != nil {
				dir = in.Value
			}
			for i := 0; i+1 < len(n.Content); i += 2 {
				if key := n.Content[i].Value; key == "run" || key == "script" {
					list = append(list, scriptLines(n.Content[i+1], dir)...)
				}
			}
		}
		for _, c := range n.Content {
			walk(c, dir)
		}
	}
	walk(&root, "")
	return list
}

// field returns the value of a key of a mapping, or nil.
func field(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// scriptLines returns the lines of a text, or of a list of texts.
func scriptLines(n *yaml.Node, dir string) (list []workflowLine) {
	for _, c := range append([]*yaml.Node{n}, n.Content...) {
		if c.Kind == yaml.ScalarNode {
			for line := range strings.Lines(strings.ReplaceAll(c.Value, "\\\n", " ")) {
				list = append(list, workflowLine{line, dir})
			}
		}
	}
	return list
}
