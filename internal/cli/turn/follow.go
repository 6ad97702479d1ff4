// Package turn follows a turn for the commands that run one: it prints events, asks
// the person at the terminal, handles signals and checks the result.
package turn

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/cli"
)

// OutputFlags are the flags for the output of a turn.
type OutputFlags struct {
	Format string
	File   string
}

// Add adds the flags to cmd.
func (f *OutputFlags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Format, "format", "text", "output `format`: text, json (one object at the end) or stream-json (every event)")
	cmd.Flags().StringVarP(&f.File, "output", "o", "", "also write the answer to `file`")
	cli.GroupFlags(cmd, cli.FlagsOutput, "format", "output")
}

// Check returns an error if the format is unknown.
func (f *OutputFlags) Check() error {
	if formats := []string{"text", "json", "stream-json"}; !slices.Contains(formats, f.Format) {
		return cli.Unknown("format", f.Format, formats)
	}
	return nil
}

// Attended reports whether a person at the terminal can be asked.
func (f *OutputFlags) Attended(cmd *cobra.Command) bool {
	return f.Format == "text" && cli.Attended(cmd)
}

// Printer prints the events of a turn as they arrive, and its result.
type Printer interface {
	Event(e pawl.Event) error
	Result(r Result) error
}

// Printer returns the printer for the format.
func (f *OutputFlags) Printer(cmd *cobra.Command) Printer {
	switch f.Format {
	case "json":
		return &jsonPrinter{out: cmd.OutOrStdout()}
	case "stream-json":
		return &streamPrinter{out: cmd.OutOrStdout()}
	default:
		return NewTextPrinter(cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
}

// Follow prints the events of a session after the given one until done reports the last, then the
// result. It returns the end of the turn as an ExitError.
func (f *OutputFlags) Follow(cmd *cobra.Command, svc pawl.Service, s pawl.Session, after pawl.Seq, ask *Asker, done func(pawl.Event) bool) error {
	p := f.Printer(cmd)
	res, end, err := Watch(cmd, svc, s, after, p, ask, done)
	if err != nil {
		return err
	}
	if err := f.Show(p, res); err != nil {
		return err
	}
	return cli.TurnError(end)
}

// Show prints the result and writes its text to the file of --output.
func (f *OutputFlags) Show(p Printer, res Result) error {
	if err := p.Result(res); err != nil || f.File == "" {
		return err
	}
	return cli.ReplaceFile(f.File, []byte(res.Text+"\n"))
}

// Watch prints the events of a session until done reports the last, and returns the result and the
// end of the turn. The first interrupt cancels the turn, the second exits at once; SIGTERM leaves
// the turn open to be resumed.
func Watch(cmd *cobra.Command, svc pawl.Service, s pawl.Session, after pawl.Seq, p Printer, ask *Asker, done func(pawl.Event) bool) (Result, pawl.TurnFinished, error) {
	id := s.ID
	ctx, stop := context.WithCancelCause(cmd.Context())
	defer stop(nil)
	defer HandleSignals(ctx, stop, cmd.ErrOrStderr(), func() error { return svc.Cancel(cmd.Context(), id) })()

	res, end := newResult(id), pawl.TurnFinished{}
	if s.TurnOpen { // the result includes the events so far
		before, err := cli.SessionEvents(ctx, svc, s)
		if err != nil {
			return res, end, err
		}
		for _, e := range before {
			res.outcome.Add(e)
		}
		if ask != nil {
			ask.Replay(ctx, "", before)
		}
	}
	for e, err := range svc.Events(ctx, id, after) {
		if err != nil {
			return res, end, err
		}
		if s, ok := e.Body.(pawl.Status); ok && s.State == "interrupted" {
			stop(errors.New(s.Message))
			break
		}
		if err := p.Event(e); err != nil {
			return res, end, err
		}
		if ask != nil {
			ask.Event(ctx, "", e)
		}
		res.outcome.Add(e)
		switch b := e.Body.(type) {
		case pawl.TurnFinished:
			end = b
		case pawl.Undone, pawl.Compacted, pawl.ShellRan: // these can happen without a turn
			if end.Reason == "" {
				end.Reason = pawl.ReasonEndTurn
			}
		case pawl.Withdrawn:
			end = pawl.TurnFinished{Reason: pawl.ReasonCanceled, Message: "the prompt was removed from the queue"}
		default: // not an end
		}
		if done(e) {
			break
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return res, end, InterruptedError(id, cause)
	}
	return res, end, res.complete(ctx, svc)
}

// Asker returns an Asker for the user at the terminal, or nil if nobody can be asked.
func (f *OutputFlags) Asker(cmd *cobra.Command, svc pawl.Service) *Asker {
	if !f.Attended(cmd) {
		return nil
	}
	return NewAsker(svc, cmd.InOrStdin(), cmd.ErrOrStderr())
}

// EndOfTurn returns a function that reports the end of the turn that takes the prompt.
func EndOfTurn(prompt pawl.Seq) func(pawl.Event) bool {
	turn := 0
	return func(e pawl.Event) bool {
		switch b := e.Body.(type) {
		case pawl.TurnStarted:
			if b.Prompt == prompt {
				turn = e.Turn
			}
		case pawl.Injected:
			if b.Prompt == prompt {
				turn = e.Turn
			}
		case pawl.Prompted:
			if b.Again == prompt { // queued again: a cancel from before the prompt ended its turn
				prompt, turn = e.Seq, 0
			}
		case pawl.Withdrawn:
			return b.Prompt == prompt
		case pawl.TurnFinished:
			return e.Turn == turn
		default: // not about turns
		}
		return false
	}
}
