//go:build sectest

package sectest

var rowsA = []row{
	{id: "A1", title: "Claude Code: project code ran before trust dialog accepted", owed: "issue 5: not written yet"},
	{id: "A2", title: "Claude Code: package-manager probe (yarn) loads repo plugin at start", owed: "issue 5: not written yet"},
	{id: "A3", title: "Claude Code: git user.email interpolated in a shell command", owed: "issue 5: not written yet"},
	{id: "A4", title: "Claude Code: permission mode read from repo settings before deciding to show trust dialog", owed: "issue 5: not written yet"},
	{id: "A5", title: "Claude Code: repo env sets API base URL → key sent to attacker pre-trust", owed: "issue 5: not written yet"},
	{id: "A6", title: "Codex: repo .env + .codex/config.toml redirect config home → MCP command runs", owed: "issue 5: not written yet"},
	{id: "A7", title: "Codex: .codex without config.toml still loaded hooks/rules", owed: "issue 5: not written yet"},
	{id: "A8", title: "Codex: .git file points to a trusted repo's worktree dir to inherit trust", owed: "issue 5: not written yet"},
	{id: "A9", title: "Gemini CLI / action: .gemini/.env injected into container launcher before sandbox in CI", owed: "issue 5: not written yet"},
	{id: "A10", title: "Gemini CLI: workspace .env overrides IDE stdio command", owed: "issue 5: not written yet"},
	{id: "A11", title: "Claude Code Action: PR-supplied .mcp.json runs in CI with secrets", owed: "MCP servers in CI (issue 7)"},
	{id: "A12", title: "Cursor: approved MCP entry later modified, no re-approval", owed: "MCP servers (issue 7)"},
	{id: "A13", title: "Cursor: agent writes .cursor/mcp.json or editor settings → code runs", owed: "issue 5: not written yet"},
	{id: "A14", title: "Copilot/VS Code: agent sets auto-approve in settings.json", owed: "issue 5: not written yet"},
	{id: "A15", title: "Claude Code: sandboxed code creates missing settings.json with SessionStart hook", owed: "issue 5: not written yet"},
	{id: "A16", title: "Aider: repo .aider.conf.yml notification/editor command", owed: "issue 5: not written yet"},
	{id: "A17", title: "ZCode: auto-connects MCP in workspace config", owed: "MCP servers (issue 7)"},
	{id: "A18", title: "Claude Code: mcp list spawns servers a repo self-approved", owed: "MCP servers (issue 7)"},
	{id: "A19", title: "Codex: project AGENTS.md read in untrusted project", owed: "rules files (issue 7)"},
	{id: "A20", title: "Codex: env var swapped managed policy", owed: "issue 5: not written yet"},
}
