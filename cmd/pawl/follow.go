package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
)

// outputFlags say how the work is shown.
type outputFlags struct {
	format string
	file   string
}

func (f *outputFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.format, "format", "text", "what to print: text, json (one object at the end) or stream-json (every event)")
	cmd.Flags().StringVarP(&f.file, "output", "o", "", "also write the final text to `file`")
}

func (f *outputFlags) check() error {
	switch f.format {
	case "text", "json", "stream-json":
		return nil
	default:
		return fmt.Errorf("--format %q: use text, json or stream-json", f.format)
	}
}

// attended reports whether a person sits at the terminal and can be asked.
func (f *outputFlags) attended(cmd *cobra.Command) bool {
	in, ok := cmd.InOrStdin().(*os.File)
	return ok && f.format == "text" && isTerminal(in) && isTerminal(cmd.ErrOrStderr())
}

// printer shows events as they come, and the result.
type printer interface {
	event(e pawl.Event) error
	result(r result) error
}

func (f *outputFlags) printer(cmd *cobra.Command) printer {
	switch f.format {
	case "json":
		return &jsonPrinter{out: cmd.OutOrStdout()}
	case "stream-json":
		return &streamPrinter{out: cmd.OutOrStdout()}
	default:
		return newTextPrinter(cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
}

// follow shows the session's events until done says that the last one was seen,
// then the result, and returns the turn's end as an exit code.
func (f *outputFlags) follow(cmd *cobra.Command, svc pawl.Service, s pawl.Session, after pawl.Seq, ask *asker, done func(pawl.Event) bool) error {
	p := f.printer(cmd)
	res, end, err := watch(cmd, svc, s, after, p, ask, done)
	if err != nil {
		return err
	}
	if err := f.show(p, res); err != nil {
		return err
	}
	return exitOf(end)
}

// show prints the result, and writes its text to the file.
func (f *outputFlags) show(p printer, res result) error {
	if err := p.result(res); err != nil || f.file == "" {
		return err
	}
	return replaceFile(f.file, []byte(res.Text+"\n"))
}

// watch shows the session's events until done says that the last one was seen,
// and returns what came of the turn. The first interrupt cancels the turn, the
// second one ends the program as it is; a polite kill leaves the turn open to be
// resumed.
func watch(cmd *cobra.Command, svc pawl.Service, s pawl.Session, after pawl.Seq, p printer, ask *asker, done func(pawl.Event) bool) (result, pawl.TurnFinished, error) {
	id := s.ID
	ctx, stop := context.WithCancelCause(cmd.Context())
	defer stop(nil)
	defer handleSignals(ctx, stop, cmd.ErrOrStderr(), func() error { return svc.Cancel(cmd.Context(), id) })()

	res, end := newResult(id), pawl.TurnFinished{}
	if s.TurnOpen { // what it has come to so far is part of it
		before, err := history(ctx, svc, s)
		if err != nil {
			return res, end, err
		}
		for _, e := range before {
			res.add(e)
		}
		if ask != nil {
			ask.catchUp(ctx, "", before)
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
		if err := p.event(e); err != nil {
			return res, end, err
		}
		if ask != nil {
			ask.event(ctx, "", e)
		}
		res.add(e)
		switch b := e.Body.(type) {
		case pawl.TurnFinished:
			end = b
		case pawl.Undone, pawl.Compacted, pawl.ShellRan: // there may have been nothing else to do
			if end.Reason == "" {
				end.Reason = pawl.ReasonEndTurn
			}
		case pawl.Withdrawn:
			end = pawl.TurnFinished{Reason: pawl.ReasonCanceled, Message: "the prompt was taken back"}
		default: // not an end
		}
		if done(e) {
			break
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return res, end, interrupted(id, cause)
	}
	if err := res.addChildren(ctx, svc); err != nil {
		return res, end, err
	}
	return res, end, nil
}

// asker is who asks the person at the terminal; nil if there is none.
func (f *outputFlags) asker(cmd *cobra.Command, svc pawl.Service) *asker {
	if !f.attended(cmd) {
		return nil
	}
	return newAsker(svc, cmd.InOrStdin(), cmd.ErrOrStderr())
}

// turnOf returns a test for the end of the turn that takes the prompt in.
func turnOf(prompt pawl.Seq) func(pawl.Event) bool {
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
			if b.Again == prompt { // the turn that took it in was canceled before it came
				prompt, turn = e.Seq, 0
			}
		case pawl.Withdrawn:
			return b.Prompt == prompt
		case pawl.TurnFinished:
			return e.Turn == turn
		default: // says nothing about turns
		}
		return false
	}
}
