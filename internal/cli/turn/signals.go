package turn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/fault"
)

// ErrInterrupted means that the work stopped and the turn is open: it can be resumed.
var ErrInterrupted = errors.New("interrupted")

// InterruptedError returns the error for a turn that was left open and can be resumed.
func InterruptedError(id pawl.SessionID, cause error) error {
	code := cli.ExitFailed
	var sig SignalError
	if errors.As(cause, &sig) {
		code = 128 + int(sig.Signal.(syscall.Signal))
	}
	return &cli.ExitError{Code: code, Err: fault.New(ErrInterrupted, "interrupted: %w", cause).Hint("Run `pawl resume %s` to continue.", id)}
}

// SignalError is the signal that ended a command.
type SignalError struct{ os.Signal }

// Error returns the name of the signal.
func (s SignalError) Error() string { return s.String() }

// HandleSignals cancels on the first interrupt, exits on the second, and stops on SIGTERM or SIGHUP. The returned
// function restores the default handling.
func HandleSignals(ctx context.Context, stop context.CancelCauseFunc, w io.Writer, cancel func() error) func() {
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
					stop(SignalError{s})
					return
				}
				if interrupts++; interrupts > 1 {
					os.Exit(cli.ExitCanceled)
				}
				fmt.Fprintln(w, "pawl: canceling; press Ctrl-C again to exit at once")
				if err := cancel(); err != nil {
					stop(err)
				}
			}
		}
	}()
	return func() { signal.Stop(signals) }
}
