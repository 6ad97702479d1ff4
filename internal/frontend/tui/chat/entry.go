// Package chat shows the conversation: Log builds entries from events, View renders
// the visible ones. Its cost does not grow with the session.
package chat

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/markdown"
)

// Kind is the kind of an entry.
type Kind int

// The kinds.
const (
	User      Kind = iota // a prompt of the user
	Reply                 // text of the model
	Reasoning             // reasoning of the model
	Call                  // a tool call
	Note                  // an event: a retry, a compaction, the end of a turn
)

// Tone is the importance of a note.
type Tone int

// The tones.
const (
	Quiet Tone = iota
	Good
	Warn
	Bad
)

// Entry is an item of the conversation. Its texts are untrusted; they are sanitized
// when they are rendered.
type Entry struct {
	Kind    Kind
	Seq     pawl.Seq // the event that added it; 0 while it is streamed
	TakenAt pawl.Seq // of a prompt: the event with which the model read it; 0 while it waits
	Turn    int
	At      time.Time

	Text      string        // of all but calls
	Tone      Tone          // of a note
	Next      string        // of a note: what to do about it
	Step      bool          // a note that is one of several steps
	Until     time.Time     // of a note about a retry: when it happens
	Took      time.Duration // of reasoning; 0 means unknown
	Waiting   bool          // a prompt that the model has not read yet
	Queued    bool          // a prompt that comes after the running turn
	Steered   bool          // a prompt that was read during a turn
	Files     []pawl.File   // attachments of a prompt
	Streaming bool          // more is streamed

	Call *CallView

	Open     *bool // opened or folded by the user; nil means the default
	version  int   // changes with the entry
	rendered rendered
	streamed strings.Builder // streamed text; it becomes Text when the entry is complete
}

// CallView is the state of a tool call.
type CallView struct {
	ID            pawl.CallID
	Tool          string
	Input         json.RawMessage
	Started       time.Time
	Ended         time.Time
	Status        pawl.CallStatus // "" until it has ended
	Result        pawl.Result
	Output        tail           // while it runs
	Subagents     []pawl.Spawned // started by it
	DoneSubagents map[pawl.SessionID]bool
	Asking        *pawl.Asked    // the ask that it waits for
	Answer        *pawl.Answered // the user's last answer
	Unsafe        string         // why it cannot be undone
	UserCommand   bool           // it is a shell command of the user
}

// Running reports whether the call has started and not ended.
func (c *CallView) Running() bool { return c.Status == "" && !c.Started.IsZero() }

// Failed reports whether the call has ended without success.
func (c *CallView) Failed() bool {
	return c.Status != "" && (c.Status != pawl.CallDone || c.Result.IsError)
}

// rendered caches the rendering of an entry.
type rendered struct {
	lines        []layout.Line
	width        int
	version      int
	styleVersion int

	doc     *markdown.Doc // of a reply
	written int           // bytes of the text that doc has
}

func (e *Entry) changed() { e.version++ }

// text returns the entry's text, also while it is streamed.
func (e *Entry) text() string {
	if e.Streaming {
		return e.streamed.String()
	}
	return e.Text
}

// maxTail bounds the live output that is kept of a call, in bytes.
const maxTail = 16 << 10

// tail keeps the end of an output.
type tail struct {
	text string
	cut  bool
}

func (t *tail) add(text string) {
	t.text += text
	if len(t.text) > 2*maxTail {
		t.text, t.cut = strings.ToValidUTF8(t.text[len(t.text)-maxTail:], ""), true
	}
}

// String returns the end of the output.
func (t *tail) String() string { return t.text }
