package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// renderer sends a session's events to the editor: first the past ones, then new ones.
// Only one goroutine uses it.
type renderer struct {
	*session
	asks       *asks
	silent     bool // past events are not sent
	replayed   bool // past events have been handled
	prompts    map[pawl.Seq]pawl.Parts
	reply      *replyStream
	calls      map[pawl.CallID]call
	outputs    map[pawl.CallID]string
	shells     map[pawl.Seq]string // the user's commands that are not shown yet
	unanswered []pawl.Event        // asks of past events
	spawned    []pawl.Spawned
	err        error // first error of show
}

func newRenderer(s *session) *renderer {
	return &renderer{
		session: s, asks: &asks{session: s, pending: map[askID]context.CancelFunc{}},
		prompts: map[pawl.Seq]pawl.Parts{}, calls: map[pawl.CallID]call{}, outputs: map[pawl.CallID]string{}, shells: map[pawl.Seq]string{},
	}
}

// replay handles past events, without those that were undone.
func (r *renderer) replay(ctx context.Context, events []pawl.Event) error {
	for e, err := range pawl.EffectiveEvents(pawl.SliceLog(events), pawl.ScopeConversation) {
		if err != nil {
			return err
		}
		r.event(ctx, e)
		r.unanswered = unanswered(r.unanswered, e)
	}
	return r.err
}

// follow handles the events after a Seq until ctx or the connection ends.
func (r *renderer) follow(ctx context.Context, after pawl.Seq) error {
	defer r.asks.stopAll()
	r.silent, r.replayed = false, true
	for _, e := range r.unanswered {
		r.asks.start(ctx, "", e, r.callFor(e))
	}
	for _, c := range r.spawned {
		r.running.Go(func() { r.asks.followSubagent(ctx, c) })
	}
	for e, err := range r.svc.Events(ctx, r.id, after-1) {
		if err != nil {
			return err
		}
		r.markFollowed() // from here on no event is missed, including those that are not in the log
		if e.Seq != 0 && e.Seq <= after {
			continue
		}
		r.event(ctx, e)
		if r.err != nil {
			return r.err
		}
		r.notifyWaiters(e)
	}
	return context.Cause(ctx)
}

func (r *renderer) show(ctx context.Context, u update) {
	if !r.silent && r.err == nil {
		r.err = r.editor.show(ctx, r.id, u)
	}
}

// note shows one of pawl's own messages about an event.
func (r *renderer) note(ctx context.Context, format string, args ...any) {
	r.show(ctx, messageChunk{role: roleThought, text: "pawl: " + fmt.Sprintf(format, args...) + "\n\n"})
}

func (r *renderer) event(ctx context.Context, e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.Prompted:
		r.prompts[e.Seq] = b.Parts
	case pawl.Reworded:
		r.prompts[b.Prompt] = b.Parts
	case pawl.Withdrawn:
		delete(r.prompts, b.Prompt)
	case pawl.TurnStarted:
		r.promptTaken(ctx, b.Prompt)
	case pawl.Injected:
		r.promptTaken(ctx, b.Prompt)
	case pawl.ReplyStarted, pawl.Delta, pawl.Retried, pawl.Replied:
		r.replyEvent(ctx, e)
	case pawl.CallStarted, pawl.Progress, pawl.CallFinished, pawl.Spawned:
		r.callEvent(ctx, e)
	case pawl.ShellAsked, pawl.ShellStarted, pawl.ShellRan:
		r.shellEvent(ctx, e)
	case pawl.Asked:
		if r.replayed {
			r.asks.start(ctx, "", e, r.callFor(e))
		}
	case pawl.Answered:
		r.asks.handleEnd(e)
	case pawl.TodosSet:
		r.show(ctx, planUpdated{b.Todos})
	case pawl.ModeChanged:
		r.show(ctx, modeSet{b.Mode})
	case pawl.SessionTitled:
		r.show(ctx, titleUpdated{b.Title})
	case pawl.TurnFinished:
		r.turnFinished(ctx, e, b)
	case pawl.Compacted, pawl.Undone, pawl.Status:
		r.sessionEvent(ctx, e.Body)
	case pawl.MissionStarted, pawl.Planned, pawl.CriteriaSet, pawl.Delegated, pawl.TaskStarted, pawl.TaskMerged, pawl.TaskReturned, pawl.CheckRan,
		pawl.ReviewStarted, pawl.Reviewed, pawl.GateResult, pawl.Sealed, pawl.Blocked:
		r.missionEvent(ctx, e)
	case pawl.SessionCreated, pawl.SessionSummarized, pawl.SessionShared, pawl.CompactionAsked, pawl.UndoAsked: // not shown
	}
}

// promptTaken shows the user's prompt, unless the editor has sent and shown it itself.
func (r *renderer) promptTaken(ctx context.Context, prompt pawl.Seq) {
	parts := r.prompts[prompt]
	delete(r.prompts, prompt)
	if r.awaits(prompt) {
		return
	}
	for _, p := range parts {
		switch p := p.(type) {
		case pawl.Text:
			r.show(ctx, messageChunk{role: roleUser, text: p.Text})
		case pawl.File:
			r.show(ctx, messageChunk{role: roleUser, text: fmt.Sprintf("(%s, %s)", line(p.Name), line(p.MediaType)), file: p})
		default: // not in prompts
		}
	}
}

