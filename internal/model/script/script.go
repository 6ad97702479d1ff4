// Package script is a model that takes its replies from a file (--model script:FILE). It is part of the
// product, so that agents can be tested without a provider, a key or a network. docs/reference/scripted-model.md
// describes the file.
package script

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

var _ model.Model = (*Model)(nil)

// Model replies from a script. It is immutable, and safe for concurrent use. A reply depends only on the
// request: it is the line at position Request.Replies in the session's block of lines. So a resumed session
// continues where it stopped.
type Model struct {
	file     string
	main     block
	agents   map[string]block      // by the agent of the lines
	window   model.Window          // zero means no limit
	children map[pawl.CallID]block // by the calls that name a script
	callers  map[pawl.CallID]int   // line number of each call in main
}

// block is the replies of one session, in order.
type block struct {
	file    string
	replies []reply
	repeats bool // the last reply repeats
}

// Open reads and validates a script and the scripts that its calls name. Errors include the file and the line.
func Open(path string) (*Model, error) { return OpenFor(path, nil) }

// Faults reports whether a reader supports a fault that [Model.Stream] does not.
type Faults func(Kind) error

// OpenFor is Open for readers that use [Model.Reply] and support more faults.
func OpenFor(path string, faults Faults) (*Model, error) {
	m, err := open(path, faults)
	if err != nil {
		return nil, fmt.Errorf("open script: %w", err)
	}
	return m, nil
}

func open(path string, faults Faults) (*Model, error) {
	replies, err := readFile(path, faults)
	if err != nil {
		return nil, err
	}
	return build(path, replies, faults)
}

// build returns the model with the replies of a script.
func build(path string, replies []reply, faults Faults) (*Model, error) {
	m := &Model{
		file:     path,
		main:     block{file: path},
		agents:   map[string]block{},
		children: map[pawl.CallID]block{},
		callers:  map[pawl.CallID]int{},
	}
	if replies[0].Window != nil {
		m.window, replies = *replies[0].Window, replies[1:]
	}
	for _, r := range replies {
		if r.Window != nil {
			return nil, fmt.Errorf("%s:%d: window is only allowed in the first line", path, r.number)
		}
		if r.Agent == "" {
			m.main.replies = append(m.main.replies, r)
			continue
		}
		if err := r.refuseScript(path); err != nil {
			return nil, err
		}
		m.agents[r.Agent] = block{file: path, replies: append(m.agents[r.Agent].replies, r)}
	}
	return m, m.openChildren(faults)
}

// openChildren reads the scripts that calls of the main block name, each file once.
func (m *Model) openChildren(faults Faults) error {
	read := map[string]block{}
	for i, r := range m.main.replies {
		for j, c := range r.Calls {
			id := callID(i, j)
			m.callers[id] = r.number
			if c.Script == "" {
				continue
			}
			path, err := childPath(m.file, c.Script)
			if err != nil {
				return fmt.Errorf("%s:%d: script of call %d: %w", m.file, r.number, j+1, err)
			}
			if _, ok := read[path]; !ok {
				child, err := openChild(path, faults)
				if err != nil {
					return fmt.Errorf("%s:%d: script of call %d: %w", m.file, r.number, j+1, err)
				}
				read[path] = child
			}
			m.children[id] = read[path]
		}
	}
	return nil
}

// childPath returns the path of a subagent's script. It must be below the directory of the main script,
// by its real path: who may use the main script may not read every file.
func childPath(main, child string) (string, error) {
	if !filepath.IsAbs(child) {
		child = filepath.Join(filepath.Dir(main), child)
	}
	dir, err := realPath(filepath.Dir(main))
	if err != nil {
		return "", err
	}
	real, err := realPath(child)
	if errors.Is(err, fs.ErrNotExist) {
		return child, nil // to open it fails, and says so
	}
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(dir, real); err != nil || !filepath.IsLocal(rel) {
		return "", errors.New("it must be in the directory of the main script, or below")
	}
	return child, nil
}

// realPath returns an absolute path without symbolic links.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// openChild reads the script of a subagent session: a single block.
func openChild(path string, faults Faults) (block, error) {
	replies, err := readFile(path, faults)
	if err != nil {
		return block{}, err
	}
	for _, r := range replies {
		if r.Window != nil {
			return block{}, fmt.Errorf("%s:%d: window is not allowed in a subagent's script", path, r.number)
		}
		if r.Agent != "" {
			return block{}, fmt.Errorf("%s:%d: agent %q is not allowed in a subagent's script", path, r.number, r.Agent)
		}
		if err := r.refuseScript(path); err != nil {
			return block{}, err
		}
	}
	return block{file: path, replies: replies}, nil
}

