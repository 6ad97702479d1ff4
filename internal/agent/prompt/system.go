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
	Dir        string // "" leaves out the environment
	Repository bool
	Branch     string // untrusted text; "" if no branch is checked out
	Platform   string // such as linux/amd64
	Day        string // when the turn began

	Rules   string // the user's and the project's
	Agents  string // user-defined subagents
	Skills  string // the list of skills
	Acquire bool   // explain how to install more skills
}

const familyHead = "What helps you to work well with these tools, as far as you have them:"

const rulesHead = "The user and this project have written down what every agent is to follow here. What comes later is nearer to the work and counts more; " +
	"what the user says in the conversation counts most. None of it permits what is not permitted without it."

const agentsHead = "A task can be given to these agents too:"

const skillsHead = "Skills are instructions for a kind of work. When one fits what you do, load it first, with the tool skill, by its name:"

const moreSkills = "When a kind of work would go better with a skill that you do not have, look for one and install it, if the user permits that, by bash with `unsandboxed`: " +
	"`npx skills find WORD` searches for repositories, `pawl skills add OWNER/REPO --dry-run` shows what one has, `pawl skills add OWNER/REPO NAME --yes` installs it. " +
	"It can be loaded at once, with the tool skill, by its name. It is a stranger's work: tell the user where it comes from."

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
		fmt.Fprintf(&b, "\n# Where you work\n\n- Folder: %s\n- Git: %s\n- Platform: %s\n- Date: %s\n", sanitize.Line(s.Dir), s.git(), s.Platform, s.Day)
	}
	section("Rules", rulesHead, s.Rules)
	section("Agents", agentsHead, s.Agents)
	section("Skills", skillsHead, s.Skills)
	if s.Acquire {
		fmt.Fprintf(&b, "\n# More skills\n\n%s\n", moreSkills)
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
