// Package lineui is pawl as a conversation of lines: for screen readers, serial
// consoles, TERM=dumb and shells in editors. It is a front end that knows
// pawl.Service and nothing of what is behind it.
//
// Lines are added below the others, and that is all: no color, no movement of the
// cursor, nothing is written over. What pawl says begins at the margin, with a word
// that tells what it is ("pawl:", "tool:", "ask:"); what a stranger wrote stands
// behind such a word or is moved in by two blanks, so that it cannot pass for it.
// The terminal's own line editing reads what is typed.
package lineui

import (
	"context"
	"io"
	"os"

	"github.com/pawl-dev/pawl"
)

// Config says what to talk about, and how the person is reached.
type Config struct {
	Service  pawl.Service
	Dir      string
	Session  pawl.SessionID // "" means a new one, made with the first prompt
	Settings pawl.Settings  // of prompts, until the person chooses others

	In         io.Reader
	Out        io.Writer
	Interrupts <-chan os.Signal // Ctrl-C
	Pending    func() bool      // whether a further line is there to be read; nil means that nobody knows
	Forget     func()           // drops what was typed and not read yet, half a line too; nil means that it cannot be
	Columns    func() int       // how wide the terminal is; nil means 80
	Bell       func()           // rings; nil means that there is none

	First First                                                        // for who has chosen nothing yet
	Show  func(ctx context.Context, w io.Writer, s pawl.Session) error // writes a whole session; nil means that it cannot be
}

// First is what is known before the first prompt.
type First struct {
	// Help says how to come by a model; nil means a text that knows nothing of this machine.
	Help func(context.Context) (string, error)
	// Save keeps the choice for the next time; nil means that it holds until pawl ends.
	Save func(model, mode string) error
}

// Run talks with the person until they end it, or ctx ends. What is under way then
// is in the log, and can be gone on with.
func Run(ctx context.Context, c Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := newTalk(c)
	typed := make(chan typed)
	go read(ctx, c.In, c.Pending, typed)
	t.begin(ctx)
	defer t.voice.end()
	return t.run(ctx, typed)
}
