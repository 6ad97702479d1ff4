package acp

import (
	"context"
	"encoding/json"

	"github.com/pawl-dev/pawl"
)

// editor is the client's side of the connection.
type editor interface {
	// show sends an update. The update has been written when show returns.
	show(ctx context.Context, id pawl.SessionID, u update) error
	// choose asks the user to choose an option and returns its id, or "" if they chose
	// none.
	choose(ctx context.Context, id pawl.SessionID, q choice) (string, error)
	// read returns the first lines of a file, or all of it for 0, with unsaved
	// changes.
	read(ctx context.Context, id pawl.SessionID, path string, lines int) (string, error)
	// reads reports whether the editor supports read.
	reads() bool
	// fill asks the user to fill in a form. It returns nil if they do not.
	fill(ctx context.Context, id pawl.SessionID, f form) (map[string]any, error)
	// forms reports whether the editor supports fill.
	forms() bool
}

// update is a session/update notification.
//
//sumtype:decl
type update interface{ isUpdate() }

// messageChunk is a piece of a message.
type messageChunk struct {
	role role
	id   string // of the message; "" if unknown
	text string
	file pawl.File // an image instead of text, if it has data
}

type role int

const (
	roleUser role = iota
	roleAgent
	roleThought // the model's reasoning, and pawl's own notes
)

// callStarted announces a call. callUpdated changes one; its empty fields are
// unchanged.
type (
	callStarted struct{ call }
	callUpdated struct{ call }
)

type (
	planUpdated    struct{ todos []pawl.Todo }
	modeSet        struct{ mode string }
	optionsUpdated struct{ options []configOption }
	usageUpdated   struct {
		used, size int64
		cost       pawl.Money
	}
	titleUpdated    struct{ title string }
	commandsUpdated struct{ commands []Command }
)

func (messageChunk) isUpdate()    {}
func (callStarted) isUpdate()     {}
func (callUpdated) isUpdate()     {}
func (planUpdated) isUpdate()     {}
func (modeSet) isUpdate()         {}
func (optionsUpdated) isUpdate()  {}
func (usageUpdated) isUpdate()    {}
func (titleUpdated) isUpdate()    {}
func (commandsUpdated) isUpdate() {}

// call is a tool call as an editor shows it.
type call struct {
	id        string
	derived   bool   // the id is made up: the editor does not know the call
	dir       string // the working directory
	title     string
	kind      string // read, edit, search, execute, think, fetch, switch_mode, other
	status    string // pending, in_progress, completed, failed
	locations []location
	content   []content
	input     json.RawMessage
}

// location is a position in a file that a call accesses: an absolute path and a line,
// 0 for none.
type location struct {
	path string
	line int
}

// content is a Markdown text or a change.
type content struct {
	text   string
	change *change
}

// change is a hunk before and after. A nil old means that the file is new.
type change struct {
	path string
	old  *string
	new  string
	line int // where the new text begins
}

// choice is a decision about a call for the user to make.
type choice struct {
	call    call
	options []option
}

type option struct {
	id   string
	name string
	kind string // allow_once, allow_always, reject_once
}
