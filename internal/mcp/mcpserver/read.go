package mcpserver

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

type sessionsInput struct {
	Query string `json:"query,omitempty" jsonschema:"words that the title or the first prompt has"`
	Limit int    `json:"limit,omitempty" jsonschema:"at most so many: 20 if left out, 100 at most"`
}

type sessionsOutput struct {
	Sessions []sessionRow `json:"sessions"`
}

// sessionRow is a session in a list.
type sessionRow struct {
	ID      pawl.SessionID `json:"id"`
	Name    string         `json:"name"`
	Dir     string         `json:"dir"`
	State   pawl.State     `json:"state" jsonschema:"idle, queued or running"`
	Turns   int            `json:"turns"`
	Updated time.Time      `json:"updated"`
}

func rowOf(s pawl.Session) sessionRow {
	return sessionRow{s.ID, cut(s.Name(), progressChars), s.Dir, s.State(), s.Turns, s.Updated}
}

// sessions lists the sessions below the root.
func (s *server) sessions(ctx context.Context, _ *sdk.CallToolRequest, in sessionsInput) (*sdk.CallToolResult, sessionsOutput, error) {
	out := sessionsOutput{Sessions: []sessionRow{}}
	limit := in.Limit
	if limit == 0 {
		limit = listed
	}
	if limit < 0 || limit > maxListed {
		return nil, out, fault.New(pawl.ErrInvalid, "limit must be between 1 and %d", maxListed)
	}
	page := pawl.Filter{Query: in.Query, Limit: pageSessions}
	for range maxPages {
		rows, err := s.Service.List(ctx, page)
		if err != nil {
			return nil, out, err
		}
		for _, row := range rows.Sessions {
			if s.holds(row) {
				out.Sessions = append(out.Sessions, rowOf(row))
			}
			if len(out.Sessions) == limit {
				return nil, out, nil
			}
		}
		if rows.Next == "" {
			break
		}
		page.Cursor = rows.Next
	}
	return nil, out, nil
}

type sessionInput struct {
	Session string   `json:"session" jsonschema:"its id"`
	Before  pawl.Seq `json:"before,omitempty" jsonschema:"only what came before the message of this number"`
}

type sessionOutput struct {
	sessionRow
	Messages []message `json:"messages"`
	Earlier  bool      `json:"earlier" jsonschema:"there is more before the first message: ask for what came before its number"`
}

// message is a message of a conversation, truncated.
type message struct {
	Seq     pawl.Seq  `json:"seq"`
	Role    pawl.Role `json:"role"`
	Text    string    `json:"text,omitempty"`
	Calls   []call    `json:"calls,omitempty"`
	Results []string  `json:"results,omitempty" jsonschema:"results of the previous calls, in order"`
}

type call struct {
	Tool  string `json:"tool"`
	Input string `json:"input"`
}

// session returns the end of a conversation.
func (s *server) session(ctx context.Context, _ *sdk.CallToolRequest, in sessionInput) (*sdk.CallToolResult, sessionOutput, error) {
	out := sessionOutput{Messages: []message{}}
	row, err := s.open(ctx, in.Session)
	if err != nil {
		return nil, out, err
	}
	out.sessionRow = rowOf(row)
	var log []pawl.Event
	for e, err := range s.log(ctx, row) {
		if err != nil {
			return nil, out, err
		}
		log = append(log, e)
	}
	all, err := pawl.Conversation(log)
	if err != nil {
		return nil, out, err
	}
	size := 0
	for _, m := range slices.Backward(all) {
		if in.Before != 0 && m.Seq >= in.Before {
			continue
		}
		short := shorten(m)
		if size += short.size(); size > readBytes {
			out.Earlier = true
			break
		}
		out.Messages = append(out.Messages, short)
	}
	slices.Reverse(out.Messages)
	return nil, out, nil
}

func shorten(m pawl.Message) message {
	short := message{Seq: m.Seq, Role: m.Role, Text: cut(m.Text(), partChars)}
	for _, c := range m.Parts.Calls() {
		short.Calls = append(short.Calls, call{c.Name, cut(string(c.Input), partChars)})
	}
	for _, p := range m.Parts {
		if r, ok := p.(pawl.ToolResult); ok {
			short.Results = append(short.Results, cut(r.Content, partChars))
		}
	}
	return short
}

func (m message) size() int {
	n := len(m.Text)
	for _, c := range m.Calls {
		n += len(c.Tool) + len(c.Input)
	}
	for _, r := range m.Results {
		n += len(r)
	}
	return n
}

// log yields a session's durable events up to the head of its row.
func (s *server) log(ctx context.Context, row pawl.Session) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		for e, err := range s.Service.Events(ctx, row.ID, 0) {
			if err == nil && e.Seq == 0 {
				continue
			}
			if !yield(e, err) || err != nil || e.Seq == row.Head {
				return
			}
		}
	}
}

// childWait is the polling interval for a subagent session that was announced
// but does not exist yet.
const childWait = 50 * time.Millisecond

// events yields the events of a subagent from the first on. A subagent is
// announced before its session exists.
func (s *server) events(ctx context.Context, child pawl.SessionID) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		for {
			_, err := s.Service.Get(ctx, child)
			if err == nil {
				break
			}
			if !errors.Is(err, pawl.ErrNotFound) {
				yield(pawl.Event{}, err)
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(childWait):
			}
		}
		for e, err := range s.Service.Events(ctx, child, 0) {
			if !yield(e, err) {
				return
			}
		}
	}
}
