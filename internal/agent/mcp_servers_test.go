package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/extension/definition"
	"github.com/pawl-dev/pawl/internal/extension/rules"
	"github.com/pawl-dev/pawl/internal/extension/skill"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// shop has the tools mcp__a__x and mcp__a__y, and one that calls them. hidden are
// not offered by their names.
type shop struct {
	hidden bool
	notes  []string
}

func (s *shop) all(keep func(string) bool) []toolapi.Tool {
	var tools []toolapi.Tool
	for _, name := range []string{"mcp__a__x", "mcp__a__y"} {
		if !keep(name) {
			continue
		}
		t := newTool(name, pawl.AccessMCP, func(_ context.Context, c toolapi.Call) (pawl.Result, error) {
			return pawl.Result{Content: name + " has done " + string(c.Input)}, nil
		})
		t.Access = func(context.Context, toolapi.Call) ([]pawl.Access, error) {
			target := "a/" + strings.TrimPrefix(name, "mcp__a__") + "@0123456789abcdef"
			return []pawl.Access{{Kind: pawl.AccessMCP, Target: target}}, nil
		}
		tools = append(tools, t)
	}
	return tools
}

func (s *shop) Tools(_ pawl.SessionID, _ string, keep func(string) bool) []toolapi.Tool {
	if !s.hidden {
		return s.all(keep)
	}
	if !keep("mcp__a") {
		return nil
	}
	return []toolapi.Tool{{
		Spec: toolapi.Spec{Name: "mcp_call", Schema: json.RawMessage(`{"type":"object"}`)},
		Means: func(_ context.Context, input json.RawMessage) (toolapi.Tool, json.RawMessage, error) {
			var in struct {
				Tool  string
				Input json.RawMessage
			}
			if err := json.Unmarshal(input, &in); err != nil {
				return toolapi.Tool{}, nil, err
			}
			for _, t := range s.all(keep) {
				if t.Name == in.Tool {
					return t, in.Input, nil
				}
			}
			return toolapi.Tool{}, nil, fmt.Errorf("there is no tool %s", in.Tool)
		},
	}}
}

func (s *shop) Tool(_ context.Context, _ pawl.SessionID, _, name string, keep func(string) bool) (toolapi.Tool, bool) {
	for _, t := range s.all(keep) {
		if t.Name == name {
			return t, true
		}
	}
	return toolapi.Tool{}, false
}

func (s *shop) Notes(pawl.SessionID, string) []string {
	notes := s.notes
	s.notes = nil
	return notes
}

// A turn has the tools of servers that its agent and its prompt name, however they
// are called.
func TestServerToolsAreKept(t *testing.T) {
	t.Parallel()
	const (
		byName  = `{"calls":[{"name":"mcp__a__x","input":{"n":1}}]}`
		through = `{"calls":[{"name":"mcp_call","input":{"tool":"mcp__a__x","input":{"n":1}}}]}`
	)
	for name, test := range map[string]struct {
		tools  []string // of the prompt
		agent  []string // of the agent
		hidden bool
		call   string
		ran    bool
	}{
		"all":                        {call: byName, ran: true},
		"all, through another":       {hidden: true, call: through, ran: true},
		"all, not offered":           {hidden: true, call: byName, ran: true},
		"the prompt names others":    {tools: []string{"read"}, call: byName},
		"the prompt names another":   {tools: []string{"mcp__a__y"}, call: byName},
		"another, through another":   {tools: []string{"mcp__a__y"}, hidden: true, call: through},
		"another, not offered":       {tools: []string{"mcp__a__y"}, hidden: true, call: byName},
		"the prompt names it":        {tools: []string{"mcp__a__x"}, call: byName, ran: true},
		"the prompt names a server":  {tools: []string{"mcp__a"}, hidden: true, call: through, ran: true},
		"the agent has none":         {agent: []string{"read"}, call: byName},
		"the agent has the server's": {agent: []string{"mcp__a__*"}, call: byName, ran: true},
		"the prompt cannot widen":    {agent: []string{"mcp__a__y"}, tools: []string{"mcp__*"}, call: byName},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, setup{script: []string{test.call, isDone}})
			w.Servers = &shop{hidden: test.hidden}
			w.Extensions = func(context.Context, string, pawl.Settings) (*extension.Found, error) {
				return found(definition.Agent{Name: "mine", Tools: test.agent}), nil
			}
			w.prompt("go", func(p *pawl.Prompted) { p.Agent, p.Tools = "mine", test.tools })
			w.mustTurn(pawl.ReasonEndTurn)
			got := w.results()[0]
			if ran := got.Status == pawl.CallDone; ran != test.ran || ran && got.Result.Content != `mcp__a__x has done {"n":1}` {
				t.Errorf("got %+v", got)
			}
			for _, b := range w.bodies(pawl.CallStarted{}) {
				if b.(pawl.CallStarted).Tool != "mcp__a__x" {
					t.Errorf("the log has %+v", b)
				}
			}
		})
	}
}

func found(agents ...definition.Agent) *extension.Found {
	return &extension.Found{Agents: &definition.AgentSet{Agents: agents}, Rules: &rules.Set{}, Skills: &skill.Set{}}
}

