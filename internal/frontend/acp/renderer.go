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

// teller shows a session's events to the editor: first those that were, then
// those that come. One goroutine uses it.
type renderer struct {
	*session
	asks       *asks
	silent     bool // what was is only taken note of
	replayed   bool // what was has been told
	prompts    map[pawl.Seq]pawl.Parts
	reply      *replyStream
	calls      map[pawl.CallID]call
	outputs    map[pawl.CallID]string
	shells     map[pawl.Seq]string // the person's commands that are not shown yet
	unanswered []pawl.Event        // asked before, and not answered
	spawned    []pawl.Spawned
	err        error // the first that showing gave
}

func newRenderer(s *session) *renderer {
	return &renderer{
		session: s, asks: &asks{session: s, pending: map[askID]context.CancelFunc{}},
		prompts: map[pawl.Seq]pawl.Parts{}, calls: map[pawl.CallID]call{}, outputs: map[pawl.CallID]string{}, shells: map[pawl.Seq]string{},
	}
}

// replay tells what was, without what a person has taken back.
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

// hear tells what comes after a Seq, until ctx or the connection ends.
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
		r.markFollowed() // from here on nothing is missed, not even what is not in the log
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

// say shows a word of pawl's own that is part of what happened.
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
	case pawl.Compacted, pawl.Reverted, pawl.Status:
		r.sessionEvent(ctx, e.Body)
	case pawl.MissionStarted, pawl.Planned, pawl.CriteriaFrozen, pawl.Delegated, pawl.TaskStarted, pawl.TaskMerged, pawl.TaskReturned, pawl.CheckRan,
		pawl.ReviewStarted, pawl.Reviewed, pawl.GateResult, pawl.Sealed, pawl.Blocked:
		r.missionEvent(ctx, e)
	case pawl.SessionCreated, pawl.SessionSummarized, pawl.SessionShared, pawl.CompactionAsked, pawl.RevertAsked: // nothing to show
	}
}

// prompted shows a person's words, unless they are on the editor's screen already.
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
		default: // a person says nothing else
		}
	}
}

// replies shows a reply while it grows, and its calls when it has ended.
func (r *renderer) replyEvent(ctx context.Context, e pawl.Event) {
	show := func(role role, text string) { r.show(ctx, messageChunk{role: role, text: text}) }
	begin := func(reply pawl.Seq) { r.reply = newReplyStream(reply, r.mask, show) }
	if r.reply != nil {
		r.reply.show = show // the one that it began with may be over
	}
	switch b := e.Body.(type) {
	case pawl.ReplyStarted:
		begin(e.Seq)
	case pawl.Delta:
		if r.reply != nil {
			r.reply.delta(b)
		}
	case pawl.Retried:
		r.note(ctx, "The model failed (%s: %s) and is asked again, %s: what came of this reply does not hold.", b.Kind, line(b.Message), b.Model)
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

// called shows how a call gets on.
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

// hears hears what a subagent asks, from the time on when what was is told.
func (r *renderer) followSubagent(ctx context.Context, c pawl.Spawned) {
	if r.replayed {
		r.running.Go(func() { r.asks.followSubagent(ctx, c) })
	} else {
		r.spawned = append(r.spawned, c)
	}
}

// ran shows how a command of the person's gets on: as a call of theirs.
func (r *renderer) shellEvent(ctx context.Context, e pawl.Event) {
	announced := func(asked pawl.Seq) { // once: when it begins, or came to nothing
		if command, ok := r.shells[asked]; ok {
			input, _ := json.Marshal(map[string]string{"command": command}) // a text has no way to fail
			r.show(ctx, callStarted{newCall(r.dir, pawl.ToolCall{ID: pawl.ShellCall(asked), Name: "bash", Input: input})})
			delete(r.shells, asked)
		}
	}
	switch b := e.Body.(type) {
	case pawl.ShellAsked:
		r.shells[e.Seq] = b.Command
	case pawl.ShellStarted:
		announced(b.Asked)
		r.show(ctx, callUpdated{startedCall(r.dir, pawl.CallStarted{Call: pawl.ShellCall(b.Asked)})})
	case pawl.ShellRan:
		announced(b.Asked)
		id := pawl.ShellCall(b.Asked)
		r.show(ctx, callUpdated{finishedCall(r.dir, pawl.CallFinished{Call: id, Status: b.Status, Result: b.Result})})
		delete(r.outputs, id)
	default: // not about one
	}
}

// finished ends what the turn has left.
func (r *renderer) turnFinished(ctx context.Context, e pawl.Event, b pawl.TurnFinished) {
	r.asks.handleEnd(e)
	r.reply, r.spawned = nil, nil
	clear(r.calls)
	clear(r.outputs)
	if b.Message != "" && b.Reason != pawl.ReasonCanceled {
		r.note(ctx, "The turn ended (%s): %s", b.Reason, b.Message)
	}
}

// remark says what else a person is to know.
func (r *renderer) sessionEvent(ctx context.Context, b pawl.Body) {
	switch b := b.(type) {
	case pawl.Compacted:
		if b.Keep != 0 {
			r.note(ctx, "The conversation was summed up: about %d tokens became %d.", b.Before, b.After)
		}
		if b.Message != "" {
			r.note(ctx, "%s", b.Message)
		}
	case pawl.Reverted:
		if b.Refused != "" {
			r.note(ctx, "Not undone: %s", b.Refused)
		} else if r.replayed {
			r.note(ctx, "The session was taken back, or forward again: load it again to see it as it is now.")
		}
	case pawl.Status:
		r.note(ctx, "%s", b.Message)
	default: // says it in its own place
	}
}

// mission says what an event of a mission tells.
func (r *renderer) missionEvent(ctx context.Context, e pawl.Event) {
	text, _ := humanize.Mission(e.Body)
	r.note(ctx, "%s", strings.ReplaceAll(text, "`", "'"))
	if c, ok := pawl.ChildOf(e.Body); ok {
		r.followSubagent(ctx, c)
	}
}

// about is the call that an event asks about.
func (r *renderer) callFor(e pawl.Event) call {
	asked, _ := e.Body.(pawl.Asked)
	c, ok := r.calls[asked.Call]
	if !ok {
		c.title = "May it go on?"
	}
	return c
}

// Why a session is not heard any more.
var (
	errDisconnected  = errors.New("the editor is gone")
	errSessionClosed = errors.New("the session was closed, or loaded again: its turn goes on in the log")
)
