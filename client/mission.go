package client

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/url"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Info is the version of a server, and who the token is for.
type Info = api.Info

// MissionPlan is the plan of a mission. Its Hash identifies it.
type MissionPlan = api.MissionPlan

// MissionGate is the results of a mission's gate.
type MissionGate = api.MissionGate

// Info returns the version of the server, and the user and scope of the token.
func (c *Client) Info(ctx context.Context) (i Info, err error) {
	return i, c.ask(ctx, "", http.MethodGet, "/v1/info", nil, nil, &i)
}

// FollowMission yields the state of a mission, and again after each change, until ctx ends. It reconnects when the
// connection breaks.
func (c *Client) FollowMission(ctx context.Context, id pawl.SessionID) iter.Seq2[pawl.Board, error] {
	same := func(b pawl.Board) pawl.Board { return b }
	return follow(ctx, c, source[pawl.Board, pawl.Board]{session: id, path: path(id, "/mission/stream"), query: url.Values{}, resume: func() {}, apply: same})
}

// MissionReport returns the report of a mission as "json", "html", "markdown" or "intoto".
func (c *Client) MissionReport(ctx context.Context, id pawl.SessionID, format string) ([]byte, error) {
	r, err := c.request(ctx, http.MethodGet, path(id, "/mission/report"), url.Values{"format": {format}}, api.FormNone, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.do(r, id)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if err := isPawl(resp, api.ReportFormats[format]); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fault.New(pawl.ErrUnavailable, "read the server's response: %w", err)
	}
	return text, nil
}

// MissionGate returns the checks and reviews of each round of a mission's gate.
func (c *Client) MissionGate(ctx context.Context, id pawl.SessionID) (g MissionGate, err error) {
	return g, c.ask(ctx, id, http.MethodGet, path(id, "/mission/gate"), nil, nil, &g)
}

// MissionPlan returns the plan of a mission, with edits.
func (c *Client) MissionPlan(ctx context.Context, id pawl.SessionID) (p MissionPlan, err error) {
	return p, c.ask(ctx, id, http.MethodGet, path(id, "/mission/plan"), nil, nil, &p)
}

// SetMissionPlan replaces the plan with a hash by other tasks. ErrConflict if the plan has changed.
func (c *Client) SetMissionPlan(ctx context.Context, id pawl.SessionID, hash string, tasks []pawl.Task) (p MissionPlan, err error) {
	return p, c.ask(ctx, id, http.MethodPut, path(id, "/mission/plan"), nil, api.PlanEdit{Hash: hash, Tasks: tasks}, &p)
}

// ApproveMission approves the plan with a hash and starts the work. ErrConflict if the plan has changed.
func (c *Client) ApproveMission(ctx context.Context, id pawl.SessionID, hash string, s pawl.Settings) (pawl.Seq, error) {
	return c.accepted(ctx, id, path(id, "/mission/approve"), api.PlanApproval{Hash: hash, Settings: s})
}

// PauseMission pauses a mission when its workers have finished.
func (c *Client) PauseMission(ctx context.Context, id pawl.SessionID) error {
	return c.ask(ctx, id, http.MethodPost, path(id, "/mission/pause"), nil, nil, nil)
}

// StopMission stops a mission now. It does not wait for the end.
func (c *Client) StopMission(ctx context.Context, id pawl.SessionID) error {
	return c.ask(ctx, id, http.MethodPost, path(id, "/mission/stop"), nil, nil, nil)
}

// ResumeMission continues a mission, with an optional message for the Commander.
func (c *Client) ResumeMission(ctx context.Context, id pawl.SessionID, text string, s pawl.Settings) error {
	return c.ask(ctx, id, http.MethodPost, path(id, "/mission/resume"), nil, api.MissionResume{Text: text, Settings: s}, nil)
}
