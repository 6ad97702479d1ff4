package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/strictjson"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// SpecBudget is how many bytes of a request the tools of all servers may take.
// Beyond it, the model gets mcp_search and mcp_call instead.
const SpecBudget = 6 << 10

// The tools that replace all others when those are too many.
const (
	SearchTool = "mcp_search"
	CallTool   = "mcp_call"
)

// offered is a tool that can be called now, with its server.
type offered struct {
	link *link
	spec *remote // as the model has it: the previous version of a changed tool
}

// Keep decides which tools a turn may use, by name; for mcp__server, whether
// any tool of a server may be used. nil means all.
type Keep = func(name string) bool

// orAll replaces nil by a function that accepts all.
func orAll(keep Keep) Keep {
	if keep == nil {
		return func(string) bool { return true }
	}
	return keep
}

// Tools returns the tools of the servers that are ready, sorted by name, for
// which keep returns true. It does not wait for servers. If their descriptions
// exceed SpecBudget, it returns two tools instead: one that searches for tools
// and one that calls them. While servers are starting, it adds the one that
// searches.
func (s *Servers) Tools(dir string, keep Keep) []toolapi.Tool {
	return s.within(dir, orAll(keep), SpecBudget)
}

// within is Tools with another budget.
func (s *Servers) within(dir string, keep Keep, budget int) []toolapi.Tool {
	var tools []toolapi.Tool
	size, cut := 0, false
	for _, o := range s.offered(dir, keep) {
		t := o.tool()
		size += SpecSize(t.Spec)
		cut = cut || len(o.spec.description) > briefBytes
		tools = append(tools, t)
	}
	switch {
	case size > budget:
		return []toolapi.Tool{s.callTool(dir, keep), s.searchTool(dir, keep, budget, "Call them with "+CallTool+".")}
	case cut:
		return append(tools, s.searchTool(dir, keep, budget, "Their own descriptions may be cut; here they are whole."))
	case len(s.starting(dir, keep)) > 0:
		return append(tools, s.searchTool(dir, keep, budget, "It waits for those that start."))
	}
	return tools
}

// Tool returns the tool with that name, even if it is not currently offered:
// the offer changes while a model writes, and the model may know tools from
// earlier turns. It waits for the tool's server if that is starting.
func (s *Servers) Tool(ctx context.Context, dir, name string, keep Keep) (toolapi.Tool, bool) {
	keep = orAll(keep)
	if name == CallTool || name == SearchTool {
		any := slices.ContainsFunc(s.of(dir), func(l *link) bool { return keep(prefix + l.server.Name) })
		if name == CallTool {
			return s.callTool(dir, keep), any
		}
		return s.searchTool(dir, keep, SpecBudget, ""), any
	}
	o, err := s.findTool(ctx, dir, name, keep)
	if err != nil {
		return toolapi.Tool{}, false
	}
	return o.tool(), true
}

// SpecSize returns approximately how many bytes of a request a tool takes.
func SpecSize(t toolapi.Spec) int {
	const frame = len(`{"name":"","description":"","input_schema":},`)
	return frame + len(t.Name) + len(t.Description) + len(t.Schema)
}

// prefix is the prefix of all tool names.
const prefix = "mcp__"

// offered returns all tools that can be called.
func (s *Servers) offered(dir string, keep Keep) []offered {
	var all []offered
	for _, l := range s.of(dir) {
		l.mu.Lock()
		for _, t := range l.tools {
			if known := l.known[t.raw]; known != nil && keep(known.public) {
				all = append(all, offered{l, known})
			}
		}
		l.mu.Unlock()
	}
	slices.SortStableFunc(all, func(a, b offered) int { return strings.Compare(a.spec.public, b.spec.public) })
	return all
}

// findTool returns the tool that the model names. It waits for the tool's
// server if that is starting.
func (s *Servers) findTool(ctx context.Context, dir, name string, keep Keep) (offered, error) {
	server, _, _ := strings.Cut(strings.TrimPrefix(name, prefix), "__")
	s.wait(ctx, dir, func(l *link) bool { return l.server.Name == server && keep(name) })
	for _, o := range s.offered(dir, keep) {
		if o.spec.public == name {
			return o, nil
		}
	}
	return offered{}, fmt.Errorf("there is no tool %q: look for it with %s", line(name, nameBytes), SearchTool)
}

// tool returns the tool under its own name. Its description is truncated,
// because the full text is rarely needed and part of every request.
func (o offered) tool() toolapi.Tool {
	l, name := o.link, o.spec.raw
	description := o.spec.description
	if len(description) > briefBytes {
		description = short(description, briefBytes)
	}
	return toolapi.Tool{
		Spec: toolapi.Spec{
			Name: o.spec.public, Schema: o.spec.schema,
			Description: strings.TrimSpace("(MCP server " + l.server.Name + ") " + description),
		},
		Risk: toolapi.RiskModerate,
		Access: func(_ context.Context, call toolapi.Call) ([]pawl.Access, error) {
			if err := object(call.Input); err != nil {
				return nil, err
			}
			return l.access(call, name)
		},
		Preview: func(_ context.Context, call toolapi.Call) (string, error) { return l.preview(name, call.Input) },
		Run: func(ctx context.Context, call toolapi.Call) (pawl.Result, error) {
			return l.call(ctx, call, name, call.Input)
		},
	}
}

func object(input json.RawMessage) error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil || fields == nil {
		return errors.New("wrong input: it is not a JSON object")
	}
	return nil
}

// callInput is the input of mcp_call.
type callInput struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

var callSchema = json.RawMessage(`{"type":"object","properties":{"tool":{"type":"string","description":"as mcp_search names it"},"input":{"type":"object","description":"by the tool's schema"}},"required":["tool","input"]}`)

// callTool returns the tool that calls any tool of any server that keep
// accepts. A call needs the same permission as a call of that tool by its own
// name.
func (s *Servers) callTool(dir string, keep Keep) toolapi.Tool {
	return toolapi.Tool{
		Spec: toolapi.Spec{
			Name: CallTool, Schema: callSchema,
			Description: "Call a tool of an MCP server. Find its name and schema with " + SearchTool + " first.",
		},
		Risk: toolapi.RiskModerate,
		Means: func(ctx context.Context, input json.RawMessage) (toolapi.Tool, json.RawMessage, error) {
			var in callInput
			if err := strictjson.Decode(input, &in); err != nil {
				return toolapi.Tool{}, nil, fmt.Errorf("wrong input for %s: %w", CallTool, err)
			}
			if err := object(in.Input); err != nil {
				return toolapi.Tool{}, nil, fmt.Errorf(`wrong input for %s: the field "input" is not a JSON object`, CallTool)
			}
			o, err := s.findTool(ctx, dir, in.Tool, keep)
			if err != nil {
				return toolapi.Tool{}, nil, err
			}
			return o.tool(), in.Input, nil
		},
	}
}
