package tool

import (
	"context"
	"errors"
	"os"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// Sandbox confines commands to what their calls are allowed to do.
type Sandbox interface {
	// Wrap returns the command line to run instead of the given one. An error
	// means that the command must not run.
	Wrap(ctx context.Context, r sandbox.Request) (sandbox.Wrapped, error)
	// End deletes what is kept for a session: its directory for temporary
	// files.
	End(id pawl.SessionID)
	// Close deletes what is kept for all sessions.
	Close()
}

// noSandbox refuses to run anything.
type noSandbox struct{ Unsandboxed }

func (noSandbox) Wrap(context.Context, sandbox.Request) (sandbox.Wrapped, error) {
	return sandbox.Wrapped{}, errors.New("commands cannot be run here")
}

// Unsandboxed runs commands without a sandbox, with all rights of the pawl
// process.
type Unsandboxed struct{}

var _ Sandbox = Unsandboxed{}

// Wrap returns the command unchanged.
func (Unsandboxed) Wrap(_ context.Context, r sandbox.Request) (sandbox.Wrapped, error) {
	return sandbox.Unwrapped(r.Args, os.Environ()), nil
}

// End does nothing.
func (Unsandboxed) End(pawl.SessionID) {}

// Close does nothing.
func (Unsandboxed) Close() {}
