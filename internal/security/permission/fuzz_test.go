package permission

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// FuzzSegments checks that parsing never panics, that the words occur in the command line, and that a command that
// bash rejects is never literal.
func FuzzSegments(f *testing.F) {
	for _, h := range hostiles {
		f.Add(h.command)
	}
	for _, found := range []string{"+", "in", "time&0"} {
		f.Add(found)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, command string) {
		s, err := read(command) // without the net that catches panics
		if err != nil {
			return
		}
		quoted := strings.ContainsAny(command, `\'"$`)
		plain := len(s.segments) > 0
		for _, seg := range s.segments {
			plain = plain && seg.Literal()
			for _, w := range seg.words {
				if w.known && (quoted && !isSubsequence(w.text, command) || !quoted && !strings.Contains(command, w.text)) {
					t.Errorf("%q is not in %q", w.text, command)
				}
			}
		}
		s.runs()
		if plain && exec.Command(bash, "-n", "-c", "--", command).Run() != nil {
			t.Errorf("bash refuses %q, and it is plain: %+v", command, s.segments)
		}
	})
}

func isSubsequence(part, whole string) bool {
	for i := 0; i < len(part); i++ {
		at := strings.IndexByte(whole, part[i])
		if at < 0 {
			return false
		}
		whole = whole[at+1:]
	}
	return true
}

// The laws hold whatever a model or a project writes.
func FuzzDecide(f *testing.F) {
	for i, h := range hostiles {
		pattern := strings.Join(append(h.allow, h.deny...), " ")
		f.Add(uint8(i), "exec", h.command, "exec", pattern, "write", "docs/a")
	}
	f.Add(uint8(4), "exec", "rm -rf $x/\u202e", "exec", "ls", "odd\x1b", "x")
	f.Add(uint8(3), "write", "a/../.git/x", "write", "**", "net", "x.org")
	f.Add(uint8(9), "net", "https://a@x.org:1/", "net", "*.x.org", "read", "~/a")
	f.Fuzz(func(t *testing.T, odds uint8, kind, target, ruleKind, pattern, kind2, target2 string) {
		modes := []Mode{ModePlan, ModeAsk, ModeGuard, ModeAuto, ModeYolo}
		p := Policy{Mode: modes[int(odds)%len(modes)], Sandboxed: odds&8 != 0, Absent: odds&16 != 0, Dir: "/work/project", Home: "/home/me"}
		rule := Rule{Tool: "bash", Kind: pawl.AccessKind(ruleKind), Pattern: pattern, Decision: Allow, Origin: OriginUser}
		if odds&32 != 0 {
			p.Rules = append(p.Rules, rule)
		}
		if odds&64 != 0 {
			p.Grants = append(p.Grants, Grant{Rule: rule, Scope: ScopeProject, Dir: p.Dir})
		}
		c := Call{Tool: "bash", Risk: toolapi.RiskDangerous, Access: []pawl.Access{{Kind: pawl.AccessKind(kind), Target: target}}}
		checkLaws(t, p, c)
		checkTightening(t, p, c, rule, pawl.Access{Kind: pawl.AccessKind(kind2), Target: target2})
		for line := range strings.SplitSeq(Show(c, Decide(p, c)), "\n") {
			if sanitize.FirstStrange(line) != "" || strings.Contains(line, "\t") {
				t.Errorf("%q is shown", line)
			}
		}
	})
}
