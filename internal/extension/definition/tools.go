package definition

import (
	"path"
	"slices"
	"strings"
)

// ours are the built-in tools.
var ours = []string{
	"apply_patch", "bash", "bash_kill", "bash_output", "codesearch", "diagnostics", "edit", "glob", "grep", "list", "plan_exit", "question", "read", "skill", "task",
	"todoread", "todowrite", "webfetch", "websearch", "write",
}

// theirs maps the tool names of other agents, in lower case, to ours, where
// they differ. A background command needs all three.
var theirs = map[string][]string{
	"bash": {"bash", "bash_kill", "bash_output"}, "ls": {"list"}, "multiedit": {"edit"}, "patch": {"apply_patch"}, "applypatch": {"apply_patch"},
	"bashoutput": {"bash_output"}, "killbash": {"bash_kill"}, "killshell": {"bash_kill"}, "agent": {"task"}, "todowrite": {"todoread", "todowrite"},
	"exitplanmode": {"plan_exit"}, "askuserquestion": {"question"}, "lsp": {"diagnostics"},
}

// changes are the tools that change files: denying one denies all.
var changes = []string{"apply_patch", "edit", "write"}

// toolsNamed returns our tools for a name of ours or of another agent, or nil.
// Bash(git:*) is a rule, not a name: the whole tool would be more than what
// was meant.
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

// toolsAllowed is toolsNamed, and also accepts MCP tools, which are only known
// at run time.
func toolsAllowed(name string) []string {
	if OfServers(name) {
		return []string{name}
	}
	return toolsNamed(name)
}

// toolsDenied returns our tools for a name or pattern with * that is denied.
// It is interpreted broadly.
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

// ClassSmall is the class of small models, for simple tasks.
const ClassSmall = "small"

// classes maps short model names, ours and those of other agents, to classes.
// "" is the session's own model.
var classes = map[string]string{"inherit": "", "default": "", "small": ClassSmall, "haiku": ClassSmall}

// larger are short names of models that are not small. They are ignored: the
// user has chosen the session's model, and no file can make it more expensive.
var larger = []string{"medium", "large", "sonnet", "opus"}
