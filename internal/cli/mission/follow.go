package mission

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/config"
	"github.com/pawl-dev/pawl/internal/cli/turn"
	"github.com/pawl-dev/pawl/internal/frontend/tui/notify"
	"github.com/pawl-dev/pawl/internal/mission"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// followMission prints the events of a mission until its turn ends, and returns the outcome as an ExitError.
func followMission(cmd *cobra.Command, a *app.App, out turn.OutputFlags, s pawl.Session, after pawl.Seq) error {
	p := &missionPrinter{Printer: out.Printer(cmd), stop: func() error { return a.Cancel(cmd.Context(), s.ID) }}
	ask := out.Asker(cmd, a)
	if ask == nil && s.TurnOpen { // nobody can answer the open prompts, so deny them
		ask = turn.NewAsker(a, nil, cmd.ErrOrStderr())
	}
	if ask != nil && out.Attended(cmd) {
		ask.OnAsk = func() { notifyUser("mission waiting for you") }
	}
	over := func(e pawl.Event) bool {
		if _, ends := e.Body.(pawl.TurnFinished); !ends {
			return false
		}
		now, err := a.Get(cmd.Context(), s.ID)
		return err != nil || now.State() == pawl.StateIdle // otherwise a queued prompt starts another turn
	}
	res, _, err := turn.Watch(cmd, a, s, after, p, ask, over)
	if err != nil {
		return turn.EndSession(cmd, a, s.ID, err)
	}
	board, err := a.Mission(context.WithoutCancel(cmd.Context()), s.ID)
	if err == nil {
		err = showEnd(cmd, a, out, p.Printer, res, board)
	}
	if err = turn.EndSession(cmd, a, s.ID, err); err != nil {
		return err
	}
	if out.Attended(cmd) {
		notifyEnd(board)
	}
	if board.Mission.Sealed != nil && out.Format == "text" {
		fmt.Fprintf(cmd.ErrOrStderr(), "pawl: mission sealed. Run `git merge %s` to merge it, or `pawl mission report %s` to see the evidence.\n", board.Mission.Branch, s.ID)
	}
	return endError(board)
}

// missionPrinter prints events, and calls stop when it receives mission.StopPrompt, as for Ctrl-C.
type missionPrinter struct {
	turn.Printer
	stop func() error
}

func (p *missionPrinter) Event(e pawl.Event) error {
	if b, ok := e.Body.(pawl.Prompted); ok && b.Delivery == pawl.DeliverSteer && b.Parts.Text() == mission.StopPrompt {
		if err := p.stop(); err != nil {
			return err
		}
	}
	return p.Printer.Event(e)
}

// missionResult is the one object that --format json prints.
type missionResult struct {
	Mission pawl.SessionID      `json:"mission"`
	State   pawl.MissionState   `json:"state"`
	Branch  string              `json:"branch,omitempty"`
	Commit  string              `json:"commit,omitempty"` // the sealed commit, or the newest one on the branch
	Blocked string              `json:"blocked,omitempty"`
	Reason  pawl.Reason         `json:"reason"` // why the turn ended
	Error   string              `json:"error,omitempty"`
	Text    string              `json:"text"`
	CostUSD float64             `json:"cost_usd"` // of the whole mission
	Denials []transcript.Denial `json:"denials"`
	Report  mission.Report      `json:"report"`
	Plan    *missionPlan        `json:"plan,omitempty"` // if it waits for approval

	Forecast *mission.Forecast `json:"forecast,omitempty"` // nil without earlier missions
}

// showEnd prints the result of the mission.
func showEnd(cmd *cobra.Command, a *app.App, out turn.OutputFlags, p turn.Printer, res turn.Result, b pawl.Board) error {
	expected, err := forecast(context.WithoutCancel(cmd.Context()), a, b)
	if err != nil {
		return err
	}
	plan, err := waitingPlan(b, expected)
	if err != nil {
		return err
	}
	if expected != nil && b.State == pawl.MissionSealed && out.Format == "text" {
		fmt.Fprintln(cmd.ErrOrStderr(), expected)
	}
	if out.Format != "json" {
		if err := out.Show(p, res); err != nil || plan == nil || out.Format != "text" {
			return err
		}
		_, err := io.WriteString(cmd.OutOrStdout(), "\n"+plan.text())
		return err
	}
	r, err := mission.ReportOf(context.WithoutCancel(cmd.Context()), a, b)
	if err != nil {
		return err
	}
	err = cli.WriteJSON(cmd.OutOrStdout(), missionResult{
		Mission: r.Mission, State: r.State, Branch: r.Branch, Commit: r.Commit, Blocked: r.Blocked,
		Reason: res.Reason, Error: res.Error, Text: res.Text, CostUSD: r.CostUSD, Denials: res.Denials, Report: r, Plan: plan, Forecast: expected,
	})
	if err == nil && out.File != "" {
		err = cli.ReplaceFile(out.File, []byte(res.Text+"\n"))
	}
	return err
}

// notifyEnd sends a terminal notification when a mission ends. It sends none if the user stopped the mission.
func notifyEnd(b pawl.Board) {
	if b.Ended == nil || b.Ended.Reason != pawl.ReasonCanceled {
		notifyUser("mission " + stateText(b.State))
	}
}

// notifyUser sends a terminal notification.
func notifyUser(text string) {
	user, err := app.LoadUser()
	if err != nil { // it was reported when the mission was started
		return
	}
	_, _ = os.Stderr.WriteString(notify.New(config.NotifyModes[user.TUI.Notify], os.Environ()).Sequence(text)) // best effort
}
