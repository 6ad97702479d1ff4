//go:build sectest

package sectest

var rowsG = []row{
	{id: "G1", title: "Claude HUD: OSC 8 built from raw cwd/branch → OSC 52 clipboard, fake prompt", owed: "issue 5: not written yet"},
	{id: "G2", title: "Codex: pasted CSI corrupts scrollback, also in stored history", owed: "issue 5: not written yet"},
	{id: "G3", title: "Gemini: bidi/zero-width/homoglyph in confirm dialog", owed: "issue 5: not written yet"},
	{id: "G4", title: "Gemini: punycode/userinfo URL deception", owed: "issue 5: not written yet"},
	{id: "G5", title: "Claude Code: command truncated in prompt hides payload", owed: "issue 5: not written yet"},
	{id: "G6", title: "many: invisible instructions", owed: "issue 5: not written yet"},
	{id: "G7", title: "Gemini: pasted text triggers file inclusion", owed: "the terminal front end (issue 9)"},
	{id: "G8", title: "Claude: buffered Enter approves", owed: "issue 5: not written yet"},
}
