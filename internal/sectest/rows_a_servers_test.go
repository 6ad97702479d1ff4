//go:build sectest

package sectest

import (
	"os"
	"path/filepath"
)

// listStarts: the repository brings MCP servers and says that they are approved.
// The user looks at what there is, in all ways, before they trust it; and lists
// it after.
func listStarts(a *arena) {
	started := filepath.Join(a.dir, "started")
	server := `{"command":"touch","args":["started"]}`
	a.write(".mcp.json", `{"mcpServers":{"evil":`+server+`}}`)
	a.write(".pawl/config.json", `{"mcp":{"own":`+server+`}}`)
	a.write(".claude/settings.json", `{"enableAllProjectMcpServers":true,"enabledMcpjsonServers":["evil"]}`)
	for _, args := range [][]string{
		{"mcp"}, {"mcp", "list"}, {"mcp", "list", "--json"}, {"mcp", "test"}, {"mcp", "test", "evil"}, {"mcp", "test", "own"},
		{"mcp", "tools"}, {"mcp", "prompts"}, {"mcp", "resources"}, {"mcp", "login", "evil", "--no-browser"}, {"mcp", "logout", "evil"},
		{"mcp", "add", "mine", "--", "true"}, {"mcp", "disable", "mine"}, {"mcp", "enable", "mine"}, {"mcp", "remove", "mine"}, {"doctor"},
	} {
		a.pawl(args...)
		if a.exists(started) {
			a.breach("pawl %q starts a server of a folder that is not trusted", args)
			a.ok(os.Remove(started))
		}
	}
	a.must("trust", "--yes", ".")
	a.must("mcp", "list")
	a.must("mcp", "list", "--json")
	if a.exists(started) {
		a.breach("the list starts a server")
		a.ok(os.Remove(started))
	}
	if a.pawl("mcp", "test", "evil"); !a.exists(started) {
		a.Fatalf("the server cannot be started at all, so nothing is shown")
	}
}
