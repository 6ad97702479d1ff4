package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/frontend/lineui"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// Result is the one object that --format json prints.
type Result struct {
	Session      pawl.SessionID      `json:"session"`
	Reason       pawl.Reason         `json:"reason"`
	Error        string              `json:"error,omitempty"`
	Text         string              `json:"text"`
	Output       json.RawMessage     `json:"output,omitempty"` // the text as a JSON value, if a schema was given
	Steps        int                 `json:"steps"`
	Usage        pawl.Usage          `json:"usage"`
	CostUSD      float64             `json:"cost_usd"`
	Denials      []transcript.Denial `json:"denials"`
	FilesChanged []string            `json:"files_changed"`

	outcome transcript.Outcome
}

func newResult(id pawl.SessionID) Result {
	return Result{Session: id, Denials: []transcript.Denial{}, FilesChanged: []string{}}
}

// complete adds the denials of the turn's subagents, and takes over the outcome. Lists are [] in JSON, not null.
func (r *Result) complete(ctx context.Context, svc pawl.Service) error {
	o := &r.outcome
	for _, id := range o.Subagents {
		row, err := svc.Get(ctx, id)
		if errors.Is(err, pawl.ErrNotFound) {
			continue // it was announced but never created
		}
		if err != nil {
			return err
		}
		events, err := cli.SessionEvents(ctx, svc, row)
		if err != nil {
			return err
		}
		o.AddSubagent(id, events)
	}
	r.Text, r.Reason, r.Error, r.Steps, r.Usage, r.CostUSD = o.Text, o.End.Reason, o.End.Message, o.End.Steps, o.End.Usage, o.End.Usage.Cost.Dollars()
	r.Denials, r.FilesChanged = append(r.Denials, o.Denials...), append(r.FilesChanged, o.Changed()...)
	return nil
}

// jsonPrinter prints the result as one object.
type jsonPrinter struct{ out io.Writer }

func (p *jsonPrinter) Event(pawl.Event) error { return nil }

func (p *jsonPrinter) Result(r Result) error { return cli.WriteJSON(p.out, r) }

// streamPrinter prints every event as a line.
type streamPrinter struct{ out io.Writer }

func (p *streamPrinter) Event(e pawl.Event) error { return cli.WriteJSON(p.out, e) }

func (p *streamPrinter) Result(Result) error { return nil }

// TextPrinter prints the final text, and messages that the user should see. On a terminal it prints all text as it
// arrives, and a line for each tool call.
type TextPrinter struct {
	out, err io.Writer
	lines    *lineui.Renderer
	live     bool // out is a terminal
	waiting  silenceNotice
}

// NewTextPrinter returns a printer that writes replies to out and everything else to err.
func NewTextPrinter(out, err io.Writer) *TextPrinter {
	p := &TextPrinter{out: out, err: err, live: cli.IsTerminal(out), waiting: silenceNotice{out: err}}
	p.lines = lineui.NewRenderer(out, err, p.shows)
	return p
}

// shows reports whether an item is printed as it changes. Result prints denied calls, and cli.TurnError the end of a
// turn.
func (p *TextPrinter) shows(it transcript.Item) bool {
	switch it.Kind {
	case transcript.KindText:
		return p.live
	case transcript.KindCall, transcript.KindSubagent:
		return p.live && it.State == transcript.StateRunning
	case transcript.KindNote:
		return p.live || it.Level != transcript.LevelQuiet || it.Unsaved
	case transcript.KindMission:
		return true
	case transcript.KindUser, transcript.KindReasoning, transcript.KindAsk, transcript.KindTodos, transcript.KindTurnEnd:
	}
	return false
}

// Event prints an event.
func (p *TextPrinter) Event(e pawl.Event) error {
	p.waiting.event(e.Body)
	p.lines.Apply(e)
	return p.lines.Err()
}

// Result prints the denials and the final text, unless the text was printed as it arrived.
func (p *TextPrinter) Result(r Result) error {
	for _, d := range r.Denials {
		fmt.Fprintf(p.err, "pawl: %s: %s\n", d.Tool, humanize.FirstLine(d.Reason, 200))
	}
	if p.live || r.Text == "" {
		return nil
	}
	_, err := fmt.Fprintln(p.out, strings.TrimRight(r.Text, "\n"))
	return err
}
