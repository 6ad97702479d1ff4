package acp

import (
	"context"
	"encoding/json"

	"github.com/pawl-dev/pawl"
)

// editor is the other end of the connection, as this package speaks to it.
type editor interface {
	// show sends one update. It has been written when it returns.
	show(ctx context.Context, id pawl.SessionID, u update) error
	// choose asks the person to choose and returns the option's id, or "" if they
	// chose none.
	choose(ctx context.Context, id pawl.SessionID, q choice) (string, error)
	// read returns a file as the editor has it, saved or not: so many lines of it, or
	// all for 0.
	read(ctx context.Context, id pawl.SessionID, path string, lines int) (string, error)
	// reads reports whether the editor can do that.
	reads() bool
}

// update is one thing that an editor shows.
//
//sumtype:decl
type update interface{ isUpdate() }

// said is a piece of somebody's words.
type messageChunk struct {
	role role
	text string
	file pawl.File // an image instead of text, if it has data
}

type role int

const (
	roleUser role = iota
	roleAgent
	roleThought // what the model thinks, and pawl's own notes
)

// called announces a call, moved says what has changed of it: what is empty has not.
type (
	callStarted struct{ call }
	callUpdated struct{ call }
)

type (
	planUpdated     struct{ todos []pawl.Todo }
	modeSet         struct{ mode string }
	titleUpdated    struct{ title string }
	commandsUpdated struct{ commands []Command }
)

func (messageChunk) isUpdate()    {}
func (callStarted) isUpdate()     {}
func (callUpdated) isUpdate()     {}
func (planUpdated) isUpdate()     {}
func (modeSet) isUpdate()         {}
func (titleUpdated) isUpdate()    {}
func (commandsUpdated) isUpdate() {}

// call is a tool call as an editor shows it.
type call struct {
	id        string
	title     string
	kind      string // read, edit, search, execute, think, fetch, switch_mode, other
	status    string // pending, in_progress, completed, failed
	locations []location
	content   []content
	input     json.RawMessage
}

// place is a file that a call is about, absolute, and where in it; line 0 is none.
type location struct {
	path string
	line int
}

// content is a text in Markdown, or a change.
type content struct {
	text   string
	change *change
}

// change is a part of a file before and after. A nil old is a file that was not there.
type change struct {
	path string
	old  *string
	new  string
	line int // of the new text, where it begins
}

// choice is what a person is to decide about a call.
type choice struct {
	call    call
	options []option
}

type option struct {
	id   string
	name string
	kind string // allow_once, allow_always, reject_once
}
