package client

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
)

// Create creates an empty session.
func (c *Client) Create(ctx context.Context, n pawl.NewSession) (s pawl.Session, err error) {
	in := api.NewSession{ID: n.ID, Owner: n.Owner, Dir: n.Dir, Workspace: n.Workspace, Source: n.Source, Title: n.Title, Parent: n.Parent, Call: n.ParentCall}
	return s, c.ask(ctx, n.ID, http.MethodPost, "/v1/sessions", nil, in, &s)
}

// StartMission starts a mission.
func (c *Client) StartMission(ctx context.Context, n pawl.NewMission) (s pawl.Session, err error) {
	return s, c.ask(ctx, n.ID, http.MethodPost, "/v1/missions", nil, n, &s)
}

// Mission returns the state of a mission.
func (c *Client) Mission(ctx context.Context, id pawl.SessionID) (b pawl.Board, err error) {
	return b, c.ask(ctx, id, http.MethodGet, path(id, "/mission"), nil, nil, &b)
}

// Get returns a session.
func (c *Client) Get(ctx context.Context, id pawl.SessionID) (s pawl.Session, err error) {
	return s, c.ask(ctx, id, http.MethodGet, path(id, ""), nil, nil, &s)
}

// List returns a page of the sessions that match.
func (c *Client) List(ctx context.Context, f pawl.Filter) (page pawl.SessionPage, err error) {
	q := url.Values{}
	setText(q, "query", f.Query)
	setText(q, "search", f.Search)
	setText(q, "dir", f.Dir)
	setText(q, "state", string(f.State))
	setText(q, "agent", f.Agent)
	setText(q, "model", f.Model)
	setText(q, "cursor", f.Cursor)
	setText(q, "parent", string(f.Parent))
	setOwner(q, f.Owner)
	if f.Shared {
		q.Set("shared", "true")
	}
	if f.Unfinished {
		q.Set("unfinished", "true")
	}
	if f.Missions {
		q.Set("missions", "true")
	}
	if f.Asking {
		q.Set("asking", "true")
	}
	setTime(q, "before", f.Before)
	if f.Limit != 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	return page, c.ask(ctx, "", http.MethodGet, "/v1/sessions", q, nil, &page)
}

// Usage returns the usage that matches.
func (c *Client) Usage(ctx context.Context, f pawl.UsageFilter) ([]pawl.UsageRow, error) {
	q := url.Values{}
	setTime(q, "since", f.Since)
	setText(q, "session", string(f.Session))
	setText(q, "dir", f.Dir)
	setOwner(q, f.Owner)
	var usage api.Usage
	err := c.ask(ctx, f.Session, http.MethodGet, "/v1/usage", q, nil, &usage)
	return usage.Rows, err
}

func setText(q url.Values, name, value string) {
	if value != "" {
		q.Set(name, value)
	}
}

// setOwner selects the sessions of a user. "" is a user too, nil means all users.
func setOwner(q url.Values, u *pawl.User) {
	if u != nil {
		q.Set("owner", string(*u))
	}
}

func setTime(q url.Values, name string, at time.Time) {
	if !at.IsZero() {
		q.Set(name, at.Format(time.RFC3339Nano))
	}
}

// Send sends a prompt to a session.
func (c *Client) Send(ctx context.Context, id pawl.SessionID, p pawl.Prompt) (pawl.Seq, error) {
	return c.accepted(ctx, id, path(id, "/prompts"), api.Prompt{Parts: p.Parts, Delivery: p.Delivery, Settings: p.Settings, Approve: p.Approve, Pause: p.Pause})
}

// Waiting returns the queued prompts.
func (c *Client) Waiting(ctx context.Context, id pawl.SessionID) ([]pawl.Waiting, error) {
	var list api.WaitingList
	if err := c.ask(ctx, id, http.MethodGet, path(id, "/prompts"), nil, nil, &list); err != nil {
		return nil, err
	}
	var waiting []pawl.Waiting
	for _, w := range list.Prompts {
		waiting = append(waiting, pawl.Waiting{Seq: w.Seq, Prompt: w.Prompt})
	}
	return waiting, nil
}

// Reword replaces the text of a queued prompt.
func (c *Client) Reword(ctx context.Context, id pawl.SessionID, prompt pawl.Seq, parts pawl.Parts) error {
	return c.ask(ctx, id, http.MethodPut, path(id, "/prompts/{seq}", prompt), nil, api.Parts{Parts: parts}, nil)
}

// Withdraw removes a queued prompt.
func (c *Client) Withdraw(ctx context.Context, id pawl.SessionID, prompt pawl.Seq) error {
	return c.ask(ctx, id, http.MethodDelete, path(id, "/prompts/{seq}", prompt), nil, nil, nil)
}

