//go:build sectest

package sectest

var rowsE = []row{
	{id: "E1", title: "Claude Code: ping/nslookup/dig in safe list → DNS exfil", owed: "issue 5: not written yet"},
	{id: "E2", title: "Claude Code: startsWith host check", owed: "issue 5: not written yet"},
	{id: "E3", title: "Claude Code: pre-approved multi-tenant domain (HF) as drop box", owed: "issue 5: not written yet"},
	{id: "E4", title: "srt: empty allowlist ⇒ open", owed: "issue 5: not written yet"},
	{id: "E5", title: "Codex, srt: NO_PROXY covers 169.254/RFC1918 → metadata", owed: "issue 5: not written yet"},
	{id: "E6", title: "Deno: name allowed, IP not re-checked", owed: "issue 5: not written yet"},
	{id: "E7", title: "Codex: encoded path bypasses MITM rule; plain HTTP to MITM host", owed: "issue 5: not written yet"},
	{id: "E8", title: "Codex: MCP HTTP redirect cross-origin leaks headers/body", owed: "MCP over HTTP (issue 7)"},
	{id: "E9", title: "mcp-remote: authorization_endpoint passed to OS opener", owed: "MCP sign-in (issue 7)"},
	{id: "E10", title: "MCP TS SDK: server picks which auth server gets stored secrets", owed: "MCP sign-in (issue 7)"},
	{id: "E11", title: "MCP Inspector: unauthenticated local proxy launches commands", owed: "MCP servers (issue 7)"},
	{id: "E12", title: "Copilot Chat, Windsurf, Cursor (mermaid): rendered image URL leaks data", owed: "front ends that render (issues 8, 9)"},
	{id: "E13", title: "Gemini: private IPs, redirect, injection-driven floods", owed: "issue 5: not written yet"},
	{id: "E14", title: "Gemini: allowedDomains bypass through proxy-style URL", owed: "issue 5: not written yet"},
	{id: "E15", title: "Claude: exfil to allowed vendor API with attacker key", owed: "issue 5: not written yet"},
	{id: "E16", title: "Codex: firewall ignores DNS", owed: "issue 5: not written yet"},
	{id: "E17", title: "Claude Code: telemetry redirect", owed: "telemetry (issue 8)"},
}
