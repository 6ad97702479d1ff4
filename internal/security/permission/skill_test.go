package permission

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// TestSkill is the table of installing skills: what each mode says about a trusted owner,
// another one, and a host that the user has not named.
func TestSkill(t *testing.T) {
	t.Parallel()
	a, r, d := Allow, Review, Deny
	modes := []Mode{ModePlan, ModeAsk, ModeGuard, ModeAuto, ModeYolo, "", "Yolo"}
	trusted := []Decision{a, a, a, a, a, d, d}
	asked := []Decision{d, r, r, d, a, d, d}
	never := []Decision{d, d, d, d, a, d, d}
	for _, tt := range []struct {
		target string
		want   []Decision // by mode
	}{
		{"github.com/alice/tools", trusted},
		{"github.com/alice/tools@v1#skills/carve", trusted},
		{"git.example.org:8443/bob/tools", trusted},
		{"git.example.org:8443/bob/sub/tools", trusted},

		{"github.com/mallory/tools", asked},
		{"github.com/Alice/tools", asked},
		{"github.com/alice-/tools", asked},
		{"github.com/bob/tools", asked},
		{"github.com/mallory/alice", asked},
		{"github.com/mallory/tools@github.com/alice/tools", asked},
		{"git.example.org:8443/alice/tools", asked},

		{"github.com.evil.com/alice/tools", never},
		{"github.com:443/alice/tools", never},
		{"git.example.org/bob/tools", never},
	} {
		var got []Decision
		for _, mode := range modes {
			p := Policy{Mode: mode, Sandboxed: true, Dir: "/work", TrustedOwners: []string{"github.com/alice", "git.example.org:8443/bob"}}
			got = append(got, Decide(p, access(pawl.AccessSkill, tt.target)).Decision)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.target, diff)
		}
	}
	for _, target := range []string{
		"", "alice/tools", "github.com/alice", "github.com/alice/../mallory/tools", "github.com/alice\\u002f/x", "GitHub.com/alice/tools", "https://github.com/alice/tools",
		"alice@github.com/alice/tools", "github.com/аlice/tools", "github.com/alice%2f/tools", "github.com//alice/tools", "github.com/alice/tools\nx",
	} {
		p := Policy{Mode: ModeGuard, Dir: "/work", TrustedOwners: []string{"github.com/alice"}}
		if v := Decide(p, access(pawl.AccessSkill, target)); v.Decision != Deny {
			t.Errorf("%q: %s", target, v.Decision)
		}
	}
}

// TestSkillRules: rules about the commands that install skills hold for the skill tool, and
// no rule of the project allows anything.
func TestSkillRules(t *testing.T) {
	t.Parallel()
	rule := func(kind pawl.AccessKind, pattern string, d Decision, o Origin) Rule {
		return Rule{Kind: kind, Pattern: pattern, Decision: d, Origin: o}
	}
	for name, tt := range map[string]struct {
		rule   Rule
		target string
		absent bool
		want   Decision
	}{
		"none":                     {Rule{Tool: "other", Decision: Deny}, "github.com/alice/tools", false, Allow},
		"npx is denied":            {rule(pawl.AccessExec, "npx *", Deny, OriginProject), "github.com/alice/tools", false, Deny},
		"this repository":          {rule(pawl.AccessExec, "npx skills add alice/tools", Deny, OriginUser), "github.com/alice/tools", false, Deny},
		"another repository":       {rule(pawl.AccessExec, "npx skills add alice/other", Deny, OriginUser), "github.com/alice/tools", false, Allow},
		"pawl asks":                {rule(pawl.AccessExec, "pawl skills *", Ask, OriginUser), "github.com/alice/tools", false, Review},
		"the tool is denied":       {Rule{Tool: "skill", Decision: Deny, Origin: OriginProject}, "github.com/alice/tools", false, Deny},
		"the project allows":       {rule(pawl.AccessExec, "npx skills add mallory/tools", Allow, OriginProject), "github.com/mallory/tools", false, Review},
		"a command may, this not":  {rule(pawl.AccessEscape, "npx skills add mallory/tools", Allow, OriginUser), "github.com/mallory/tools", false, Review},
		"nobody is there":          {Rule{Tool: "other", Decision: Deny}, "github.com/mallory/tools", true, Deny},
		"nobody is there, trusted": {Rule{Tool: "other", Decision: Deny}, "github.com/alice/tools", true, Allow},
	} {
		p := Policy{Mode: ModeGuard, Sandboxed: true, Dir: "/work", Absent: tt.absent, TrustedOwners: []string{"github.com/alice"}, Rules: []Rule{tt.rule}}
		c := Call{Tool: "skill", Risk: toolapi.RiskSafe, Access: []pawl.Access{{Kind: pawl.AccessSkill, Target: tt.target}}}
		v := Decide(p, c)
		if v.Decision != tt.want || v.Offer != nil {
			t.Errorf("%s: %s, %q, offers %v", name, v.Decision, v.Why, v.Offer)
		}
		if tt.absent && tt.want == Deny && !strings.Contains(v.Why, "skills.trusted_owners") {
			t.Errorf("%s: the reason does not name the key: %q", name, v.Why)
		}
	}
}
