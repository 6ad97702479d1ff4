package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Config defines what a host may use.
type Config struct {
	Service pawl.Service
	Root    string // the directory that sessions must be in or below; a real path

	// Settings are the settings of each prompt. The mode must be set: a
	// request may choose it or a stricter one. Only this model may be used,
	// unless AnyModel is set.
	Settings pawl.Settings
	AnyModel bool

	Version string
	Log     *slog.Logger // nil means no log
}

// protocols are the supported versions. Later versions do not let a server ask
// the user during a request.
var protocols = []string{"2025-11-25", "2025-06-18", "2025-03-26"}

// errStopped means that pawl is exiting; turns are left open.
var errStopped = errors.New("pawl mcp serve is shutting down")

// server serves one host.
type server struct {
	Config
	turns chan struct{}   // a semaphore of running turns
	stop  <-chan struct{} // closed when the server must end
}

// Serve serves requests from in until it or ctx ends. Turns that are running
// then are left open and can be resumed. Only the protocol is written to out.
func Serve(ctx context.Context, c Config, in io.ReadCloser, out io.WriteCloser) error {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if reach(c.Settings.Mode) == nil {
		return fault.New(pawl.ErrInvalid, "unknown mode %q", c.Settings.Mode)
	}
	s := &server{Config: c, turns: make(chan struct{}, maxTurns), stop: ctx.Done()}
	err := s.sdk().Run(ctx, &sdk.IOTransport{Reader: in, Writer: out, MaxLineLength: messageBytes})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve MCP: the client disconnected or sent invalid data: %w", err)
	}
	return nil
}

const instructions = `Pawl is a coding agent. pawl_run runs a task in a directory and returns when it is done; pass the session that it returns to continue it with another task.`

// sdk returns the SDK's server with the tools.
func (s *server) sdk() *sdk.Server {
	x := sdk.NewServer(&sdk.Implementation{Name: "pawl", Title: "Pawl", Version: s.Version}, &sdk.ServerOptions{
		Instructions: instructions, Logger: s.Log, SupportedProtocolVersions: protocols,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	no := false
	sdk.AddTool(x, &sdk.Tool{
		Name: "pawl_run", Title: "Give pawl a task",
		Description: fmt.Sprintf("Runs a task with the coding agent Pawl until it is done, which may take minutes: it reads, edits and runs code. It works in %s or a directory below it. Returns its final message, why it ended, the session to continue, and what it was not permitted to do.", s.Root),
		Annotations: &sdk.ToolAnnotations{OpenWorldHint: &no},
	}, s.run)
	looks := &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &no}
	sdk.AddTool(x, &sdk.Tool{
		Name: "pawl_sessions", Title: "List pawl's sessions", Annotations: looks,
		Description: fmt.Sprintf("List the sessions of pawl in %s and below, the latest first.", s.Root),
	}, s.sessions)
	sdk.AddTool(x, &sdk.Tool{
		Name: "pawl_session", Title: "Read a session", Annotations: looks,
		Description: "Read the conversation of a session, its end first: the prompts, the replies, the tool calls and their results.",
	}, s.session)
	return x
}