// replyEvent streams a reply, and announces its calls when it has ended.
func (r *renderer) replyEvent(ctx context.Context, e pawl.Event) {
	show := func(role role, text string) { r.show(ctx, messageChunk{role: role, text: text}) }
	begin := func(reply pawl.Seq) { r.reply = newReplyStream(reply, r.mask, show) }
	if r.reply != nil {
		r.reply.show = show // the context it was created with may have ended
	}
	switch b := e.Body.(type) {
	case pawl.ReplyStarted:
		begin(e.Seq)
	case pawl.Delta:
		if r.reply != nil {
			r.reply.delta(b)
		}
	case pawl.Retried:
		r.note(ctx, "The model failed (%s: %s). Retrying with %s; discard the reply so far.", b.Kind, line(b.Message), b.Model)
		if r.reply != nil {
			begin(r.reply.reply)
		}
	case pawl.Replied:
		if r.reply == nil {
			begin(e.Seq)
		}
		r.reply.end(b.Parts, func(text string) { r.note(ctx, "%s", text) })
		r.reply = nil
		for _, c := range b.Parts.Calls() {
			r.calls[c.ID] = newCall(r.dir, c)
			r.show(ctx, callStarted{r.calls[c.ID]})
		}
	default: // not about a reply
	}
}

// callEvent shows the progress and the result of a call.
func (r *renderer) callEvent(ctx context.Context, e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.CallStarted:
		r.show(ctx, callUpdated{startedCall(r.dir, b)})
	case pawl.Progress:
		r.outputs[b.Call] = tail(r.outputs[b.Call], b.Text)
		r.show(ctx, callUpdated{output(b.Call, r.outputs[b.Call])})
	case pawl.CallFinished:
		r.show(ctx, callUpdated{finishedCall(r.dir, b)})
		delete(r.calls, b.Call)
		delete(r.outputs, b.Call)
	case pawl.Spawned:
		r.followSubagent(ctx, b)
	default: // not about a call
	}
}

// followSubagent presents a subagent's asks, once the past events have been handled.
func (r *renderer) followSubagent(ctx context.Context, c pawl.Spawned) {
	if r.replayed {
		r.running.Go(func() { r.asks.followSubagent(ctx, c) })
	} else {
		r.spawned = append(r.spawned, c)
	}
}

// shellEvent shows the user's shell commands as calls.
func (r *renderer) shellEvent(ctx context.Context, e pawl.Event) {
	announced := func(asked pawl.Seq) { // only once: when it starts, or if it did not start
		if command, ok := r.shells[asked]; ok {
			input, _ := json.Marshal(map[string]string{"command": command}) // a map of strings cannot fail
			r.show(ctx, callStarted{newCall(r.dir, pawl.ToolCall{ID: asked.ShellCall(), Name: "bash", Input: input})})
			delete(r.shells, asked)
		}
	}
	switch b := e.Body.(type) {
	case pawl.ShellAsked:
		r.shells[e.Seq] = b.Command
	case pawl.ShellStarted:
		announced(b.Asked)
		r.show(ctx, callUpdated{startedCall(r.dir, pawl.CallStarted{Call: b.Asked.ShellCall()})})
	case pawl.ShellRan:
		announced(b.Asked)
		id := b.Asked.ShellCall()
		r.show(ctx, callUpdated{finishedCall(r.dir, pawl.CallFinished{Call: id, Status: b.Status, Result: b.Result})})
		delete(r.outputs, id)
	default: // not about a command
	}
}

// turnFinished clears the state of the turn.
func (r *renderer) turnFinished(ctx context.Context, e pawl.Event, b pawl.TurnFinished) {
	r.asks.handleEnd(e)
	r.reply, r.spawned = nil, nil
	clear(r.calls)
	clear(r.outputs)
	if b.Message != "" && b.Reason != pawl.ReasonCanceled {
		r.note(ctx, "The turn ended (%s): %s", b.Reason, b.Message)
	}
}

// sessionEvent shows notes about the session.
func (r *renderer) sessionEvent(ctx context.Context, b pawl.Body) {
	switch b := b.(type) {
	case pawl.Compacted:
		if b.Keep != 0 {
			r.note(ctx, "Compacted from about %d to %d tokens.", b.Before, b.After)
		}
		if b.Message != "" {
			r.note(ctx, "%s", b.Message)
		}
	case pawl.Undone:
		if b.Refused != "" {
			r.note(ctx, "Not undone: %s", b.Refused)
		} else if r.replayed {
			r.note(ctx, "The session was undone or redone. Load it again to see its current state.")
		}
	case pawl.Status:
		r.note(ctx, "%s", b.Message)
	default: // handled elsewhere
	}
}

// missionEvent shows an event of a mission.
func (r *renderer) missionEvent(ctx context.Context, e pawl.Event) {
	text, _ := humanize.Mission(e.Body)
	r.note(ctx, "%s", strings.ReplaceAll(text, "`", "'"))
	if c, ok := e.Subagent(); ok {
		r.followSubagent(ctx, c)
	}
}

// callFor returns the call that an ask is about.
func (r *renderer) callFor(e pawl.Event) call {
	asked, _ := e.Body.(pawl.Asked)
	c, ok := r.calls[asked.Call]
	if !ok {
		c.title = "Continue this turn?"
	}
	return c
}

// Reasons why a session's events are not followed any more.
var (
	errDisconnected  = errors.New("the editor disconnected")
	errSessionClosed = errors.New("the session was closed or loaded again; its turn continues in the background")
)
