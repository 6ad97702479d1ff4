package permission

import (
	"errors"
	"regexp"
)

// serverTool is a tool of an MCP server, parsed from the target of an access.
type serverTool struct {
	server, tool string
	print        string // the fingerprint of what the server says of it; "" in an example
	changed      bool   // it said something else before
}

var toolTarget = regexp.MustCompile(`^([a-zA-Z0-9_-]+)/([a-zA-Z0-9_-]+)(?:@([0-9a-f]{16}))?(!changed)?$`)

func parseTool(target string) (serverTool, error) {
	m := toolTarget.FindStringSubmatch(target)
	if m == nil {
		return serverTool{}, errors.New("use server/tool")
	}
	return serverTool{server: m[1], tool: m[2], print: m[3], changed: m[4] != ""}, nil
}

// String returns the pattern that matches only this tool.
func (t serverTool) String() string {
	if t.print == "" {
		return t.server + "/" + t.tool
	}
	return t.server + "/" + t.tool + "@" + t.print
}

// toolPattern matches a tool, with one fingerprint or any, or all tools of a server.
type toolPattern struct{ server, tool, print string }

var toolRule = regexp.MustCompile(`^([a-zA-Z0-9_-]+)/(\*|[a-zA-Z0-9_-]+)(?:@([0-9a-f]{16}))?$`)

func parseToolPattern(pattern string) (toolPattern, error) {
	m := toolRule.FindStringSubmatch(pattern)
	if m == nil || m[2] == "*" && m[3] != "" {
		return toolPattern{}, errors.New("use server/tool or server/*")
	}
	return toolPattern{server: m[1], tool: m[2], print: m[3]}, nil
}

func (p toolPattern) covers(t serverTool) bool {
	return p.server == t.server && (p.tool == "*" || p.tool == t.tool) && (p.print == "" || p.print == t.print)
}
