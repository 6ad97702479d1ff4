package permission

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

// skillHost is the host that Pawl fetches skills from by default.
const skillHost = "github.com"

// skillTarget matches the target of an access that installs skills:
// host/owner/repository, with @ref and #directory.
var skillTarget = regexp.MustCompile(`^([a-z0-9.-]+(?::[0-9]{1,5})?)/([A-Za-z0-9][A-Za-z0-9._-]*)((?:/[A-Za-z0-9._-]+)+)(?:[@#].*)?$`)

// skill decides on installing skills of an owner. Those of trusted owners are allowed
// in every mode: installing them changes neither the project nor permissions. The user
// is asked about others after they were fetched, because only then is it known what they
// are: the decision is Review. Pawl contacts no host for that which the user has not
// named, because the model chooses the address.
func (j *decider) skill(a pawl.Access) {
	m := skillTarget.FindStringSubmatch(a.Target)
	if m == nil || slices.ContainsFunc(strings.Split(m[3], "/"), func(part string) bool { return part == "." || part == ".." }) {
		j.find(Finding{Access: a}, modeDecision{decision: Deny, firm: true, why: "use host/owner/repository"}, matching{})
		return
	}
	host, owner := m[1], m[1]+"/"+m[2]
	s := j.Mode.decide(classLeave)
	switch {
	case j.Mode.known() && slices.Contains(j.TrustedOwners, owner):
		s = modeDecision{decision: Allow, why: fmt.Sprintf("skills.trusted_owners has %s", owner)}
	case j.Mode == ModeYolo:
	case host != skillHost && !slices.ContainsFunc(j.TrustedOwners, func(o string) bool { return strings.HasPrefix(o, host+"/") }):
		s = modeDecision{decision: Deny, firm: true, why: fmt.Sprintf("skills.trusted_owners in the user's configuration names no owner on %s", host)}
	default:
		s.why = fmt.Sprintf("skills.trusted_owners in the user's configuration does not have %s", owner)
	}
	j.find(Finding{Access: a}, s, matching{matches: func(r matcher) likeness { return r.skillLikeness(m[0], host, m[2]+m[3]) }})
	if f := &j.findings[len(j.findings)-1]; f.Decision == Ask {
		f.Decision = Review
	}
}

// skillLikeness reports how surely a rule that asks about commands, or denies them,
// matches a command that installs the same skills.
func (m matcher) skillLikeness(target, host, repository string) likeness {
	if m.any {
		return alike
	}
	sources := []string{"https://" + target}
	if host == skillHost {
		sources = append(sources, repository)
	}
	best := unlike
	for _, source := range sources {
		for _, program := range []string{"npx", "pawl"} {
			script, err := parse(program + " skills add " + source)
			if err != nil {
				return maybe
			}
			runs := script.runs()
			for i := range script.segments {
				best = max(best, m.commandLikeness(runs, i))
			}
		}
	}
	return best
}
