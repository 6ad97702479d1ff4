package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension/definition"
	"github.com/pawl-dev/pawl/internal/security/permission"
)

// Servers are the MCP servers of directories, as turns know them. keep says which
// tools a turn may have, by their names; by mcp__server it says whether any of a
// server's may be had. A session may have more servers than its directory; its
// subagents have them too.
type Servers interface {
	// Tools returns the tools that the servers offer now. It waits for nothing.
	Tools(id pawl.SessionID, dir string, keep func(name string) bool) []pawl.Tool
	// Tool returns the tool of that name, be it one that is not offered just now: a
	// model may know it from before. It waits for a server that starts, not for long.
	Tool(ctx context.Context, id pawl.SessionID, dir, name string, keep func(name string) bool) (pawl.Tool, bool)
	// Notes returns what a person is to be told of the servers, each once.
	Notes(id pawl.SessionID, dir string) []string
}

// front is the session that a person has before them: a subagent's is its parent.
func (j *journal) front() pawl.SessionID {
	return cmp.Or(j.history.Created().Parent, j.id)
}

// noteServers tells the person what is wrong with servers.
func (s *Stepper) noteServers(j *journal, turn int) {
	if s.Servers == nil {
		return
	}
	for _, text := range s.Servers.Notes(j.front(), j.history.Created().Dir) {
		s.notice(j, turn, text)
	}
}

// meant is the tool that a call of the open turn is for, and what it runs with. A
// call through another tool is one of the tool that it is for: so permissions,
// hooks and the log see that one.
func (s *Stepper) meant(ctx context.Context, j *journal, c *pawl.CallState) (t pawl.Tool, input json.RawMessage, changed bool, err error) {
	tools, err := s.toolsOf(j)
	if err != nil {
		return t, nil, false, err
	}
	t, ok := tools.Tool(c.Call.Name)
	if !ok && s.Servers != nil {
		keep, err := s.keeps(j)
		if err != nil {
			return t, nil, false, err
		}
		t, ok = s.Servers.Tool(ctx, j.front(), j.history.Created().Dir, c.Call.Name, keep)
	}
	if !ok {
		return t, nil, false, fmt.Errorf("there is no tool %q; there are: %s", c.Call.Name, strings.Join(tools.Names(), ", "))
	}
	input, changed = j.inputOf(c)
	if t.Means == nil {
		return t, input, changed, nil
	}
	t, own, err := t.Means(ctx, c.Call.Input)
	if !changed {
		input = own
	}
	return t, input, changed, err
}

// inherited names the tools that a subagent of the open turn may have: those of its
// parent. Of MCP servers it may have those too that are not up yet.
func (s *Stepper) inherited(j *journal, own Definition, parent pawl.Settings) ([]string, error) {
	keep, err := s.keeps(j)
	if err != nil {
		return nil, err
	}
	return append(s.Tools.Only(keep).Names(), definition.GrantedByBoth(own.Tools, listed(parent))...), nil
}

// listed are the tools that a prompt permits; nil means all.
func listed(s pawl.Settings) []string {
	if len(s.Tools) == 0 {
		return nil
	}
	return s.Tools
}

// serverRule is an agent's rule about the tools of all MCP servers.
func serverRule(r definition.Rule) permission.Rule {
	return permission.Rule{Kind: pawl.AccessMCP, Decision: permission.Decision(r.Decision), Origin: permission.OriginProject}
}