// Resume resumes an interrupted session.
func (c *Client) Resume(ctx context.Context, id pawl.SessionID) error {
	return c.ask(ctx, id, http.MethodPost, path(id, "/resume"), nil, nil, nil)
}

// Answer answers a question or permission prompt of the session.
func (c *Client) Answer(ctx context.Context, id pawl.SessionID, ask pawl.Seq, a pawl.Answer) error {
	return c.ask(ctx, id, http.MethodPost, path(id, "/asks/{seq}/answer", ask), nil, a, nil)
}

// Cancel cancels the current turn.
func (c *Client) Cancel(ctx context.Context, id pawl.SessionID) error {
	return c.ask(ctx, id, http.MethodPost, path(id, "/cancel"), nil, nil, nil)
}

// Compact requests a compaction of the conversation.
func (c *Client) Compact(ctx context.Context, id pawl.SessionID, instructions string) (pawl.Seq, error) {
	return c.accepted(ctx, id, path(id, "/compact"), api.Instructions{Instructions: instructions})
}

// Shell runs a command of the user.
func (c *Client) Shell(ctx context.Context, id pawl.SessionID, command string) (pawl.Seq, error) {
	return c.accepted(ctx, id, path(id, "/shell"), api.Shell{Command: command})
}

// Preview returns what an undo would do.
func (c *Client) Preview(ctx context.Context, id pawl.SessionID, r pawl.Undo) (p pawl.UndoPlan, err error) {
	return p, c.ask(ctx, id, http.MethodPost, path(id, "/undo/preview"), nil, r, &p)
}

// Undo requests an undo to before a message, or a redo.
func (c *Client) Undo(ctx context.Context, id pawl.SessionID, r pawl.Undo) (pawl.Seq, error) {
	return c.accepted(ctx, id, path(id, "/undo"), r)
}

// Fork creates a session that begins as a copy of this one.
func (c *Client) Fork(ctx context.Context, id pawl.SessionID, at pawl.Seq) (s pawl.Session, err error) {
	return s, c.ask(ctx, id, http.MethodPost, path(id, "/fork"), nil, api.Fork{At: at}, &s)
}

// Rename changes the session's title.
func (c *Client) Rename(ctx context.Context, id pawl.SessionID, title string) error {
	return c.ask(ctx, id, http.MethodPatch, path(id, ""), nil, api.Title{Title: title}, nil)
}

// Share sets who may read the session besides its owner.
func (c *Client) Share(ctx context.Context, id pawl.SessionID, with []pawl.User) error {
	return c.ask(ctx, id, http.MethodPut, path(id, "/shared"), nil, api.Shared{With: append([]pawl.User{}, with...)}, nil)
}

// Draft returns the part of the current reply that has arrived so far.
func (c *Client) Draft(ctx context.Context, id pawl.SessionID) (d pawl.Draft, err error) {
	return d, c.ask(ctx, id, http.MethodGet, path(id, "/draft"), nil, nil, &d)
}

// Delete deletes a session.
func (c *Client) Delete(ctx context.Context, id pawl.SessionID) error {
	return c.ask(ctx, id, http.MethodDelete, path(id, ""), nil, nil, nil)
}

// Import creates a session from events. The server ignores all of n but its ID, Dir and Workspace.
func (c *Client) Import(ctx context.Context, n pawl.NewSession, events iter.Seq2[pawl.Event, error]) (s pawl.Session, err error) {
	query := url.Values{}
	for name, value := range map[string]string{"id": string(n.ID), "dir": n.Dir, "workspace": n.Workspace} {
		if value != "" {
			query.Set(name, value)
		}
	}
	pr, pw := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := writeLines(pw, events)
		_ = pw.CloseWithError(err) // never fails
		done <- err
	}()
	r, err := c.request(ctx, http.MethodPost, "/v1/sessions/import", query, api.FormLines, pr)
	if err != nil {
		return s, err
	}
	resp, err := c.do(r, "")
	_ = pr.Close()                                                  // the server may have rejected it before the end
	if wrong := <-done; wrong != nil && wrong != io.ErrClosedPipe { //nolint:errorlint // the pipe's own
		err = wrong
	}
	if err != nil {
		return s, err
	}
	defer resp.Body.Close()
	return s, read(resp, &s)
}

func writeLines(w io.Writer, events iter.Seq2[pawl.Event, error]) error {
	for e, err := range events {
		if err != nil {
			return err
		}
		text, err := e.MarshalJSON()
		if err != nil {
			return err
		}
		if _, err := w.Write(append(text, '\n')); err != nil {
			return err
		}
	}
	return nil
}
