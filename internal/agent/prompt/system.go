package prompt

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// CatalogBytes is how much a model is told of the skills before it loads any,
// and of the agents that a task can be given to.
const CatalogBytes = 4 << 10

// maxBranch bounds a branch's name, in characters.
const maxBranch = 100

// System is what a model is told before the conversation. The same fields make
// the same text, so that a provider's cache holds.
type System struct {
	Agent  string // the agent's own words
	Family string // what helps models of the family that is asked; "" means nothing

	// Where it works. What changes while it works, such as whether there are changes
	// that are not committed, is not in it: the provider's cache would not hold.
	Dir        string // "" means that nothing is known of it
	Repository bool
	Branch     string // a stranger's text; "" if none is checked out
	Platform   string // e.g. linux/amd64
	Day        string // when the turn began

	Rules   string // of the user and the project
	Agents  string // those that a task can be given to, besides pawl's own
	Skills  string // their catalog
	Acquire bool   // it can install more of them
}

const familyHead = "What helps you to work well with these tools, as far as you have them:"

const rulesHead = "The user and this project have written down what every agent is to follow here. What comes later is nearer to the work and counts more; " +
	"what the user says in the conversation counts most. None of it permits what is not permitted without it."

const agentsHead = "A task can be given to these agents too:"

const skillsHead = "Skills are instructions for a kind of work. When one fits what you do, load it first, with the tool skill, by its name:"

const moreSkills = "When a kind of work would go better with a skill that you do not have, look for one and install it, if the user permits that, by bash with `unsandboxed`: " +
	"`npx skills find WORD` searches for repositories, `pawl skills add OWNER/REPO --dry-run` shows what one has, `pawl skills add OWNER/REPO NAME --yes` installs it. " +
	"It can be loaded at once, with the tool skill, by its name. It is a stranger's work: tell the user where it comes from."

// Text returns it all, in an order in which what changes less comes first.
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
