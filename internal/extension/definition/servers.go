package definition

import (
	"regexp"
	"slices"
	"strings"
)

// AllServers is how a list of tools names those of all MCP servers.
const AllServers = "mcp__*"

// serverTools is how a list names tools of MCP servers: one, all of a server's, or
// all.
var serverTools = regexp.MustCompile(`^mcp__(\*|[a-zA-Z0-9-]+(_[a-zA-Z0-9-]+)*(__(\*|[a-zA-Z0-9_-]+))?)$`)

// OfServers reports whether a name is that of tools of MCP servers:
// mcp__server__tool, mcp__server and mcp__server__* for all of a server's, or
// AllServers. Whether there is such a server is not known here.
func OfServers(name string) bool { return serverTools.MatchString(name) }

// Grants reports whether a list of tools has the one of that name. Asked for a
// server, mcp__server, it reports whether it has any of its tools.
func Grants(list []string, name string) bool {
	if !OfServers(name) {
		return slices.Contains(list, name)
	}
	whole := isServer(name)
	return slices.ContainsFunc(list, func(e string) bool { return covers(e, name) || whole && covers(name, e) })
}

// GrantedByBoth returns what two lists both grant of the tools of MCP servers. A
// nil list grants all.
func GrantedByBoth(a, b []string) []string {
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

// spelled ends what means all of a server's tools in a star.
func spelled(name string) string {
	if !strings.Contains(strings.TrimPrefix(name, "mcp__"), "__") && name != AllServers {
		return name + "__*"
	}
	return name
}

// covers reports whether one name means all that the other means, of the tools of
// MCP servers.
func covers(wide, narrow string) bool {
	if !OfServers(wide) || !OfServers(narrow) {
		return false
	}
	wide, narrow = spelled(wide), spelled(narrow)
	prefix, pattern := strings.CutSuffix(wide, "*")
	return wide == narrow || pattern && strings.HasPrefix(narrow, prefix)
}