// refuseScript rejects nested scripts: a subagent of a subagent cannot be matched to its call, because ids
// repeat between sessions.
func (r reply) refuseScript(path string) error {
	for _, c := range r.Calls {
		if c.Script != "" {
			return fmt.Errorf("%s:%d: script %q: only calls of the main session can name a script", path, r.number, c.Script)
		}
	}
	return nil
}

// Stream yields the reply to the request: reasoning, text, calls, usage, finish. It yields a *Fault if the
// request does not match the script or the script requests it, and ctx.Err() when ctx ends.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		r, err := m.reply(req)
		if err == nil {
			err = m.overflow(req)
		}
		if err != nil {
			yield(model.Chunk{}, err)
			return
		}
		r.stream(ctx, req.Replies, yield)
	}
}

func (m *Model) reply(req model.Request) (reply, error) {
	b, err := m.block(req)
	if err != nil {
		return reply{}, err
	}
	return b.reply(req)
}

// Window returns the context window; zero if the script does not set it.
func (m *Model) Window() model.Window { return m.window }

// overflow returns the error of a provider for a request that is too large.
func (m *Model) overflow(req model.Request) error {
	if m.window.Context == 0 {
		return nil
	}
	size := len(req.System)
	for _, t := range req.Tools {
		size += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, message := range req.Messages {
		for _, part := range message.Parts {
			switch p := part.(type) {
			case pawl.Text:
				size += len(p.Text)
			case pawl.Reasoning:
				size += len(p.Text)
			case pawl.ToolCall:
				size += len(p.Name) + len(p.Input)
			case pawl.ToolResult:
				size += len(p.Content)
			case pawl.File:
				if protocol.IsText(p) {
					size += len(p.Data)
				}
			case pawl.Patch:
			}
		}
	}
	if tokens := size / 4; tokens > m.window.Context-m.window.Output {
		return &model.ProviderError{Kind: pawl.ErrorOverflow, Message: fmt.Sprintf("the request has %d tokens: the context window is %d, of which %d are reserved for the reply",
			tokens, m.window.Context, m.window.Output)}
	}
	return nil
}

// aside lists the agents for titles, summaries and compaction, which run in any session.
var aside = []string{model.AgentTitle, model.AgentSummary, model.AgentCompaction}

// block returns the lines for the session of a request.
func (m *Model) block(req model.Request) (block, error) {
	if slices.Contains(aside, req.Agent) {
		if b, ok := m.agents[req.Agent]; ok {
			return b, nil
		}
		return block{}, misfit("%s: no line has agent %q", m.file, req.Agent)
	}
	if req.ParentCall == "" {
		return m.main, nil
	}
	if child, ok := m.children[req.ParentCall]; ok {
		return child, nil
	}
	if b, ok := m.agents[req.Agent]; ok {
		return b, nil
	}
	for name := range ofTeam(req) {
		if b, ok := m.agents[name]; ok {
			return b, nil
		}
	}
	place := m.file
	if line, ok := m.callers[req.ParentCall]; ok {
		place = fmt.Sprintf("%s:%d", m.file, line)
	}
	have := strings.Join(slices.Sorted(maps.Keys(m.agents)), ", ")
	if have == "" {
		have = "none"
	}
	return block{}, misfit("%s: call %s names no script for its subagent, and no line has agent %q (lines exist for: %s)",
		place, req.ParentCall, req.Agent, have)
}

// ofTeam yields the agent names that lines can have for a session: for a mission's team the agent with task and
// attempt, with the task, and alone.
func ofTeam(req model.Request) iter.Seq[string] {
	return func(yield func(string) bool) {
		name := strings.TrimPrefix(req.Agent, "mission-")
		if post, ok := strings.CutPrefix(string(req.ParentCall), "mission:"); ok {
			name += ":" + post
		}
		for yield(name) {
			i := strings.LastIndex(name, ":")
			if i < 0 {
				return
			}
			name = name[:i]
		}
	}
}

// reply returns the line at the request's position.
func (b block) reply(req model.Request) (reply, error) {
	if b.repeats || slices.Contains(aside, req.Agent) { // the number of titles and summaries is hard to predict
		req.Replies = min(req.Replies, len(b.replies)-1)
	}
	if req.Replies < 0 || req.Replies >= len(b.replies) {
		return reply{}, misfit("%s: the script ran out of replies: it has %d for this session, and reply %d was requested; the last message was %s",
			b.end(), len(b.replies), req.Replies+1, quote(lastText(req.Messages)))
	}
	r := b.replies[req.Replies]
	if r.expect != nil {
		if text := lastText(req.Messages); !r.expect.MatchString(text) {
			return reply{}, misfit("%s:%d: the last message was expected to match %s, but was %s",
				b.file, r.number, quote(r.Expect), quote(text))
		}
	}
	return r, nil
}

// end returns the location of the last line.
func (b block) end() string {
	if len(b.replies) == 0 {
		return b.file
	}
	return fmt.Sprintf("%s:%d", b.file, b.replies[len(b.replies)-1].number)
}
