package subagents

import (
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
)

// tail is the state of a subagent by the end of its log.
type tail struct {
	agent  string
	line   string // its last message or action
	text   string // the last line of the streamed reply
	asks   map[pawl.Seq]bool
	cost   pawl.Money // not included in the row yet
	over   bool
	ended  time.Time
	reason pawl.Reason
}

// apply applies an event; counted means that the row includes its cost already.
func (t *tail) apply(e pawl.Event, counted bool) {
	switch b := e.Body.(type) {
	case pawl.Prompted:
		t.agent = b.Agent
	case pawl.TurnStarted:
		t.over = false
	case pawl.Delta:
		if b.Channel == pawl.ChannelText {
			t.grow(b.Text)
		}
	case pawl.Replied:
		t.replied(b, counted)
	case pawl.CallStarted:
		t.line = b.Tool
		if len(b.Access) > 0 {
			t.line += " " + b.Access[0].Target
		}
	case pawl.Progress:
		t.say(b.Text)
	case pawl.Asked:
		if t.asks == nil {
			t.asks = map[pawl.Seq]bool{}
		}
		t.asks[e.Seq] = true
		t.say(b.Text)
	case pawl.Answered:
		delete(t.asks, b.Ask)
	case pawl.TurnFinished:
		t.over, t.ended, t.reason, t.asks = true, e.At, b.Reason, nil
		t.say(b.Message)
	default:
	}
}

func (t *tail) replied(b pawl.Replied, counted bool) {
	t.agent, t.text = b.Agent, ""
	t.say(b.Parts.Text())
	if !counted {
		t.cost += b.Usage.Cost
	}
}

// grow applies a piece of the streamed reply.
func (t *tail) grow(text string) {
	t.text += text
	if line := lastLine(t.text); line != "" {
		t.line = line
	}
	if at := strings.LastIndexByte(strings.TrimRight(t.text, "\n"), '\n'); at >= 0 {
		t.text = t.text[at+1:]
	}
	t.text = bounded(t.text)
}

// say sets the last line, unless the text is blank.
func (t *tail) say(text string) {
	if line := lastLine(text); line != "" {
		t.line = line
	}
}

// maxLine bounds a line, in bytes; it is more than fits the screen.
const maxLine = 2000

func bounded(line string) string {
	if len(line) > maxLine {
		return strings.ToValidUTF8(line[:maxLine], "")
	}
	return line
}

// lastLine returns the last line of a text that is not blank.
func lastLine(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	return bounded(strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]))
}

// endWords names how turns end.
var endWords = map[pawl.Reason]string{pawl.ReasonEndTurn: "done", pawl.ReasonCanceled: "canceled", pawl.ReasonError: "failed"}

// state returns the subagent's state. An idle row has finished, even if nothing else
// is known of it.
func (t *tail) state(row pawl.Session) (word string, works bool) {
	switch {
	case len(t.asks) > 0 && !t.over:
		return "waiting", true
	case t.over && endWords[t.reason] != "":
		return endWords[t.reason], false
	case t.over:
		return strings.ReplaceAll(string(t.reason), "_", " "), false
	case row.ID == "":
		return "starting", true
	case row.State() == pawl.StateIdle && row.Turns > 0:
		return "done", false
	default:
		return "working", true
	}
}
