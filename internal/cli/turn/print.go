package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// Result is the one object that --format json prints.
type Result struct {
	Session      pawl.SessionID  `json:"session"`
	Reason       pawl.Reason     `json:"reason"`
	Error        string          `json:"error,omitempty"`
	Text         string          `json:"text"`
	Output       json.RawMessage `json:"output,omitempty"` // the text as a JSON value, if a schema was given
	Steps        int             `json:"steps"`
	Usage        pawl.Usage      `json:"usage"`
	CostUSD      float64         `json:"cost_usd"`
	Denials      []Denial        `json:"denials"`
	FilesChanged []string        `json:"files_changed"`

	writes    transcript.Writes
	tools     map[pawl.CallID]string
	subagents []pawl.SessionID
}

// Denial is a tool call that was denied, or a change of a command that was not applied.
type Denial struct {
	Task   pawl.SessionID `json:"task,omitempty"` // the subagent that made it
	Tool   string         `json:"tool"`
	Reason string         `json:"reason"`
}

func newResult(id pawl.SessionID) Result {
	return Result{Session: id, Denials: []Denial{}, FilesChanged: []string{}, tools: map[pawl.CallID]string{}}
}

// add adds what an event contributes to the result.
func (r *Result) add(e pawl.Event) {
	r.writes.Add(e.Body)
	switch b := e.Body.(type) {
	case pawl.TurnStarted:
		*r = newResult(r.Session)
	case pawl.Replied:
		if text := b.Parts.Text(); text != "" {
			r.Text = text
		}
		for _, c := range b.Parts.Calls() {
			r.tools[c.ID] = c.Name
		}
	case pawl.Spawned, pawl.TaskStarted, pawl.ReviewStarted:
		c, _ := e.Subagent()
		r.subagents = append(r.subagents, c.Subagent)
	case pawl.CallFinished:
		if b.Status == pawl.CallDenied {
			r.Denials = append(r.Denials, Denial{Tool: r.tools[b.Call], Reason: b.Result.Content})
		}
		for _, why := range b.Result.Refused {
			r.Denials = append(r.Denials, Denial{Tool: r.tools[b.Call], Reason: why})
		}
	case pawl.TurnFinished:
		r.FilesChanged = append([]string{}, r.writes.Paths()...) // [] in JSON, not null
		r.Reason, r.Error, r.Steps = b.Reason, b.Message, b.Steps
		r.Usage, r.CostUSD = b.Usage, b.Usage.Cost.Dollars()
	default: // not part of a result
	}
}

// addSubagentDenials adds the denials of the turn's subagents.
func (r *Result) addSubagentDenials(ctx context.Context, svc pawl.Service) error {
	for _, id := range r.subagents {
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
		subagent := newResult(id)
		for _, e := range events {
			subagent.add(e)
		}
		for _, d := range subagent.Denials {
			d.Task = id
			r.Denials = append(r.Denials, d)
		}
	}
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

// TextPrinter prints the final text. On a terminal it prints all text as it arrives, and a line for each tool call.
type TextPrinter struct {
	out, err io.Writer
	live     bool // out is a terminal
	Mission  bool // print the events of missions even if out is not a terminal
	midLine  bool
	shown    int // bytes of the reply that were printed
	waiting  silenceNotice
}

// NewTextPrinter returns a printer that writes replies to out and everything else to err.
func NewTextPrinter(out, err io.Writer) *TextPrinter {
	return &TextPrinter{out: out, err: err, live: cli.IsTerminal(out), waiting: silenceNotice{out: err}}
}

// Event prints an event.
func (p *TextPrinter) Event(e pawl.Event) error {
	p.waiting.event(e.Body)
	if b, ok := e.Body.(pawl.Retried); ok {
		p.shown = 0 // the reply starts over
		if err := p.endLine(); err != nil {
			return err
		}
		wait := ""
		if b.Wait > 0 {
			wait = " in " + humanize.Duration(b.Wait)
		}
		_, err := fmt.Fprintf(p.err, "pawl: %s: %s; retrying with %s%s\n", b.Kind, humanize.FirstLine(b.Message, 80), b.Model, wait)
		return err
	}
	if b, ok := e.Body.(pawl.Status); ok && b.State == "notice" {
		if err := p.endLine(); err != nil {
			return err
		}
		_, err := fmt.Fprintf(p.err, "pawl: %s\n", humanize.FirstLine(b.Message, 300))
		return err
	}
	if line, over := missionLine(e.Body); line != "" && (p.live || p.Mission || over) {
		if err := p.endLine(); err != nil {
			return err
		}
		_, err := fmt.Fprintf(p.err, "pawl: %s\n", line)
		return err
	}
	if !p.live {
		return nil
	}
	switch b := e.Body.(type) {
	case pawl.ReplyStarted:
		p.shown = 0
	case pawl.Delta:
		if b.Channel == pawl.ChannelText && b.Offset == p.shown { // after a missed delta, Replied prints the rest
			return p.say(b.Text)
		}
	case pawl.Replied:
		if text := b.Parts.Text(); len(text) > p.shown {
			if err := p.say(text[p.shown:]); err != nil {
				return err
			}
		}
		return p.endLine()
	case pawl.CallStarted:
		if err := p.endLine(); err != nil {
			return err
		}
		_, err := fmt.Fprintf(p.err, "• %s\n", describeCall(b))
		return err
	default: // not shown
	}
	return nil
}

// missionLine returns a line about an event of a mission, and whether the mission is over.
func missionLine(b pawl.Body) (line string, over bool) {
	line, _ = humanize.Mission(b)
	switch b.(type) {
	case pawl.Sealed, pawl.Blocked:
		over = true
	default: // the mission continues
	}
	return line, over
}

// say prints the next part of the reply.
func (p *TextPrinter) say(text string) error {
	p.shown += len(text)
	p.midLine = !strings.HasSuffix(text, "\n")
	_, err := io.WriteString(p.out, text)
	return err
}

func (p *TextPrinter) endLine() error {
	if !p.midLine {
		return nil
	}
	p.midLine = false
	_, err := fmt.Fprintln(p.out)
	return err
}

// Result prints the denials and the final text, unless the text was printed as it arrived.
func (p *TextPrinter) Result(r Result) error {
	for _, d := range r.Denials {
		fmt.Fprintf(p.err, "pawl: %s: %s\n", d.Tool, humanize.FirstLine(d.Reason, 200))
	}
	if p.live || r.Text == "" {
		return p.endLine()
	}
	_, err := fmt.Fprintln(p.out, strings.TrimRight(r.Text, "\n"))
	return err
}

// describeCall describes a tool call in one line.
func describeCall(c pawl.CallStarted) string {
	targets := make([]string, 0, len(c.Access))
	for _, a := range c.Access {
		if !slices.Contains(targets, a.Target) { // a target that is read and written is listed once
			targets = append(targets, a.Target)
		}
	}
	return humanize.FirstLine(strings.TrimSpace(c.Tool+" "+strings.Join(targets, " ")), 100)
}
