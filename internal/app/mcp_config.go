package app

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/mcp/mcpclient"
	"github.com/pawl-dev/pawl/internal/security/policy"
)

// MCPServer is an MCP server and the file that configures it.
type MCPServer struct {
	mcpclient.Server
	File    string
	Project bool // configured by the project, not by the user
}

// MCPServersOf reads the MCP servers configured by the user and by the project in dir. Invalid
// entries and files are skipped and reported in faults. trusted means that the user has passed
// --trust.
func MCPServersOf(ctx context.Context, guard *policy.Safety, dir string, trusted bool) (entries []MCPServer, faults []string, err error) {
	files, err := guard.Servers(ctx, dir, trusted)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		origin := mcpclient.User
		if f.Project {
			origin = mcpclient.Project
		}
		servers, wrong, err := mcpclient.ParseFile(f.Text, origin)
		if err != nil {
			faults = append(faults, fmt.Sprintf("%s: %v", f.File, err))
		}
		for _, fault := range wrong {
			faults = append(faults, fmt.Sprintf("%s: %s", f.File, fault))
		}
		for _, s := range servers {
			same := func(e MCPServer) bool { return e.Name == s.Name }
			if i := slices.IndexFunc(entries, same); i >= 0 {
				faults = append(faults, fmt.Sprintf("%s: %s is ignored: %s has a server with the same name", f.File, s.Name, entries[i].File))
				continue
			}
			entries = append(entries, MCPServer{s, f.File, f.Project})
		}
	}
	return entries, faults, nil
}
