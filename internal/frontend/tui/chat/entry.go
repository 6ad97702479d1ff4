// Package chat is the conversation on the screen: what events make of it, and the
// lines that are shown of it. It renders what is seen and nothing else, so its
// cost does not grow with the session.
package chat

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/markdown"
)

// Kind says what an entry is.
type Kind int

// The kinds.
const (
	User      Kind = iota // what the person said
	Reply                 // the model's words
	Reasoning             // what it thought aloud
	Call                  // a tool call
	Note                  // something that happened: a retry, a compaction, the end of a turn
)

// Tone is how much a note matters.
type Tone int

// The tones.
const (
	Quiet Tone = iota
	Good
	Warn
	Bad
)

// Entry is one thing of the conversation. Its texts are a stranger's: they are
// made safe when they are rendered.
type Entry struct {
	Kind    Kind
	Seq     pawl.Seq // the event that brought it in; 0 for what is still being written
	TakenAt pawl.Seq // of a prompt: the event that took it in; 0 while it waits
	Turn    int
	At      time.Time

	Text      string        // of all but calls
	Tone      Tone          // of a note
	Next      string        // of a note: what to do about it
	Step      bool          // a note that is a step among others
	Until     time.Time     // of a note on a retry: when it is made
	Took      time.Duration // of reasoning; 0 means that nobody knows
	Waiting   bool          // a prompt that is not taken in yet
	Queued    bool          // a prompt that comes after the open turn
	Steered   bool          // a prompt that was taken into a turn
	Files     []pawl.File   // that came with a prompt
	Streaming bool          // more of it is to come

	Call *CallView

	Open     *bool // folded by the person; nil means as is usual
	version  int   // changes whenever the entry does
	rendered rendered
	streamed strings.Builder // of a growing one: Text is made of it when it is needed
}

// CallView is a tool call as far as it has come.
type CallView struct {
	ID            pawl.CallID
	Tool          string
	Input         json.RawMessage
	Started       time.Time
	Ended         time.Time
	Status        pawl.CallStatus // "" while it is under way
	Result        pawl.Result
	Output        tail           // live
	Subagents     []pawl.Spawned // that it gave an errand to
	DoneSubagents map[pawl.SessionID]bool
	Asking        *pawl.Asked    // what it waits for a person for
	Answer        *pawl.Answered // the last that a person gave
	Unsafe        string         // why it cannot be undone
	UserCommand   bool           // it is a command of the person's own
}

// Running reports whether the call has begun and not ended.
func (c *CallView) Running() bool { return c.Status == "" && !c.Started.IsZero() }

// Failed reports whether the call came to nothing good.
func (c *CallView) Failed() bool {
	return c.Status != "" && (c.Status != pawl.CallDone || c.Result.IsError)
}

// rendered is what was last made of an entry, and for what.
type rendered struct {
	lines        []layout.Line
	width        int
	version      int
	styleVersion int

	doc     *markdown.Doc // of a reply
	written int           // bytes of the text that it has
}

func (e *Entry) changed() { e.version++ }

// text is what the entry says, also while it grows.
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
