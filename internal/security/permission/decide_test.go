package permission

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

func access(kind pawl.AccessKind, target string) Call {
	return Call{Tool: "tool", Risk: toolapi.RiskDangerous, Access: []pawl.Access{{Kind: kind, Target: target}}}
}

func user(rules ...Rule) []Rule {
	for i := range rules {
		rules[i].Origin = OriginUser
	}
	return rules
}

// TestModes is the table of the modes: what each says without any rule.
func TestModes(t *testing.T) {
	t.Parallel()
	a, q, d := Allow, Ask, Deny
	const r, w, x, e, n = pawl.AccessRead, pawl.AccessWrite, pawl.AccessExec, pawl.AccessEscape, pawl.AccessNet
	modes := []Mode{ModePlan, ModeAsk, ModeGuard, ModeAuto, ModeYolo, "", "Yolo"}
	for _, tt := range []struct {
		what  string
		call  Call
		boxed bool
		want  []Decision // by mode
	}{
		{"a read in the workspace", access(r, "a.go"), true, []Decision{a, a, a, a, a, d, d}},
		{"the same by its whole path", access(r, "/work/project/a.go"), true, []Decision{a, a, a, a, a, d, d}},
		{"an edit in the workspace", access(w, "a.go"), true, []Decision{d, q, a, a, a, d, d}},
		{"a command in the sandbox", access(x, "make"), true, []Decision{a, q, a, a, a, d, d}},
		{"a command without a sandbox", access(x, "make"), false, []Decision{d, q, q, d, a, d, d}},
		{"a command that leaves the sandbox", access(e, "make"), true, []Decision{d, q, q, d, a, d, d}},
		{"the network", access(n, "go.dev"), true, []Decision{d, q, q, d, a, d, d}},
		{"a read outside", access(r, "/etc/hosts"), true, []Decision{d, q, q, d, a, d, d}},
		{"a read beside, by prefix", access(r, "/work/project-evil/a"), true, []Decision{d, q, q, d, a, d, d}},
		{"a read above", access(r, "../a"), true, []Decision{d, q, q, d, a, d, d}},
		{"a read at home", access(r, "~/a"), true, []Decision{d, q, q, d, a, d, d}},
		{"a read in another's home", access(r, "~bob/a"), true, []Decision{d, q, q, d, a, d, d}},
		{"a write outside", access(w, "/srv/x/a"), true, []Decision{d, q, q, d, a, d, d}},
		{"a protected name", access(w, "sub/.Git/hooks/pre-commit"), true, []Decision{d, q, q, d, a, d, d}},
		{"a protected name, read", access(r, ".git/config"), true, []Decision{a, a, a, a, a, d, d}},
		{"a safe tool that touches nothing", Call{Tool: "todo", Risk: toolapi.RiskSafe}, true, []Decision{a, a, a, a, a, d, d}},
		{"a moderate tool that does not say", Call{Tool: "web", Risk: toolapi.RiskModerate}, true, []Decision{d, q, q, d, a, d, d}},
		{"a moderate tool that says less", Call{Tool: "web", Risk: toolapi.RiskModerate, Access: access(r, "a").Access}, true, []Decision{d, q, q, d, a, d, d}},
		{"a dangerous tool that does not say", Call{Tool: "mcp", Risk: toolapi.RiskDangerous}, true, []Decision{d, q, q, d, a, d, d}},
		{"a tool of unknown risk", Call{Tool: "mcp", Risk: "odd"}, true, []Decision{d, q, q, d, a, d, d}},
		// What cannot be checked is never allowed.
		{"an unknown kind", access("teleport", "x"), true, []Decision{d, q, q, d, q, d, d}},
		{"no kind", access("", "x"), true, []Decision{d, q, q, d, q, d, d}},
		{"no path", access(r, ""), true, []Decision{d, q, q, d, q, d, d}},
		{"a path with a NUL", access(r, "a\x00b"), true, []Decision{d, q, q, d, q, d, d}},
		{"a path of Windows", access(w, `\\host\share`), true, []Decision{d, q, q, d, q, d, d}},
		{"a drive", access(w, `C:\x`), true, []Decision{d, q, q, d, q, d, d}},
		{"no command", access(x, " "), true, []Decision{d, q, q, d, q, d, d}},
		{"no shell's command", access(x, "ls &&"), true, []Decision{d, q, q, d, q, d, d}},
		{"no host", access(n, ""), true, []Decision{d, q, q, d, q, d, d}},
		{"a host behind a name", access(n, "https://go.dev@evil.test/"), true, []Decision{d, q, q, d, q, d, d}},
		// What must never pass unseen.
		{"the root", access(w, "/"), true, []Decision{d, q, q, d, q, d, d}},
		{"the home folder", access(w, "~//"), true, []Decision{d, q, q, d, q, d, d}},
		{"the workspace", access(w, "."), true, []Decision{d, q, q, d, q, d, d}},
		{"above it", access(w, "/work"), true, []Decision{d, q, q, d, q, d, d}},
		{"a device", access(w, "/dev/sda"), true, []Decision{d, q, q, d, q, d, d}},
		{"nothing but a comment", access(x, "# hi"), true, []Decision{a, q, a, a, a, d, d}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			got := make([]Decision, len(modes))
			for i, mode := range modes {
				v := Decide(Policy{Mode: mode, Sandboxed: tt.boxed, Dir: "/work/project", Home: "/home/me"}, tt.call)
				got[i] = v.Decision
				if v.Why == "" || len(v.Findings) == 0 {
					t.Errorf("%s: no reason: %+v", mode, v)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("by mode %v (-want +got):\n%s", modes, diff)
			}
		})
	}
}

