// Package lineui is the line-by-line front end: for screen readers, serial consoles,
// TERM=dumb and shells inside editors. It uses only pawl.Service.
//
// Output is append-only: no color, no cursor movement, nothing is overwritten. Pawl's
// own lines begin in the first column with a label ("pawl:", "tool:", "ask:").
// Untrusted text follows such a label or is indented by two spaces, so it cannot
// imitate one. Input is read with the terminal's own line editing.
package lineui

import (
	"context"
	"io"
	"os"

	"github.com/pawl-dev/pawl"
)

// Config configures Run. Service, In and Out are required.
type Config struct {
	Service  pawl.Service
	Dir      string
	Session  pawl.SessionID // "" starts a new session with the first prompt
	Prompt   string         // sent at the start; "" means none
	Settings pawl.Settings  // of the next prompts, until the user changes them

	In         io.Reader
	Out        io.Writer
	Interrupts <-chan os.Signal // Ctrl-C
	Pending    func() bool      // reports whether more input can be read without blocking; nil means unknown
	Forget     func()           // discards input that was typed but not read, including part of a line; nil means unsupported
	Columns    func() int       // width of the terminal; nil means 80
	Bell       func()           // rings the bell; nil means none

	Onboarding Onboarding                                                   // used if no model is configured
	AddDir     func(added []string, name string) ([]string, error)          // adds a project directory that the user has named; nil means unsupported
	Show       func(ctx context.Context, w io.Writer, s pawl.Session) error // writes a whole session; nil means unsupported

	Isolated bool // the sessions work on a copy-on-write view of the project
	// Isolate prepares that the session, or a new one if id is "", continues on a view of the
	// project after Run has returned; nil means unsupported.
	Isolate func(ctx context.Context, id pawl.SessionID, settings pawl.Settings) error
}

// Onboarding helps a user who has not configured a model.
type Onboarding struct {
	// Help returns instructions for getting a model; nil means a generic text.
	Help func(context.Context) (string, error)
	// Save stores the choice in the user's configuration; nil keeps it for this
	// process only.
	Save func(model, mode string) error
}

// Run runs the conversation until the user ends it or ctx ends. Work that is still
// running then is in the log and can be resumed.
func Run(ctx context.Context, c Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := newUI(c)
	typed := make(chan userInput)
	go read(ctx, c.In, c.Pending, typed)
	t.start(ctx)
	defer t.out.endLine()
	return t.run(ctx, typed)
}
