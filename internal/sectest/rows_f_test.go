//go:build sectest

package sectest

var rowsF = []row{
	{id: "F1", title: "opencode: no auth + CORS * on local HTTP", owed: "the server (issue 8)"},
	{id: "F2", title: "opencode: XSS in web UI → commands", owed: "the server (issue 8)"},
	{id: "F3", title: "Claude IDE ext: websocket without Origin/auth", owed: "the server (issue 8)"},
	{id: "F4", title: "Codex: exec-server WS accepted Origin", owed: "the server (issue 8)"},
	{id: "F5", title: "MCP TS/Py/Go/Java SDK: DNS rebinding", owed: "the server (issue 8)"},
	{id: "F6", title: "MCP go-sdk: cross-site POST tool execution (content-type)", owed: "the server (issue 8)"},
	{id: "F7", title: "MCP go-sdk: Go encoding/json case-insensitive / NUL keys → validator bypass", owed: "the server (issue 8)"},
	{id: "F8", title: "OpenHands SDK: binds 0.0.0.0, empty key list = no auth", owed: "the server (issue 8)"},
	{id: "F9", title: "goose: default secret; non-constant-time compare", owed: "the server (issue 8)"},
	{id: "F10", title: "Gemini: task could set workspace/trust", owed: "the server (issue 8)"},
	{id: "F11", title: "MCP TS SDK: transport reused across clients leaks responses", owed: "the server (issue 8)"},
	{id: "F12", title: "goose, Cursor: URL handler installs extension", owed: "links that open pawl (issue 9)"},
	{id: "F13", title: "Codex: long-lived grants", owed: "the server (issue 8)"},
}
