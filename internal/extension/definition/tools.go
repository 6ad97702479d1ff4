package definition

import (
	"path"
	"slices"
	"strings"
)

// ours are pawl's tools.
var ours = []string{
	"apply_patch", "bash", "bash_kill", "bash_output", "codesearch", "diagnostics", "edit", "glob", "grep", "list", "plan_exit", "question", "read", "skill", "task",
	"todoread", "todowrite", "webfetch", "websearch", "write",
}

// theirs says what other tools call ours, in lower case, where one name is not
// one tool of the same name. A command in the background needs all three.
var theirs = map[string][]string{
	"bash": {"bash", "bash_kill", "bash_output"}, "ls": {"list"}, "multiedit": {"edit"}, "patch": {"apply_patch"}, "applypatch": {"apply_patch"},
	"bashoutput": {"bash_output"}, "killbash": {"bash_kill"}, "killshell": {"bash_kill"}, "agent": {"task"}, "todowrite": {"todoread", "todowrite"},
	"exitplanmode": {"plan_exit"}, "askuserquestion": {"question"}, "lsp": {"diagnostics"},
}

// changes are the tools that change files: who is denied one is denied all.
var changes = []string{"apply_patch", "edit", "write"}

// toolsNamed returns our tools for a name, be it ours or another tool's; nil if
// there is none. Bash(git:*) is a rule, and no name: the whole tool would be more
// than was meant.
func toolsNamed(name string) []string {
	lower := strings.ToLower(name)
	if tools, ok := theirs[lower]; ok {
		return tools
	}
	if slices.Contains(ours, lower) {
		return []string{lower}
	}
	return nil
}

// toolsGranted is toolsNamed, and the tools of MCP servers, which are known only
// when they run.
func toolsGranted(name string) []string {
	if OfServers(name) {
		return []string{name}
	}
	return toolsNamed(name)
}

// toolsDenied returns our tools for a name, or a pattern with *, that is to be
// denied: rather more than less.
func toolsDenied(name string) []string {
	tools := slices.Clone(toolsNamed(name))
	if strings.Contains(name, "*") {
		for _, t := range ours {
			if ok, err := path.Match(strings.ToLower(name), t); ok && err == nil {
				tools = append(tools, t)
			}
		}
	}
	if before, _, rule := strings.Cut(name, "("); rule {
		tools = append(tools, toolsNamed(before)...)
	}
	if slices.ContainsFunc(tools, func(t string) bool { return slices.Contains(changes, t) }) {
		tools = append(tools, changes...)
	}
	slices.Sort(tools)
	return slices.Compact(tools)
}

// ClassSmall is the class of models for what needs little thought.
const ClassSmall = "small"

// classes say which class of model a short name means, be it ours or another
// tool's. "" is the session's own model.
var classes = map[string]string{"inherit": "", "default": "", "small": ClassSmall, "haiku": ClassSmall}

// larger are short names of models that are not small. Whoever runs a session has
// chosen its model, and no file makes it dearer.
var larger = []string{"medium", "large", "sonnet", "opus"}
