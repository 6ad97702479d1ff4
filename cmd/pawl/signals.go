package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/pawl-dev/pawl"
)

// errInterrupted: the work stopped, and the turn is open and can be resumed.
var errInterrupted = errors.New("interrupted")

func interrupted(id pawl.SessionID, cause error) error {
	code := exitFailed
	var sig signalError
	if errors.As(cause, &sig) {
		code = 128 + int(sig.Signal.(syscall.Signal))
	}
	return &exitError{code: code, err: fmt.Errorf("%w: %w\n'pawl resume %s' goes on from here", errInterrupted, cause, id)}
}

type signalError struct{ os.Signal }

func (s signalError) Error() string { return s.String() }

// handleSignals cancels on the first interrupt, dies on the second, and stops
// on a polite kill. The returned function ends it.
func handleSignals(ctx context.Context, stop context.CancelCauseFunc, w io.Writer, cancel func() error) func() {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		interrupts := 0
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-signals:
				if s != os.Interrupt {
					stop(signalError{s})
					return
				}
				if interrupts++; interrupts > 1 {
					os.Exit(exitCanceled)
				}
				fmt.Fprintln(w, "pawl: canceling (again to stop at once)")
				if err := cancel(); err != nil {
					stop(err)
				}
			}
		}
	}()
	return func() { signal.Stop(signals) }
}
