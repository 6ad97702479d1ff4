package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// runInput is the input of pawl_run. It has no key for trust: a request with
// one is rejected.
type runInput struct {
	Prompt  string `json:"prompt" jsonschema:"the task, in words"`
	Dir     string `json:"dir,omitempty" jsonschema:"the working directory, absolute or relative to the server's; default: the server's"`
	Session string `json:"session,omitempty" jsonschema:"the session to continue; default: a new one"`
	Agent   string `json:"agent,omitempty" jsonschema:"the agent that works on it"`
	Model   string `json:"model,omitempty" jsonschema:"another model, if the server permits it"`
	Mode    string `json:"mode,omitempty" jsonschema:"a stricter mode than the server's: plan changes nothing, ask asks before each change"`
}

// runOutput is the result of pawl_run.
type runOutput struct {
	Text         string              `json:"text" jsonschema:"what pawl said last"`
	Reason       pawl.Reason         `json:"reason" jsonschema:"why the turn ended; end_turn means that it is done"`
	Error        string              `json:"error,omitempty"`
	Session      pawl.SessionID      `json:"session" jsonschema:"the session, to continue it"`
	Dir          string              `json:"dir"`
	Steps        int                 `json:"steps"`
	CostUSD      float64             `json:"cost_usd"`
	Denials      []transcript.Denial `json:"denials" jsonschema:"calls that were denied, and changes that were not applied"`
	FilesChanged []string            `json:"files_changed"`
}

// run runs a prompt and returns when its turn has ended. If the host cancels
// the request, the turn is canceled; if the host disconnects, the turn is left
// open and can be resumed.
func (s *server) run(ctx context.Context, req *sdk.CallToolRequest, in runInput) (*sdk.CallToolResult, runOutput, error) {
	var none runOutput
	if strings.TrimSpace(in.Prompt) == "" {
		return nil, none, fault.New(pawl.ErrInvalid, "the prompt is empty")
	}
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
	default:
		return nil, none, fault.New(pawl.ErrBusy, "%d turns are already running: wait until one has ended", maxTurns)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		select {
		case <-s.stop:
			stop(errStopped)
		case <-ctx.Done():
		}
	}()
	f := &follower{
		server: s, host: req.Session, token: req.Params.GetProgressToken(),
		items: transcript.New(), reported: map[string]transcript.State{}, asks: map[askID]context.CancelFunc{},
	}
	row, seq, err := s.send(context.WithoutCancel(ctx), in, f.absent()) // an accepted prompt is followed or canceled
	if err != nil {
		return nil, none, err
	}
	if err := f.follow(ctx, row.ID, seq); err != nil {
		return nil, none, err
	}
	if err := f.addSubagents(ctx); err != nil {
		return nil, none, err
	}
	end := f.outcome.End
	return &sdk.CallToolResult{IsError: end.Reason == pawl.ReasonError}, runOutput{
		Text: f.outcome.Text, Reason: end.Reason, Error: end.Message, Session: row.ID, Dir: row.Dir, Steps: end.Steps, CostUSD: end.Usage.Cost.Dollars(),
		Denials: append([]transcript.Denial{}, f.outcome.Denials...), FilesChanged: append([]string{}, f.outcome.Changed()...), // [] in JSON, not null
	}, nil
}

// send sends the prompt to its session, which it creates if the request names
// none.
func (s *server) send(ctx context.Context, in runInput, absent bool) (row pawl.Session, seq pawl.Seq, err error) {
	p := pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: in.Prompt}}}
	if p.Settings, err = s.settings(in); err != nil {
		return row, 0, err
	}
	p.Absent = absent
	if in.Session != "" {
		if row, err = s.resumed(ctx, in); err != nil {
			return row, 0, err
		}
		if seq, err = s.Service.Send(ctx, row.ID, p); errors.Is(err, pawl.ErrBusy) {
			err = fmt.Errorf("%w: wait for it, or if no process works on it, run `pawl resume %s`", err, row.ID)
		}
		return row, seq, err
	}
	dir, err := s.directory(in.Dir)
	if err != nil {
		return row, 0, err
	}
	if row, err = s.Service.Create(ctx, pawl.NewSession{Dir: dir}); err != nil {
		return row, 0, err
	}
	if seq, err = s.Service.Send(ctx, row.ID, p); err != nil && seq == 0 {
		err = errors.Join(err, s.Service.Delete(ctx, row.ID)) // nothing has started
	}
	return row, seq, err
}

// resumed returns the session that a request continues.
func (s *server) resumed(ctx context.Context, in runInput) (pawl.Session, error) {
	row, err := s.open(ctx, in.Session)
	if err != nil || in.Dir == "" {
		return row, err
	}
	dir, err := s.directory(in.Dir)
	if err == nil && dir != row.Dir {
		err = fault.New(pawl.ErrInvalid, "session %s is in %s: omit the directory, or start a new session", row.ID, row.Dir)
	}
	return row, err
}
