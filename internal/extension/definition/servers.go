package definition

import (
	"regexp"
	"slices"
	"strings"
)

// AllServers means all tools of all MCP servers in a list of tools.
const AllServers = "mcp__*"

// serverTools matches the names of MCP tools in a list: a tool, all tools of a
// server, or all tools.
var serverTools = regexp.MustCompile(`^mcp__(\*|[a-zA-Z0-9-]+(_[a-zA-Z0-9-]+)*(__(\*|[a-zA-Z0-9_-]+))?)$`)

// OfServers reports whether a name means tools of MCP servers:
// mcp__server__tool, mcp__server and mcp__server__* for all tools of a server,
// or AllServers. It does not check that the server exists.
func OfServers(name string) bool { return serverTools.MatchString(name) }

// Includes reports whether a list of tools includes the tool with that name. For
// a server, mcp__server, it reports whether the list includes any of its
// tools.
func Includes(list []string, name string) bool {
	if !OfServers(name) {
		return slices.Contains(list, name)
	}
	whole := isServer(name)
	return slices.ContainsFunc(list, func(e string) bool { return covers(e, name) || whole && covers(name, e) })
}

// Intersect returns the MCP tools that both lists include. A nil list
// includes all.
func Intersect(a, b []string) []string {
	all := []string{AllServers}
	if a == nil {
		a = all
	}
	if b == nil {
		b = all
	}
	var both []string
	for _, name := range slices.Concat(a, b) {
		in := func(list []string) bool {
			return slices.ContainsFunc(list, func(e string) bool { return covers(e, name) })
		}
		if in(a) && in(b) && !slices.Contains(both, name) {
			both = append(both, name)
		}
	}
	return both
}

// isServer reports whether a name means all tools of one server.
func isServer(name string) bool {
	return name != AllServers && strings.HasSuffix(spelled(name), "*")
}

// spelled adds the star to a name that means all tools of a server.
func spelled(name string) string {
	if !strings.Contains(strings.TrimPrefix(name, "mcp__"), "__") && name != AllServers {
		return name + "__*"
	}
	return name
}

// covers reports whether one name of MCP tools includes all that the other
// does.
func covers(wide, narrow string) bool {
	if !OfServers(wide) || !OfServers(narrow) {
		return false
	}
	wide, narrow = spelled(wide), spelled(narrow)
	prefix, pattern := strings.CutSuffix(wide, "*")
	return wide == narrow || pattern && strings.HasPrefix(narrow, prefix)
}
