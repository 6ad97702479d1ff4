package permission

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

const (
	printA = "@0123456789abcdef"
	printB = "@fedcba9876543210"
)

// A tool of an MCP server is checked by whose it is and what is said of it.
func TestServerTools(t *testing.T) {
	t.Parallel()
	rule := func(pattern string, d Decision) []Rule {
		return user(Rule{Kind: pawl.AccessMCP, Pattern: pattern, Decision: d})
	}
	for _, tt := range []struct {
		name   string
		mode   Mode
		rules  []Rule
		target string
		want   Decision
	}{
		{"unasked", ModeGuard, nil, "git/log" + printA, Ask},
		{"nobody there", ModeAuto, nil, "git/log" + printA, Deny},
		{"planning", ModePlan, rule("git/log", Allow), "git/log" + printA, Deny},
		{"allowed", ModeAuto, rule("git/log", Allow), "git/log" + printA, Allow},
		{"the whole server", ModeAuto, rule("git/*", Allow), "git/log" + printA, Allow},
		{"another tool", ModeGuard, rule("git/log", Allow), "git/push" + printA, Ask},
		{"another server", ModeGuard, rule("git/*", Allow), "gitlab/log" + printA, Ask},
		{"in this state", ModeGuard, rule("git/log"+printA, Allow), "git/log" + printA, Allow},
		{"in another state", ModeGuard, rule("git/log"+printA, Allow), "git/log" + printB, Ask},
		{"denied", ModeYolo, rule("git/*", Deny), "git/log" + printA, Deny},
		{"changed", ModeGuard, rule("git/*", Allow), "git/log" + printB + "!changed", Ask},
		{"changed, though all is allowed", ModeYolo, nil, "git/log" + printB + "!changed", Ask},
		{"changed, and nobody there", ModeAuto, rule("git/*", Allow), "git/log" + printB + "!changed", Deny},
		{"no tool", ModeYolo, rule("git/*", Allow), "git", Ask},
		{"an odd one", ModeYolo, rule("git/*", Allow), "git/log\n" + printA, Ask},
	} {
		c := Call{Tool: "mcp_call", Risk: toolapi.RiskModerate, Access: []pawl.Access{{Kind: pawl.AccessMCP, Target: tt.target}}}
		if got := Decide(Policy{Mode: tt.mode, Rules: tt.rules, Dir: "/work"}, c); got.Decision != tt.want {
			t.Errorf("%s: %s, want %s: %s", tt.name, got.Decision, tt.want, got.Why)
		}
	}
}

// What "always" adds is for the tool as it is shown, by whatever name it is
// called; of one that has changed it adds nothing.
func TestServerToolOffer(t *testing.T) {
	t.Parallel()
	for target, want := range map[string][]Rule{
		"git/log" + printA:              {{Kind: pawl.AccessMCP, Pattern: "git/log" + printA, Decision: Allow}},
		"git/log":                       nil,
		"git/log" + printA + "!changed": nil,
	} {
		c := Call{Tool: "mcp__git__log", Risk: toolapi.RiskModerate, Access: []pawl.Access{{Kind: pawl.AccessMCP, Target: target}}}
		if diff := cmp.Diff(want, Decide(Policy{Mode: ModeGuard, Dir: "/work"}, c).Offer); diff != "" {
			t.Errorf("%s: %s", target, diff)
		}
	}
}

func TestServerToolRules(t *testing.T) {
	t.Parallel()
	for rule, ok := range map[string]bool{
		`{"kind":"mcp","pattern":"git/log","decision":"allow","match":["git/log"],"not_match":["git/push","hub/log"]}`: true,
		`{"kind":"mcp","pattern":"git/*","decision":"deny","match":["git/log@0123456789abcdef"]}`:                      true,
		`{"kind":"mcp","decision":"deny"}`:                                     true,
		`{"kind":"mcp","decision":"allow"}`:                                    false,
		`{"kind":"mcp","pattern":"*","decision":"deny"}`:                       false,
		`{"kind":"mcp","pattern":"git/l*","decision":"deny"}`:                  false,
		`{"kind":"mcp","pattern":"*/log","decision":"deny"}`:                   false,
		`{"kind":"mcp","pattern":"git/log@0123","decision":"deny"}`:            false,
		`{"tool":"mcp__git__log","decision":"deny"}`:                           false,
		`{"tool":"mcp_call","decision":"allow"}`:                               false,
		`{"tool":"mcp_call","kind":"mcp","pattern":"git/*","decision":"deny"}`: false,
	} {
		if _, err := ParseRules([]byte("["+rule+"]"), OriginUser); (err == nil) != ok {
			t.Errorf("%s: %v", rule, err)
		}
	}
}
