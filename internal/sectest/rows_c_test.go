//go:build sectest

package sectest

var rowsC = []row{
	{id: "C1", title: "Claude Code, MCP fs: string-prefix dir check (/allow-evil)", owed: "issue 5: not written yet"},
	{id: "C2", title: "Claude Code: deny rule evaded by symlink", owed: "issue 5: not written yet"},
	{id: "C3", title: "Claude Code: sandboxed cmd plants symlink, unsandboxed Write tool follows it", owed: "issue 5: not written yet"},
	{id: "C4", title: "Claude Code: TOCTOU race in Edit", owed: "issue 5: not written yet"},
	{id: "C5", title: "Codex: apply_patch target swapped after approval", owed: "issue 5: not written yet"},
	{id: "C6", title: "Zed: agent file tools follow links", owed: "issue 5: not written yet"},
	{id: "C7", title: "MCP fs server: symlink to escape", owed: "issue 5: not written yet"},
	{id: "C8", title: "Cursor: case-insensitive FS: .cUrSoR/mcp.json", owed: "issue 5: not written yet"},
	{id: "C9", title: "Gemini: same class, blocklist", owed: "issue 5: not written yet"},
	{id: "C10", title: "Claude Code: ~/.aws/ rule ignored", owed: "issue 5: not written yet"},
	{id: "C11", title: "Codex: join drops left side", owed: "issue 5: not written yet"},
	{id: "C12", title: "Codex: model-chosen cwd became writable root", owed: "issue 5: not written yet"},
	{id: "C13", title: "Cursor: .git/config or hooks written in sandbox → later RCE", owed: "issue 5: not written yet"},
	{id: "C14", title: "Codex mac: rename ancestor of protected path / replace root", owed: "issue 5: not written yet"},
	{id: "C15", title: "Claude Code: restore or delete through symlink/hardlink; .claude/worktrees link; NTFS junction delete outside", owed: "undo and worktrees (issues 6, 10)"},
	{id: "C16", title: "Zed, code-marketplace: zip-slip in extension install", owed: "skills and their installation (issue 7)"},
	{id: "C17", title: "Codex, Gemini: skill/plugin install with links or precedence-swapping manifest", owed: "skills (issue 7)"},
	{id: "C18", title: "Gemini: @import in memory file via symlink dir escape", owed: "imports of rules files (issue 7)"},
	{id: "C19", title: "Claude Code: Read(.env) deny evaded by Grep, Bash, @import", owed: "issue 5: not written yet"},
	{id: "C20", title: "Windsurf: traversal in file tools", owed: "issue 5: not written yet"},
	{id: "C21", title: "MCP git: flag-like refs (--output=), repo path unchecked, ../ staging", owed: "issue 5: not written yet"},
	{id: "C22", title: "Codex, Claude: editor buffer / IPC dir in world-writable /tmp pre-planted", owed: "issue 5: not written yet"},
	{id: "C23", title: "Claude Code: NT path → NTLM leak before approval", elsewhere: "NT paths: Windows only"},
	{id: "C24", title: "Codex: created with umask, follows link", owed: "issue 5: not written yet"},
}
