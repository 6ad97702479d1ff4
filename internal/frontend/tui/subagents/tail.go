package subagents

import (
	"cmp"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// tail is the state of a subagent by the end of its log.
type tail struct {
	log   *transcript.Transcript // nil until an event was applied
	agent string
	line  string           // its last message or action
	cost  pawl.Money       // not included in the row yet
	end   *transcript.Item // of its turn; nil while one runs
}

// apply applies an event; counted means that the row includes its cost already.
func (t *tail) apply(e pawl.Event, counted bool) {
	if t.log == nil {
		t.log = transcript.New()
	}
	c := t.log.Apply(e)
	for i := range c.Items {
		t.item(&c.Items[i])
	}
	for _, a := range c.Appended {
		t.item(t.log.Get(a.ID))
	}
	switch b := e.Body.(type) {
	case pawl.Prompted:
		t.agent = b.Agent
	case pawl.TurnStarted:
		t.end = nil
	case pawl.Replied:
		if t.agent = b.Agent; !counted {
			t.cost += b.Usage.Cost
		}
	default:
	}
}

// item takes the last line from an item that is new or has changed.
func (t *tail) item(it *transcript.Item) {
	switch it.Kind { //nolint:exhaustive // the others are not shown
	case transcript.KindText:
		t.say(it.Text)
	case transcript.KindCall:
		if t.say(it.Text); it.State == transcript.StateRunning && it.Text == "" && it.Call.Ask == "" {
			t.line = strings.Join(append([]string{it.Call.Tool}, it.Call.Targets[:min(1, len(it.Call.Targets))]...), " ")
		}
	case transcript.KindAsk:
		if it.State == transcript.StateWaiting {
			t.say(it.Ask.Text)
		}
	case transcript.KindTurnEnd:
		if t.end = it; it.Level != transcript.LevelQuiet {
			t.say(it.Text)
		}
	}
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
	case t.end != nil:
		reason := t.end.End.Reason
		return cmp.Or(endWords[reason], strings.ReplaceAll(string(reason), "_", " ")), false
	case t.log != nil && len(t.log.OpenAsks()) > 0:
		return "waiting", true
	case row.ID == "":
		return "starting", true
	case row.State() == pawl.StateIdle && row.Turns > 0:
		return "done", false
	default:
		return "working", true
	}
}