// Hooks see the tool that a call is for, and its input, and can change that.
func TestHooksSeeTheRealTool(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{`{"calls":[{"name":"mcp_call","input":{"tool":"mcp__a__x","input":{"n":1}}},{"name":"mcp_call","input":{"tool":"mcp__a__y","input":{"n":1}}}]}`, isDone}})
	w.Servers = &shop{hidden: true}
	w.hook("PreToolUse", "mcp__a__x", `cat > before.json; echo '{"hookSpecificOutput":{"updatedInput":{"n":2}}}'`)
	w.hook("PreToolUse", "mcp__a__y", "echo not y >&2; exit 2")
	w.hook("PostToolUse", "mcp__a__.*", "cat > after.json")
	w.hook("PreToolUse", "mcp_call", "touch mcp_call")
	w.prompt("go")
	w.mustTurn(pawl.ReasonEndTurn)
	results := w.results() // what is refused has its result first
	if got := results[1].Result.Content; !strings.Contains(got, `mcp__a__x has done {"n":2}`) {
		t.Errorf("got %q", got)
	}
	if results[0].Status != pawl.CallDenied || !strings.Contains(results[0].Result.Content, "not y") {
		t.Errorf("got %+v", results[0])
	}
	for file, want := range map[string]string{"before.json": `"tool_input":{"n":1}`, "after.json": `"tool_input":{"n":2}`} {
		text, err := os.ReadFile(filepath.Join(w.dir, file))
		if err != nil || !strings.Contains(string(text), `"tool_name":"mcp__a__x"`) || !strings.Contains(string(text), want) {
			t.Errorf("%s: %s, %v", file, text, err)
		}
	}
	if w.has("mcp_call") {
		t.Error("a hook was told of the tool that stands for others")
	}
}

// What an agent's rules deny of all is denied of servers' tools too.
func TestServerRules(t *testing.T) {
	t.Parallel()
	for _, about := range []string{"*", definition.AllServers} {
		w := newEnv(t, setup{script: []string{`{"calls":[{"name":"mcp__a__x","input":{}}]}`, isDone}})
		w.Servers = &shop{}
		w.Extensions = func(context.Context, string, pawl.Settings) (*extension.Found, error) {
			return found(definition.Agent{Name: "mine", Rules: []definition.Rule{{Tool: about, Decision: string(permission.Deny)}}}), nil
		}
		w.prompt("go", func(p *pawl.Prompted) { p.Agent = "mine" })
		w.mustTurn(pawl.ReasonEndTurn)
		if got := w.results()[0]; got.Status != pawl.CallDenied {
			t.Errorf("%s: %+v", about, got)
		}
	}
}

// TestSubagentInheritsServerTools checks that a subagent has exactly the MCP tools of its parent, including those of
// servers that are not running.
func TestSubagentInheritsServerTools(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tools, agent, want []string
	}{
		"all":                    {want: []string{"mcp__*"}},
		"a prompt's":             {tools: []string{"task", "mcp__a"}, want: []string{"mcp__a"}},
		"a prompt's that has no": {tools: []string{"task"}},
		"an agent's":             {agent: []string{"task", "mcp__a__x"}, tools: []string{"task", "mcp__a"}, want: []string{"mcp__a__x"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, setup{script: []string{`{"calls":[{"name":"task","input":{"agent":"general","prompt":"x","description":"x","background":true}}]}`, isDone}})
			sent := &sender{}
			w.Service, w.Servers = sent, &shop{}
			w.Extensions = func(context.Context, string, pawl.Settings) (*extension.Found, error) {
				return found(definition.Agent{Name: "mine", Tools: test.agent}), nil
			}
			w.prompt("go", func(p *pawl.Prompted) { p.Agent, p.Tools = "mine", test.tools })
			_, _ = w.turn(t.Context()) // it ends with the test's service
			got := slices.DeleteFunc(sent.prompt.Tools, func(name string) bool { return !definition.OfServers(name) })
			if len(sent.prompt.Tools) == 0 && test.tools == nil {
				t.Fatal("the child may have all")
			}
			check(t, strings.Join(test.want, " "), strings.Join(got, " "))
		})
	}
}

// sender keeps what a subagent is sent.
type sender struct {
	crowd
	prompt pawl.Prompt
}

func (s *sender) Send(_ context.Context, _ pawl.SessionID, p pawl.Prompt) (pawl.Seq, error) {
	s.prompt = p
	return 2, nil
}

// What is wrong with a server is reported to who watches, once, and is in no log.
func TestServerNotes(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{isDone}})
	w.Servers = &shop{notes: []string{"the MCP server a is not ready"}}
	w.checkNotice("the MCP server a is not ready")
}

// checkNotice runs a turn and checks that it publishes the note once as a status, and does not write it to the log.
func (w *testEnv) checkNotice(note string) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	notices := make(chan string, 8)
	ready := make(chan struct{})
	go func() {
		for e := range w.bus.Events(ctx, session, 0) {
			switch b := e.Body.(type) {
			case pawl.SessionCreated:
				close(ready)
			case pawl.Status:
				notices <- b.Message
			default: // not of interest
			}
		}
		close(notices)
	}()
	receive(w.t, ready, "the log")
	w.prompt("go")
	w.mustTurn(pawl.ReasonEndTurn)
	if got := receive(w.t, notices, "the note"); got != note {
		w.t.Errorf("got %q", got)
	}
	cancel()
	for more := range notices {
		w.t.Errorf("told too: %q", more)
	}
	if got := w.bodies(pawl.Status{}); got != nil {
		w.t.Errorf("the log has %v", got)
	}
}
