//go:build sectest

package sectest

import "strings"

var rowsH = []row{
	{id: "H1", title: "Codex: external tool named like host tool", owed: "MCP tools (issue 7)"},
	{id: "H2", title: "MCP: description changes after approval", owed: "MCP tools (issue 7)"},
	{id: "H3", title: "Gemini #18484: child not bound by mode", owed: "issue 5: not written yet"},
	{id: "H4", title: "Claude: hook allow lifted tool restrictions", owed: "hooks (issue 7)"},
	{id: "H5", title: "Claude: frontmatter raises mode", owed: "agent definitions (issue 7)"},
	{id: "H6", title: "Claude: one agent drives another", owed: "missions (issue 10)"},
	{id: "H7", title: "Claude: content read by child instructs parent", owed: "issue 5: not written yet"},
	{id: "H8", title: "Amazon Q: build token allowed malicious prompt in release", elsewhere: "about releases: a process, not a program; docs/security/releases.md"},
	{id: "H9", title: "Cline ecosystem: triage bot with write token", owed: "issue 5: not written yet"},
	{id: "H10", title: "Claude: plugin option → shell injection", owed: "hooks (issue 7)"},
	{id: "H11", title: "Claude auto mode: agent edits own log/approvals", owed: "issue 5: not written yet"},
	{id: "H12", title: "Codex, Claude: tokens in debug/rollout/telemetry", owed: "issue 5: not written yet"},
	{id: "H13", title: "all: API keys visible to tool commands", attack: keysOfChildren, weak: "sandbox.env,env.open"},
	{id: "H14", title: "Gemini, Claude: injected loop burns budget", owed: "loop detection (issue 6)"},
	{id: "H15", title: "Claude: crash by tool named constructor", owed: "issue 5: not written yet"},
}

// keysOfChildren: commands print all that they know, in the sandbox and without.
func keysOfChildren(a *arena) {
	a.env = append(a.env, "ANTHROPIC_API_KEY=s3cret-one", "MY_TOKEN=s3cret-two")
	for _, mode := range []string{"guard", "yolo"} {
		o := a.play(mode, bash("echo HOME is $HOME; env; cat /proc/self/environ | tr '\\0' '\\n'"))
		if !strings.Contains(o.result(1), "HOME is "+a.home) {
			a.Fatalf("the command did not run: %s", o.result(1))
		}
		for _, secret := range []string{"s3cret-one", "s3cret-two"} {
			if strings.Contains(o.result(1), secret) {
				a.breach("in the mode %s a command knows %s", mode, secret)
			}
		}
	}
}