func TestStricter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ a, b, want Decision }{
		{Allow, Allow, Allow}, {Allow, Ask, Ask}, {Ask, Allow, Ask}, {Ask, Deny, Deny}, {Deny, Allow, Deny},
		{"", Ask, ""}, {Ask, "odd", "odd"},
	} {
		if got := Stricter(tt.a, tt.b); got != tt.want {
			t.Errorf("Stricter(%q, %q) = %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestRules: who may loosen what, and who only tighten.
func TestRules(t *testing.T) {
	t.Parallel()
	const w, x, e, n = pawl.AccessWrite, pawl.AccessExec, pawl.AccessEscape, pawl.AccessNet
	allow := func(kind pawl.AccessKind, pattern string) Rule {
		return Rule{Kind: kind, Pattern: pattern, Decision: Allow}
	}
	grant := func(r Rule) []Grant { return []Grant{{Rule: r, Scope: ScopeProject, Dir: "/work/project"}} }
	both := Call{Tool: "bash", Risk: toolapi.RiskDangerous, Access: []pawl.Access{{Kind: x, Target: "make"}, {Kind: e, Target: "make"}}}
	for _, tt := range []struct {
		what   string
		mode   Mode
		rules  []Rule
		grants []Grant
		call   Call
		want   Decision
		why    string
	}{
		{"a user's rule allows", ModeAsk, user(allow(w, "docs/**")), nil, access(w, "docs/a/b.md"), Allow, `allowed by your rule: allow write "docs/**"`},
		{"what it names only", ModeAsk, user(allow(w, "docs/**")), nil, access(w, "src/a.go"), Ask, ""},
		{"a kind only", ModeAsk, user(allow(pawl.AccessRead, "/srv/**")), nil, access(w, "/srv/x/a"), Ask, ""},
		{"not case by case", ModeAsk, user(allow(w, "docs/**")), nil, access(w, "Docs/a"), Ask, ""},
		{"another tool's rule", ModeAsk, user(Rule{Tool: "edit", Pattern: "**", Decision: Allow}), nil, access(w, "a"), Ask, ""},
		{"a project's rule that allows", ModeAsk, []Rule{{Kind: w, Pattern: "**", Decision: Allow, Origin: OriginProject}}, nil, access(w, "a"), Ask, ""},
		{"a rule of nobody", ModeAsk, []Rule{allow(w, "**")}, nil, access(w, "a"), Ask, ""},
		{"a project's rule that denies", ModeYolo, []Rule{{Kind: w, Pattern: "a", Decision: Deny, Origin: OriginProject}}, nil, access(w, "a"), Deny, `project rule: deny write "a"`},
		{"a project's rule that asks", ModeGuard, []Rule{{Kind: w, Pattern: "a", Decision: Ask, Origin: OriginProject}}, nil, access(w, "a"), Ask, "project rule"},
		{"deny over allow, whatever the order", ModeAsk, user(allow(w, "**"), Rule{Kind: w, Pattern: "a", Decision: Deny}), nil, access(w, "a"), Deny, ""},
		{"deny over allow, the other way", ModeAsk, user(Rule{Kind: w, Pattern: "a", Decision: Deny}, allow(w, "**")), nil, access(w, "a"), Deny, ""},
		{"ask over allow", ModeYolo, user(allow(w, "**"), Rule{Kind: w, Pattern: "a", Decision: Ask}), nil, access(w, "a"), Ask, "your rule"},
		{"a grant satisfies the mode", ModeGuard, nil, grant(allow(n, "go.dev")), access(n, "go.dev"), Allow, "allowed by your saved answer"},
		{"a grant satisfies a rule that asks", ModeGuard, user(Rule{Kind: n, Decision: Ask}), grant(allow(n, "go.dev")), access(n, "go.dev"), Allow, ""},
		{"a grant does not satisfy a deny", ModeGuard, user(Rule{Kind: n, Pattern: "*.dev", Decision: Deny}), grant(allow(n, "go.dev")), access(n, "go.dev"), Deny, ""},
		{"a grant of another folder", ModeGuard, nil, []Grant{{Rule: allow(n, "go.dev"), Scope: ScopeProject, Dir: "/work/other"}}, access(n, "go.dev"), Ask, ""},
		{"a grant of this session", ModeGuard, nil, []Grant{{Rule: allow(n, "go.dev"), Scope: ScopeSession, Dir: "/work/project", Session: "S"}}, access(n, "go.dev"), Allow, ""},
		{"a grant of another session", ModeGuard, nil, []Grant{{Rule: allow(n, "go.dev"), Scope: ScopeSession, Dir: "/work/project", Session: "T"}}, access(n, "go.dev"), Ask, ""},
		{"a grant for once", ModeGuard, nil, []Grant{{Rule: allow(n, "go.dev"), Scope: ScopeOnce, Dir: "/work/project", Session: "S"}}, access(n, "go.dev"), Ask, ""},
		{"a grant that nobody may give", ModeGuard, nil, grant(allow(n, "*")), access(n, "go.dev"), Ask, ""},
		{"plan says no to rules", ModePlan, user(allow(w, "**")), nil, access(w, "a"), Deny, "plan mode"},
		{"plan says no to grants", ModePlan, nil, grant(allow(n, "go.dev")), access(n, "go.dev"), Deny, "plan mode"},
		{"auto knows what was allowed", ModeAuto, user(allow(n, "*.dev")), nil, access(n, "go.dev"), Allow, ""},
		{"auto knows what was granted", ModeAuto, nil, grant(allow(n, "go.dev")), access(n, "go.dev"), Allow, ""},
		{"a rule that asks does so in auto", ModeAuto, user(Rule{Kind: w, Decision: Ask}), nil, access(w, "a"), Ask, ""},
		{"no rule opens a protected name", ModeGuard, user(allow(w, "**"), allow(w, ".pawl/**")), nil, access(w, ".pawl/x"), Ask, "this path is protected"},
		{"nor in auto", ModeAuto, user(allow(w, "**")), nil, access(w, ".GIT/config"), Deny, "this path is protected"},
		{"a deny rule holds in yolo", ModeYolo, user(Rule{Kind: w, Pattern: "secrets", Decision: Deny}), nil, access(w, "secrets/a"), Deny, ""},
		{"exec does not mean escape", ModeGuard, user(Rule{Tool: "bash", Pattern: "make", Decision: Allow}), nil, both, Ask, "it leaves the sandbox"},
		{"escape is allowed by name", ModeGuard, user(Rule{Kind: e, Pattern: "make", Decision: Allow}), nil, both, Allow, ""},
		{"a denied command is denied outside too", ModeYolo, user(Rule{Kind: x, Pattern: "make *", Decision: Deny}), nil, access(e, "make"), Deny, ""},
		{"a tool as a whole", ModeYolo, user(Rule{Tool: "tool", Decision: Deny}), nil, access(pawl.AccessRead, "a"), Deny, "your rule: deny tool"},
		{"a tool as a whole, unknown access", ModeYolo, user(Rule{Tool: "tool", Decision: Deny}), nil, access("odd", "a"), Deny, ""},
		{"a kind as a whole", ModeYolo, user(Rule{Kind: x, Decision: Deny}), nil, access(x, "ls"), Deny, ""},
		{"a kind as a whole, unreadable", ModeYolo, user(Rule{Kind: x, Decision: Deny}), nil, access(x, "ls &&"), Deny, ""},
		{"a tool that touches nothing", ModeGuard, user(Rule{Tool: "mcp", Decision: Allow}), nil, Call{Tool: "mcp", Risk: toolapi.RiskDangerous}, Allow, ""},
		{"such a rule allows no access", ModeAsk, user(Rule{Tool: "tool", Decision: Allow}), nil, access(w, "a"), Ask, ""},
		{"an unreadable rule that denies", ModeYolo, user(Rule{Kind: w, Pattern: "[", Decision: Deny}), nil, access(n, "go.dev"), Deny, ""},
		{"an unreadable rule that allows", ModeAsk, user(Rule{Kind: w, Pattern: "{", Decision: Allow}), nil, access(w, "{"), Ask, ""},
		{"a decision that is none", ModeYolo, user(Rule{Kind: w, Pattern: "a", Decision: "maybe"}), nil, access(w, "a"), Deny, ""},
	} {
		t.Run(tt.what, func(t *testing.T) {
			p := Policy{Mode: tt.mode, Rules: tt.rules, Grants: tt.grants, Sandboxed: true, Dir: "/work/project", Home: "/home/me", Session: "S"}
			v := Decide(p, tt.call)
			if v.Decision != tt.want || !strings.Contains(v.Why, tt.why) {
				t.Errorf("%s: %s; want %s: …%s", v.Decision, v.Why, tt.want, tt.why)
			}
		})
	}
}

// TestEscape (B22): a model that asks to leave the sandbox is asked about,
// whatever it may run within.
func TestEscape(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"ls", "make test", "cat x | sh"} {
		c := bash(command)
		c.Access = append(c.Access, pawl.Access{Kind: pawl.AccessEscape, Target: command})
		for mode, want := range map[Mode]Decision{ModePlan: Deny, ModeAsk: Ask, ModeGuard: Ask, ModeAuto: Deny} {
			v := Decide(Policy{Mode: mode, Sandboxed: true, Dir: "/w", Rules: user(Rule{Kind: pawl.AccessExec, Pattern: "*", Decision: Allow})}, c)
			if v.Decision != want {
				t.Errorf("%s, %q: %s, want %s", mode, command, v.Decision, want)
			}
		}
	}
}

// A workspace may lie below a protected name.
func TestProtectedWorkspace(t *testing.T) {
	t.Parallel()
	p := Policy{Mode: ModeGuard, Dir: "/home/me/.claude/worktrees/x", Home: "/home/me"}
	for target, want := range map[string]Decision{
		"a.go": Allow, "/home/me/.claude/worktrees/x/a.go": Allow,
		".claude/x": Ask, "/home/me/.claude/worktrees/x/.claude/x": Ask, "sub/../.git/config": Ask, "/home/me/.claude/settings.json": Ask, "~/.bashrc": Ask,
	} {
		if v := Decide(p, access(pawl.AccessWrite, target)); v.Decision != want || v.Offer != nil {
			t.Errorf("%s: %s %s, %v", target, v.Decision, v.Why, v.Offer)
		}
	}
}

func TestAbsent(t *testing.T) {
	t.Parallel()
	p := Policy{Mode: ModeYolo, Absent: true, Dir: "/work/project"}
	v := Decide(p, bash("rm -rf /"))
	if v.Decision != Deny || v.Offer != nil || !strings.HasSuffix(v.Why, "; no user is present to ask") {
		t.Errorf("%+v", v)
	}
	if v := Decide(p, bash("ls")); v.Decision != Allow {
		t.Errorf("%+v", v)
	}
}

func TestIgnored(t *testing.T) {
	t.Parallel()
	project := func(kind pawl.AccessKind, pattern string) Rule {
		return Rule{Kind: kind, Pattern: pattern, Decision: Allow, Origin: OriginProject}
	}
	rules := []Rule{project(pawl.AccessExec, "make *"), project(pawl.AccessExec, "ls"), project(pawl.AccessNet, "*")}
	v := Decide(Policy{Mode: ModeAsk, Rules: rules, Dir: "/w"}, bash("make a && make b"))
	if diff := cmp.Diff([]Rule{rules[0]}, v.Ignored); diff != "" {
		t.Error(diff)
	}
}

// TestOffer: what "always" would add.
func TestOffer(t *testing.T) {
	t.Parallel()
	mcp := Call{Tool: "mcp_x", Risk: toolapi.RiskDangerous}
	tool := func(name string, kind pawl.AccessKind, target string) Call {
		return Call{Tool: name, Risk: toolapi.RiskDangerous, Access: []pawl.Access{{Kind: kind, Target: target}}}
	}
	for _, tt := range []struct {
		call Call
		want string // the rules, as JSON; "" means none
	}{
		{bash("go test ./..."), `{"tool":"bash","pattern":"go test ./...","decision":"allow"}`},
		{bash("go  test 'a b' && ls"), `{"tool":"bash","pattern":"go test 'a b'","decision":"allow"} {"tool":"bash","pattern":"ls","decision":"allow"}`},
		{bash("ls && ls"), `{"tool":"bash","pattern":"ls","decision":"allow"}`},
		{bash("find . -name '*.go'"), `{"tool":"bash","pattern":"find . -name '*.go'","decision":"allow"}`},
		{bash("cat ~/x"), `{"tool":"bash","pattern":"cat ~/x","decision":"allow"}`},
		{bash(`echo '*'`), `{"tool":"bash","pattern":"echo '*'","decision":"allow"}`},
		{bash("/usr/bin/git status 2>/dev/null"), `{"tool":"bash","pattern":"/usr/bin/git status","decision":"allow"}`},
		{bash("ls && python3 x.py"), ""},
		{bash("python3.12 -V"), ""},
		{bash("bash x"), ""},
		{bash("sudo ls"), ""},
		{bash("env ls"), ""},
		{bash("timeout 5 ls"), ""},
		{bash("xargs ls"), ""},
		{bash("/usr/bin/perl x"), ""},
		{bash("awk 1"), ""},
		{bash("sed -i s/a/b/ x"), ""},
		{bash("find . -delete"), ""},
		{bash("git -c a=b log"), ""},
		{bash("./build.sh"), ""},
		{bash("bin/x"), ""},
		{bash("make"), ""},
		{bash("npx x"), ""},
		{bash("$x"), ""},
		{bash("ls $x"), ""},
		{bash("ls *"), ""},
		{bash("ls > x"), ""},
		{bash("A=b ls"), ""},
		{bash("source x"), ""},
		{bash("ls 'a\u200bb'"), ""},
		{bash("rm -rf ."), ""},
		{bash("ls &&"), ""},
		{tool("edit", pawl.AccessWrite, "docs/a[1].md"), `{"tool":"edit","pattern":"docs/a\\[1\\].md","decision":"allow"}`},
		{tool("edit", pawl.AccessWrite, "{a}"), `{"tool":"edit","pattern":"\\{a\\}","decision":"allow"}`},
		{tool("x", pawl.AccessWrite, "a"), `{"tool":"x","kind":"write","pattern":"a","decision":"allow"}`},
		{tool("read", pawl.AccessRead, "/etc/hosts"), `{"tool":"read","pattern":"/etc/hosts","decision":"allow"}`},
		{tool("read", pawl.AccessRead, "~/x/../y"), `{"tool":"read","pattern":"/home/me/y","decision":"allow"}`},
		{tool("edit", pawl.AccessWrite, ".envrc"), ""},
		{tool("edit", pawl.AccessWrite, "sub/.vscode/x"), ""},
		{tool("edit", pawl.AccessWrite, "a\u202eb"), ""},
		{tool("webfetch", pawl.AccessNet, "https://GO.dev./x"), `{"tool":"webfetch","pattern":"go.dev","decision":"allow"}`},
		{tool("webfetch", pawl.AccessNet, "http://[::1]:8080/x"), `{"tool":"webfetch","pattern":"[::1]:8080","decision":"allow"}`},
		{tool("webfetch", pawl.AccessNet, "https://a@go.dev"), ""},
		{mcp, `{"tool":"mcp_x","decision":"allow"}`},
		{Call{Tool: "bash", Risk: toolapi.RiskDangerous}, ""},
		{Call{Tool: "odd", Access: []pawl.Access{{Kind: "odd", Target: "x"}}}, ""},
	} {
		p := Policy{Mode: ModeAsk, Dir: "/work/project", Home: "/home/me"}
		v := Decide(p, tt.call)
		var got []string
		for _, r := range v.Offer {
			got = append(got, r.json())
			p.Grants = append(p.Grants, Grant{Rule: r, Scope: ScopeProject, Dir: p.Dir})
		}
		if v.Decision != Ask || strings.Join(got, " ") != tt.want {
			t.Errorf("%v: %s, offers %s, want %s", tt.call.Access, v.Decision, strings.Join(got, " "), tt.want)
		}
		if v := Decide(p, tt.call); tt.want != "" && v.Decision != Allow {
			t.Errorf("%v: still %s with what was offered: %s", tt.call.Access, v.Decision, v.Why)
		}
	}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	c := bash("cd docs && make > .claude/x")
	c.Access = append(c.Access, pawl.Access{Kind: pawl.AccessWrite, Target: "docs/x"}, pawl.Access{Kind: pawl.AccessNet, Target: "go.dev"})
	v := Decide(Policy{Mode: ModeGuard, Sandboxed: true, Dir: "/w", Rules: user(Rule{Kind: pawl.AccessWrite, Pattern: "docs/", Decision: Deny})}, c)
	want := Verdict{
		Decision: Deny,
		Why:      `write /w/docs/x: your rule: deny write "docs/"`,
		Findings: []Finding{
			{Access: c.Access[0], Segment: &Segment{Text: "cd docs"}, Decision: Allow, Why: "allowed in guard mode"},
			{Access: c.Access[0], Segment: &Segment{Text: "make > .claude/x", Dir: "docs", Writes: []string{"docs/.claude/x"}, Doubts: []string{"output to .claude/x"}}, Decision: Allow, Why: "allowed in guard mode"},
			{Access: c.Access[1], Path: "/w/docs/x", Decision: Deny, Why: `your rule: deny write "docs/"`},
			{Access: c.Access[2], Decision: Ask, Why: "it leaves the sandbox"},
		},
	}
	if diff := cmp.Diff(want, v, cmpopts.IgnoreUnexported(Finding{}, Segment{})); diff != "" {
		t.Error(diff)
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	call := func(tool, input string, access ...pawl.Access) Call {
		return Call{Tool: tool, Access: access, Input: json.RawMessage(input)}
	}
	a, b := pawl.Access{Kind: "read", Target: "a"}, pawl.Access{Kind: "read", Target: "b"}
	same := func(x, y Call) bool { return Fingerprint(x) == Fingerprint(y) }
	base := call("t", `{"a":1,"b":[2,"x"]}`, a)
	if got := Fingerprint(base); len(got) != 64 {
		t.Errorf("fingerprint %q", got)
	}
	for _, c := range []Call{
		call("t", `{ "b" : [2, "\u0078"], "a":1 }`, a),
	} {
		if !same(base, c) {
			t.Errorf("%s is not the same", c.Input)
		}
	}
	for _, c := range []Call{
		call("u", string(base.Input), a),
		call("t", string(base.Input), b),
		call("t", string(base.Input), a, b),
		call("t", string(base.Input)),
		call("t", `{"a":1,"b":["x",2]}`, a),
		call("t", `{"a":1.0,"b":[2,"x"]}`, a),
		call("t", `{"a":9,"a":1,"b":[2,"x"]}`, a),
		call("t", `{"a":1,"b":[2,"x"]`, a),
		call("t", ``, a),
		call("t", string(base.Input), pawl.Access{Kind: "write", Target: "a"}),
		call("t", string(base.Input), pawl.Access{Kind: "rea", Target: "da"}),
	} {
		if same(base, c) {
			t.Errorf("%+v has the same fingerprint", c)
		}
	}
	if same(call("t", `{`), call("t", ` {`)) {
		t.Error("two texts that are no JSON look alike")
	}
}
