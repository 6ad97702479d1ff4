package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

// SpecBudget is how many bytes of a request the tools of all servers may take
// together, before the model is given a way to look for them instead.
const SpecBudget = 6 << 10

// The tools that stand for all others when those are too many.
const (
	SearchTool = "mcp_search"
	CallTool   = "mcp_call"
)

// offered is a tool that can be called now, and whose it is.
type offered struct {
	link *link
	spec *remote // as the model is told: of a tool that has changed, what it said before
}

// Tools returns the tools of the servers that are ready now, in the order of
// their names. It waits for none. If what a model must be told of them is more
// than budget bytes, it is given two tools instead: one that finds them and one
// that calls them. 0 means SpecBudget.
func (s *Servers) Tools(dir string, budget int) []pawl.Tool {
	if budget == 0 {
		budget = SpecBudget
	}
	var tools []pawl.Tool
	size, cut := 0, false
	for _, o := range s.offered(dir) {
		t := o.tool()
		size += SpecSize(t.ToolSpec)
		cut = cut || len(o.spec.description) > briefBytes
		tools = append(tools, t)
	}
	switch {
	case size > budget:
		return []pawl.Tool{s.callTool(dir), s.searchTool(dir, "Call them with "+CallTool+".")}
	case cut:
		return append(tools, s.searchTool(dir, "Their own descriptions may be cut; here they are whole."))
	}
	return tools
}

// SpecSize is how many bytes of a request a tool takes, about.
func SpecSize(t pawl.ToolSpec) int {
	const frame = len(`{"name":"","description":"","input_schema":},`)
	return frame + len(t.Name) + len(t.Description) + len(t.Schema)
}

// offered returns all tools that can be called.
func (s *Servers) offered(dir string) []offered {
	var all []offered
	for _, l := range s.of(dir) {
		l.mu.Lock()
		for _, t := range l.tools {
			if known := l.known[t.raw]; known != nil {
				all = append(all, offered{l, known})
			}
		}
		l.mu.Unlock()
	}
	slices.SortStableFunc(all, func(a, b offered) int { return strings.Compare(a.spec.public, b.spec.public) })
	return all
}

// find returns the tool that the model means.
func (s *Servers) findTool(dir, name string) (offered, error) {
	for _, o := range s.offered(dir) {
		if o.spec.public == name {
			return o, nil
		}
	}
	return offered{}, fmt.Errorf("there is no tool %q: look for it with %s", line(name, nameBytes), SearchTool)
}

// tool is the tool by its own name. Its description is cut: the whole of it is
// rarely needed, and part of every request.
func (o offered) tool() pawl.Tool {
	l, name := o.link, o.spec.raw
	description := o.spec.description
	if len(description) > briefBytes {
		description = short(description, briefBytes)
	}
	return pawl.Tool{
		ToolSpec: pawl.ToolSpec{
			Name: o.spec.public, Schema: o.spec.schema,
			Description: strings.TrimSpace("(MCP server " + l.server.Name + ") " + description),
		},
		Risk: pawl.RiskModerate,
		Access: func(_ context.Context, call pawl.Call) ([]pawl.Access, error) {
			if err := object(call.Input); err != nil {
				return nil, err
			}
			return l.access(call, name)
		},
		Preview: func(_ context.Context, call pawl.Call) (string, error) { return l.preview(name, call.Input) },
		Run: func(ctx context.Context, call pawl.Call) (pawl.Result, error) {
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

// callTool calls any tool of any server. What it would touch is that tool: it
// is permitted, or not, as if it had been called by its own name.
func (s *Servers) callTool(dir string) pawl.Tool {
	decode := func(call pawl.Call) (offered, json.RawMessage, error) {
		var in callInput
		if err := pawl.Decode(call.Input, &in); err != nil {
			return offered{}, nil, fmt.Errorf("wrong input for %s: %w", CallTool, err)
		}
		if err := object(in.Input); err != nil {
			return offered{}, nil, fmt.Errorf(`wrong input for %s: the field "input" is not a JSON object`, CallTool)
		}
		o, err := s.findTool(dir, in.Tool)
		return o, in.Input, err
	}
	return pawl.Tool{
		ToolSpec: pawl.ToolSpec{
			Name: CallTool, Schema: callSchema,
			Description: "Call a tool of an MCP server. Find its name and schema with " + SearchTool + " first.",
		},
		Risk: pawl.RiskModerate,
		Access: func(_ context.Context, call pawl.Call) ([]pawl.Access, error) {
			o, _, err := decode(call)
			if err != nil {
				return nil, err
			}
			return o.link.access(call, o.spec.raw)
		},
		Preview: func(_ context.Context, call pawl.Call) (string, error) {
			o, input, err := decode(call)
			if err != nil {
				return "", err
			}
			return o.link.preview(o.spec.raw, input)
		},
		Run: func(ctx context.Context, call pawl.Call) (pawl.Result, error) {
			o, input, err := decode(call)
			if err != nil {
				return pawl.Result{}, err
			}
			return o.link.call(ctx, call, o.spec.raw, input)
		},
	}
}
