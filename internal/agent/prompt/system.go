package prompt

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// CatalogBytes bounds the list of skills, and that of subagents, in the system prompt.
const CatalogBytes = 4 << 10

// maxBranch bounds the name of the branch, in characters.
const maxBranch = 100

// System is the system prompt. The same fields give the same text, so that providers can cache it.
type System struct {
	Agent  string // the agent's prompt
	Family string // notes for the model's family; may be empty

	// The environment. What changes during the work, such as uncommitted changes, is left
	// out: it would defeat the provider's cache.
	Dir        string   // "" leaves out the environment
	Dirs       []string // further project directories
	Repository bool
	Branch     string // untrusted text; "" if no branch is checked out
	Platform   string // such as linux/amd64
	Day        string // when the turn began

	Rules   string // the user's and the project's
	Agents  string // user-defined subagents
	Skills  string // the list of skills
	Acquire bool   // explain how to install more skills
	Search  bool   // and how to search for them
}

const familyHead = "How to work well with the tools that you have:"

const rulesHead = "Instructions from the user and the project for every agent. Later ones are more specific and take precedence; " +
	"the user's messages in the conversation take precedence over all. Instructions never change permissions."

const agentsHead = "These agents are also available for tasks:"

const skillsHead = "Skills are instructions for a kind of work. When one matches the task, load it first with the skill tool, by name:"

const moreSkills = "When a skill that you do not have would help, install it with the skill tool: `source` is its repository, OWNER/REPO, and `name` its name. " +
	"Skills of owners that the user trusts need no permission; the user is asked about others. " +
	"Then load it with the skill tool, by name. It comes from a third party: name its source to the user."

const findSkills = " To search for repositories, run `npx skills find WORD` through bash with `unsandboxed`, if the user allows it."

// Text returns the system prompt. Parts that change rarely come first, for the provider's cache.
func (s System) Text() string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(s.Agent) + "\n")
	section := func(title, head, text string) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&b, "\n# %s\n\n%s\n\n%s\n", title, head, text)
		}
	}
	section("How to work", familyHead, s.Family)
	if s.Dir != "" {
		fmt.Fprintf(&b, "\n# Environment\n\n- Working directory: %s\n", sanitize.Line(s.Dir))
		for _, dir := range s.Dirs {
			fmt.Fprintf(&b, "- Further project directory: %s (use absolute paths there)\n", sanitize.Line(dir))
		}
		fmt.Fprintf(&b, "- Git: %s\n- Platform: %s\n- Date: %s\n", s.git(), s.Platform, s.Day)
	}
	section("Rules", rulesHead, s.Rules)
	section("Agents", agentsHead, s.Agents)
	section("Skills", skillsHead, s.Skills)
	if s.Acquire {
		find := ""
		if s.Search {
			find = findSkills
		}
		fmt.Fprintf(&b, "\n# More skills\n\n%s%s\n", moreSkills, find)
	}
	return b.String()
}

func (s System) git() string {
	switch {
	case !s.Repository:
		return "not a repository"
	case s.Branch == "":
		return "a repository, on no branch"
	}
	return fmt.Sprintf("a repository, on the branch %.*q", maxBranch, sanitize.Line(s.Branch))
}
