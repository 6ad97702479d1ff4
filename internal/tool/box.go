package tool

import (
	"context"
	"errors"
	"os"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// Sandbox puts commands where they can do no more than their call may.
type Box interface {
	// Wrap returns what to run instead of a command. An error means that it must
	// not be run.
	Wrap(ctx context.Context, r sandbox.Request) (sandbox.Wrapped, error)
	// End drops what is kept for a session: its directory for temporary files.
	End(id pawl.SessionID)
	// Close drops what is kept for all.
	Close()
}

// noBox runs nothing.
type noBox struct{ Unboxed }

func (noBox) Wrap(context.Context, sandbox.Request) (sandbox.Wrapped, error) {
	return sandbox.Wrapped{}, errors.New("commands cannot be run here")
}

// Unboxed runs commands as they are, with all that pawl has.
type Unboxed struct{}

var _ Box = Unboxed{}

// Wrap returns the command.
func (Unboxed) Wrap(_ context.Context, r sandbox.Request) (sandbox.Wrapped, error) {
	return sandbox.Unwrapped(r.Args, os.Environ()), nil
}

// End does nothing.
func (Unboxed) End(pawl.SessionID) {}

// Close does nothing.
func (Unboxed) Close() {}
