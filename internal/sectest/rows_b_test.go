//go:build sectest

package sectest

var rowsB = []row{
	{id: "B1", title: "Claude Code: crafted echo escapes quoting", owed: "issue 5: not written yet"},
	{id: "B2", title: "Claude Code: $IFS and short-flag parsing", owed: "issue 5: not written yet"},
	{id: "B3", title: "Claude Code: rg flags run programs", owed: "issue 5: not written yet"},
	{id: "B4", title: "Claude Code: find -exec etc.", owed: "issue 5: not written yet"},
	{id: "B5", title: "Claude Code: sed w/e/-i, echo|sed write", owed: "issue 5: not written yet"},
	{id: "B6", title: "Claude Code: awk system()/redirect classed as read", owed: "issue 5: not written yet"},
	{id: "B7", title: "Claude Code: zsh >!/>>! clobber hides redirect", owed: "issue 5: not written yet"},
	{id: "B8", title: "Claude Code: hidden command in zsh conditionals", owed: "issue 5: not written yet"},
	{id: "B9", title: "Copilot CLI: ${v@P}, ${v:=…}, ${!v}, nested $() in ${}", owed: "issue 5: not written yet"},
	{id: "B10", title: "Mistral Vibe: single-quoted payload + ${v@P} defeats tree-sitter", owed: "issue 5: not written yet"},
	{id: "B11", title: "Roo Code: $(echo cmd) in command position", owed: "issue 5: not written yet"},
	{id: "B12", title: "Continue, Claude: prefix rule matches chained ; && |", owed: "issue 5: not written yet"},
	{id: "B13", title: "Claude Code: line continuation, backslash-escaped flag, heredoc, comment first line hides rest in UI", owed: "issue 5: not written yet"},
	{id: "B14", title: "Cursor: builtins export/typeset poison env of allowed commands (PAGER, GIT_*, PYTHONWARNINGS…)", owed: "issue 5: not written yet"},
	{id: "B15", title: "Claude Code: bare variable assignment to non-listed env auto-approved", owed: "issue 5: not written yet"},
	{id: "B16", title: "Codex: git -c, --config-env, --exec-path, --git-dir, --work-tree, -C, --output, --ext-diff, --textconv, branch -d, +refspec", owed: "issue 5: not written yet"},
	{id: "B17", title: "mcp-shell (Go): git -c alias.x=!cmd", owed: "issue 5: not written yet"},
	{id: "B18", title: "GitPython, simple-git: long-option abbreviation (--upload-p) bypasses denylist", owed: "issue 5: not written yet"},
	{id: "B19", title: "OpenClaw, Claude: deny rules evaded by env/sudo/timeout/nice/watch/setsid wrappers", owed: "issue 5: not written yet"},
	{id: "B20", title: "Claude Code: catastrophic rm hidden in substitution or alias path", owed: "issue 5: not written yet"},
	{id: "B21", title: "Codex Win, Kimi: mis-quoted rmdir hits drive root; rm -rf on pre-existing dir", owed: "issue 5: not written yet"},
	{id: "B22", title: "OpenClaude/Claude: model sets dangerouslyDisableSandbox itself", owed: "issue 5: not written yet"},
	{id: "B23", title: "Claude Code: cd .claude && write evades path check", owed: "issue 5: not written yet"},
	{id: "B24", title: "Claude Code: cd.. functions, -OutVariable into $PSDefaultParameterValues, trailing &", elsewhere: "PowerShell: Windows only"},
}
