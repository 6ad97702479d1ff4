package mcpclient

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/strictjson"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// searchInput is the input of mcp_search.
type searchInput struct {
	Query string   `json:"query,omitempty"`
	Tools []string `json:"tools,omitempty"`
}

var searchSchema = json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"words; nothing lists all"},"tools":{"type":"array","items":{"type":"string"},"description":"names to describe in full, at most 5"}}}`)

// searchTool returns the tool that searches and describes the tools of a
// directory's servers. It waits for servers that are starting and reports
// those that are not ready.
func (s *Servers) searchTool(dir string, keep Keep, budget int, hint string) toolapi.Tool {
	decode := func(call toolapi.Call) (searchInput, error) {
		var in searchInput
		if err := strictjson.Decode(call.Input, &in); err != nil {
			return in, fmt.Errorf("wrong input for %s: %w", SearchTool, err)
		}
		if len(in.Tools) > searchDescribed {
			return in, fmt.Errorf("wrong input for %s: ask for at most %d tools", SearchTool, searchDescribed)
		}
		return in, nil
	}
	return toolapi.Tool{
		Spec: toolapi.Spec{Name: SearchTool, Schema: searchSchema, Description: s.searchDescription(dir, keep) + hint},
		Risk: toolapi.RiskSafe,
		Access: func(_ context.Context, call toolapi.Call) ([]pawl.Access, error) {
			_, err := decode(call)
			return nil, err
		},
		Run: func(ctx context.Context, call toolapi.Call) (pawl.Result, error) {
			in, err := decode(call)
			if err != nil {
				return pawl.Result{}, err
			}
			if len(in.Tools) > 0 {
				return s.describe(ctx, dir, in.Tools, keep)
			}
			s.wait(ctx, dir, func(l *link) bool { return keep(prefix + l.server.Name) })
			if err := ctx.Err(); err != nil {
				return pawl.Result{}, err
			}
			found := rank(s.offered(dir, keep), in.Query)
			return pawl.Result{Content: listing(in.Query, found) + s.howToCall(dir, keep, budget) + s.absent(dir, keep)}, nil
		},
	}
}

// howToCall explains how the tools can be called from the next request on.
func (s *Servers) howToCall(dir string, keep Keep, budget int) string {
	tools := s.within(dir, keep, budget)
	switch {
	case len(tools) == 0:
		return ""
	case tools[0].Name == CallTool:
		return fmt.Sprintf(" Call them with %s.", CallTool)
	case tools[0].Name == SearchTool:
		return ""
	}
	return " Call them by their names."
}

// absent reports which servers are not ready, and why.
func (s *Servers) absent(dir string, keep Keep) string {
	var b strings.Builder
	for _, l := range s.of(dir) {
		status, _ := l.status()
		if status.State == Ready || status.State == Disabled || !keep(prefix+status.Name) {
			continue
		}
		fmt.Fprintf(&b, "\nThe MCP server %s is not ready: %s%s.", status.Name, status.State, because(status.Why))
		if status.State == Starting {
			fmt.Fprintf(&b, " Its tools may be there later: use %s again.", SearchTool)
		}
	}
	return b.String()
}

// searchDescription returns the tool's description, with the number of tools.
func (s *Servers) searchDescription(dir string, keep Keep) string {
	var servers []string
	for _, l := range s.of(dir) {
		l.mu.Lock()
		n := 0
		for _, t := range l.tools {
			if keep(t.public) {
				n++
			}
		}
		l.mu.Unlock()
		if n > 0 {
			servers = append(servers, fmt.Sprintf("%s (%d tools)", l.server.Name, n))
		}
	}
	for _, name := range s.starting(dir, keep) {
		servers = append(servers, name+" (starting)")
	}
	return "Find tools of MCP servers and read how they are called: " + strings.Join(servers, ", ") + ". "
}

// rank returns the tools that match a word of the query, the best first.
// Without a query it returns all.
func rank(tools []offered, query string) []offered {
	words := strings.Fields(strings.ToLower(short(query, 1000)))
	if len(words) == 0 {
		return tools
	}
	score := func(o offered) int {
		name, text, n := strings.ToLower(o.spec.public), strings.ToLower(o.spec.description), 0
		for _, w := range words {
			if strings.Contains(name, w) {
				n += 3
			}
			if strings.Contains(text, w) {
				n++
			}
		}
		return n
	}
	tools = slices.DeleteFunc(slices.Clone(tools), func(o offered) bool { return score(o) == 0 })
	slices.SortStableFunc(tools, func(a, b offered) int { return cmp.Compare(score(b), score(a)) })
	return tools
}

// listing returns one line per tool.
func listing(query string, tools []offered) string {
	switch {
	case len(tools) == 0 && strings.TrimSpace(query) == "":
		return "There are no tools."
	case len(tools) == 0:
		return fmt.Sprintf("No tool has a word of %q.", short(query, nameBytes))
	}
	var b strings.Builder
	for i, o := range tools {
		text := fmt.Sprintf("%s: %s\n", o.spec.public, line(o.spec.description, 120))
		if b.Len()+len(text) > searchBytes {
			fmt.Fprintf(&b, "… %d more: use a query …\n", len(tools)-i)
			break
		}
		b.WriteString(text)
	}
	return b.String() + fmt.Sprintf("Read how a tool is called with %s {\"tools\":[\"name\"]}.", SearchTool)
}

// describe returns the full descriptions of some tools.
func (s *Servers) describe(ctx context.Context, dir string, names []string, keep Keep) (pawl.Result, error) {
	var b strings.Builder
	for _, name := range names {
		o, err := s.findTool(ctx, dir, name, keep)
		if err != nil {
			return pawl.Result{}, err
		}
		fmt.Fprintf(&b, "%s, of the MCP server %s, which says of it:\n%s\nschema of its input: %s\n\n", o.spec.public, o.link.server.Name, o.spec.description, o.spec.schema)
	}
	return pawl.Result{Content: strings.TrimSpace(b.String())}, nil
}
