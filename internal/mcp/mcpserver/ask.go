package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// askID identifies an ask across sessions.
type askID struct {
	session pawl.SessionID
	seq     pawl.Seq
}

// absent reports whether nobody can be asked, because the host does not
// support forms.
func (f *follower) absent() bool {
	p := f.host.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
		return true
	}
	forms := p.Capabilities.Elicitation
	return forms.Form == nil && forms.URL != nil // neither field means forms, as in the first version of the protocol
}

// hear starts to ask what a session or its subagents need to know, and stops
// when there is an answer from anywhere. who is the subagent's task; "" is the
// session itself.
func (f *follower) hear(ctx context.Context, who string, e pawl.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch b := e.Body.(type) {
	case pawl.Asked:
		id := askID{e.Session, e.Seq}
		if f.asks[id] != nil || f.absent() {
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		f.asks[id] = cancel
		go f.answer(ctx, id, who, b.Ask)
	case pawl.Answered:
		if cancel := f.asks[askID{e.Session, b.Ask}]; cancel != nil {
			cancel()
		}
	case pawl.Spawned, pawl.TaskStarted, pawl.ReviewStarted:
		c, _ := e.Subagent()
		go f.child(ctx, c)
	default: // no ask
	}
}

// child follows the asks of a subagent as long as its parent is followed.
func (f *follower) child(ctx context.Context, c pawl.Spawned) {
	who := fmt.Sprintf("Task %q (%s) asks:\n", sanitize.Line(c.Title), sanitize.Line(c.Agent))
	for e, err := range f.events(ctx, c.Subagent) {
		if err != nil {
			if ctx.Err() == nil {
				f.Log.Warn("cannot receive the questions of a task", "session", c.Subagent, "error", err)
			}
			return
		}
		f.hear(ctx, who, e)
		if _, ended := e.Body.(pawl.TurnFinished); ended {
			return
		}
	}
}

// answer asks the user and sends the answer to the session.
func (f *follower) answer(ctx context.Context, id askID, who string, ask pawl.Ask) {
	answer := f.put(ctx, who, ask)
	if ctx.Err() != nil {
		return // the ask has ended, or the turn is left open
	}
	err := f.Service.Answer(ctx, id.session, id.seq, answer)
	if err != nil && !errors.Is(err, pawl.ErrConflict) && ctx.Err() == nil {
		f.Log.Error("cannot answer for the user", "session", id.session, "error", err)
	}
}

// The answers of the form.
const (
	allowOnce = "allow once"
	decline   = "deny"
)

var form = json.RawMessage(`{"type":"object","properties":{"decision":{"type":"string","title":"Your decision","enum":["` + allowOnce + `","` + decline + `"],"default":"` + decline + `"}},"required":["decision"]}`)

// put shows an ask to the user. Everything except a clear yes means no; a yes
// allows once.
func (f *follower) put(ctx context.Context, who string, ask pawl.Ask) pawl.Answer {
	no := pawl.Answer{Outcome: pawl.OutcomeDenied}
	question := "Allow this once?"
	switch ask.Kind {
	case pawl.AskPermission:
	case pawl.AskLoop:
		question = "Pawl is repeating itself. Continue?"
	case pawl.AskPlan: // the caller chooses the mode
		no.Text = "the caller reads the plan in your answer, and begins with it in another mode"
		return no
	case pawl.AskQuestion:
		no.Text = "no one can answer with text here: decide yourself, and say what you assumed"
		return no
	default:
		return no
	}
	text := who + sanitize.Marked(ask.Text)
	if len(text) > askBytes {
		if ask.Kind == pawl.AskPermission {
			no.Text = fmt.Sprintf("it is too long to be shown to a person (%d bytes): do it in smaller steps", len(text))
		}
		return no
	}
	r, err := f.host.Elicit(ctx, &sdk.ElicitParams{Mode: "form", Message: text + "\n\n" + question, RequestedSchema: form})
	switch {
	case err != nil:
		f.Log.Warn("cannot ask the user", "error", err)
		return no
	case r.Action != "accept" || r.Content["decision"] != allowOnce:
		return no
	}
	return pawl.Answer{Outcome: pawl.OutcomeAnswered}
}
