package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// plannedCall is a call with its tool, what it would access now, and the current policy.
type plannedCall struct {
	started       pawl.CallStarted // as the log has it, or will have it
	tool          toolapi.Tool
	call          toolapi.Call
	access        []pawl.Access
	policy        permission.Policy
	startedBefore bool   // an earlier attempt started it
	flush         func() // shows the progress text that is held back
}

// planCall finds the tool of a call and asks it what the call would access.
func (s *Stepper) planCall(ctx context.Context, j *journal, t Turn, c *pawl.CallState) (p plannedCall, err error) {
	tool, input, changed, err := s.resolveTool(ctx, j, c)
	if err != nil {
		return p, err
	}
	policy, err := s.policy(ctx, j)
	if err != nil {
		return p, err
	}
	show, flush := s.Redact.Progress(func(text string) { j.publish(t.Number, pawl.Progress{Call: c.Call.ID, Text: text}) })
	call := toolapi.Call{
		Session: j.id, Turn: t.Number, ID: c.Call.ID, Input: input, Dir: j.history.Created().Dir,
		Dirs:      policy.Dirs,
		Mode:      string(policy.Mode),
		Sandboxed: policy.Sandboxed,
		Reads:     readable(policy, tool.Name),
		Progress:  show,
		Notice:    func(text string) { s.notice(j, t.Number, text) },
		Caller:    toolSession{s, j},
	}
	if s.Buffers != nil && !j.inMissionTeam() { // a worker has a worktree of its own
		call.Buffers = s.Buffers(j.rootSession())
	}
	defer func() {
		if v := recover(); v != nil {
			err = panicked(tool.Name, v)
		}
	}()
	access, err := tool.Access(ctx, call)
	if err != nil {
		return p, err
	}
	started := pawl.CallStarted{Call: c.Call.ID, Tool: tool.Name, Access: access, ReadOnly: toolapi.ReadOnly(access)}
	if changed {
		started.Input = input
	}
	if c.Started != nil {
		started = *c.Started // an interrupted call stays what it started as
	}
	return plannedCall{started: started, tool: tool, call: call, access: access, policy: policy, startedBefore: c.Started != nil, flush: flush}, nil
}

// resolveTool returns the tool and the input of a call of the open turn. A call through a
// wrapper tool resolves to the tool it wraps, so that permissions, hooks and the log see
// that one. changed reports whether the input is not the model's.
func (s *Stepper) resolveTool(ctx context.Context, j *journal, c *pawl.CallState) (t toolapi.Tool, input json.RawMessage, changed bool, err error) {
	tools, err := s.availableTools(j)
	if err != nil {
		return t, nil, false, err
	}
	t, ok := tools.Tool(c.Call.Name)
	if !ok && s.Servers != nil {
		keep, err := s.toolFilter(j)
		if err != nil {
			return t, nil, false, err
		}
		t, ok = s.Servers.Tool(ctx, j.rootSession(), j.history.Created().Dir, c.Call.Name, keep)
	}
	if !ok {
		return t, nil, false, fmt.Errorf("there is no tool %q; there are: %s", c.Call.Name, strings.Join(tools.Names(), ", "))
	}
	input, changed = j.inputOf(c)
	if t.Means == nil {
		return t, input, changed, nil
	}
	meant, own, err := t.Means(ctx, c.Call.Input)
	if _, offered := tools.Tool(meant.Name); t.Run != nil && (!offered || err != nil) {
		return t, input, changed, nil
	}
	if !changed {
		input = own
	}
	return meant, input, changed, err
}

// subject returns the call as permissions see it. A path that symbolic links resolve to
// another one is listed under both.
func (p plannedCall) subject() (permission.Call, error) {
	c := permission.Call{Tool: p.started.Tool, Risk: p.tool.Risk, Input: p.call.Input}
	c.View = p.tool.OnView != nil && p.tool.OnView(p.call)
	for _, a := range p.access {
		c.Access = append(c.Access, a)
		if a.Kind != pawl.AccessRead && a.Kind != pawl.AccessWrite {
			continue
		}
		real, err := workspace.Real(p.call.Dir, a.Target)
		if err != nil {
			return c, fmt.Errorf("not run: the target of %s cannot be determined: %w", a.Target, err)
		}
		if real != filepath.Clean(a.Target) {
			c.Access = append(c.Access, pawl.Access{Kind: a.Kind, Target: real})
		}
	}
	return c, nil
}

// readable returns a function that reports whether a tool that searches many files may
// read one without asking.
func readable(policy permission.Policy, tool string) func(path string) bool {
	return func(path string) bool {
		real, err := workspace.Real(policy.Dir, path)
		if err != nil {
			return false
		}
		accesses := []pawl.Access{{Kind: pawl.AccessRead, Target: path}, {Kind: pawl.AccessRead, Target: real}}
		return permission.Decide(policy, permission.Call{Tool: tool, Risk: toolapi.RiskSafe, Access: accesses}).Decision == permission.Allow
	}
}

// maxPreview bounds the diff that the user is asked to review, in bytes.
const maxPreview = 1 << 20

// previewOf returns the diff of what the call would change.
func previewOf(ctx context.Context, p plannedCall) (diff string, err error) {
	if p.tool.Preview == nil {
		return "", nil
	}
	defer func() {
		if v := recover(); v != nil {
			err = panicked(p.started.Tool, v)
		}
	}()
	if diff, err = p.tool.Preview(ctx, p.call); err == nil && len(diff) > maxPreview {
		err = fmt.Errorf("not run: its diff has %d bytes, too many to be put to the user: make it in smaller parts", len(diff))
	}
	return diff, err
}
