package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/mcp/mcpclient"
	"github.com/pawl-dev/pawl/internal/security/policy"
)

// serverEntry is an MCP server and where it is configured.
type serverEntry struct {
	mcpclient.Server
	file    string
	project bool // of the directory's, and not of the user's
}

// serversOf reads the MCP servers of sessions in a directory. What is wrong with an
// entry or a file is told and left out: a session works without.
func serversOf(ctx context.Context, guard *policy.Safety, dir string, told bool) (entries []serverEntry, faults []string, err error) {
	files, err := guard.Servers(ctx, dir, told)
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
			same := func(e serverEntry) bool { return e.Name == s.Name }
			if i := slices.IndexFunc(entries, same); i >= 0 {
				faults = append(faults, fmt.Sprintf("%s: %s: it is left out: %s has one of that name", f.File, s.Name, entries[i].file))
				continue
			}
			entries = append(entries, serverEntry{s, f.File, f.Project})
		}
	}
	return entries, faults, nil
}
