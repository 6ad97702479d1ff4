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
type teller struct {
	*session
	asks    *asks
	quiet   bool // what was is only taken note of
	live    bool // what was has been told
	prompts map[pawl.Seq]pawl.Parts
	reply   *stream
	calls   map[pawl.CallID]call
	tails   map[pawl.CallID]string
	shells  map[pawl.Seq]string // the person's commands that are not shown yet
	open    []pawl.Event        // asked before, and not answered
	spawned []pawl.Spawned
	err     error // the first that showing gave
}

func newTeller(s *session) *teller {
	return &teller{
		session: s, asks: &asks{session: s, open: map[askID]context.CancelFunc{}},
		prompts: map[pawl.Seq]pawl.Parts{}, calls: map[pawl.CallID]call{}, tails: map[pawl.CallID]string{}, shells: map[pawl.Seq]string{},
	}
}

// replay tells what was, without what a person has taken back.
func (t *teller) replay(ctx context.Context, past []pawl.Event) error {
	for e, err := range pawl.EffectiveEvents(pawl.SliceLog(past), pawl.ScopeConversation) {
		if err != nil {
			return err
		}
		t.event(ctx, e)
		t.open = unanswered(t.open, e)
	}
	return t.err
}

// hear tells what comes after a Seq, until ctx or the connection ends.
func (t *teller) hear(ctx context.Context, after pawl.Seq) error {
	defer t.asks.endAll()
	t.quiet, t.live = false, true
	for _, e := range t.open {
		t.asks.begin(ctx, "", e, t.about(e))
	}
	for _, c := range t.spawned {
		t.running.Go(func() { t.asks.child(ctx, c) })
	}
	for e, err := range t.svc.Events(ctx, t.id, after-1) {
		if err != nil {
			return err
		}
		t.begun() // from here on nothing is missed, not even what is not in the log
		if e.Seq != 0 && e.Seq <= after {
			continue
		}
		t.event(ctx, e)
		if t.err != nil {
			return t.err
		}
		t.follow(e)
	}
	return context.Cause(ctx)
}

func (t *teller) show(ctx context.Context, u update) {
	if !t.quiet && t.err == nil {
		t.err = t.editor.show(ctx, t.id, u)
	}
}

// say shows a word of pawl's own that is part of what happened.
func (t *teller) say(ctx context.Context, format string, args ...any) {
	t.show(ctx, said{who: thought, text: "pawl: " + fmt.Sprintf(format, args...) + "\n\n"})
}

func (t *teller) event(ctx context.Context, e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.Prompted:
		t.prompts[e.Seq] = b.Parts
	case pawl.Reworded:
		t.prompts[b.Prompt] = b.Parts
	case pawl.Withdrawn:
		delete(t.prompts, b.Prompt)
	case pawl.TurnStarted:
		t.prompted(ctx, b.Prompt)
	case pawl.Injected:
		t.prompted(ctx, b.Prompt)
	case pawl.ReplyStarted, pawl.Delta, pawl.Retried, pawl.Replied:
		t.replies(ctx, e)
	case pawl.CallStarted, pawl.Progress, pawl.CallFinished, pawl.Spawned:
		t.called(ctx, e)
	case pawl.ShellAsked, pawl.ShellStarted, pawl.ShellRan:
		t.ran(ctx, e)
	case pawl.Asked:
		if t.live {
			t.asks.begin(ctx, "", e, t.about(e))
		}
	case pawl.Answered:
		t.asks.over(e)
	case pawl.TodosSet:
		t.show(ctx, planned{b.Todos})
	case pawl.ModeChanged:
		t.show(ctx, modeSet{b.Mode})
	case pawl.SessionTitled:
		t.show(ctx, titled{b.Title})
	case pawl.TurnFinished:
		t.finished(ctx, e, b)
	case pawl.Compacted, pawl.Reverted, pawl.Status:
		t.remark(ctx, e.Body)
	case pawl.MissionStarted, pawl.Planned, pawl.CriteriaFrozen, pawl.Delegated, pawl.TaskStarted, pawl.TaskMerged, pawl.TaskReturned, pawl.CheckRan,
		pawl.ReviewStarted, pawl.Reviewed, pawl.GateResult, pawl.Sealed, pawl.Blocked:
		t.mission(ctx, e)
	case pawl.SessionCreated, pawl.SessionSummarized, pawl.SessionShared, pawl.CompactionAsked, pawl.RevertAsked: // nothing to show
	}
}

// prompted shows a person's words, unless they are on the editor's screen already.
func (t *teller) prompted(ctx context.Context, prompt pawl.Seq) {
	parts := t.prompts[prompt]
	delete(t.prompts, prompt)
	if t.expects(prompt) {
		return
	}
	for _, p := range parts {
		switch p := p.(type) {
		case pawl.Text:
			t.show(ctx, said{who: person, text: p.Text})
		case pawl.File:
			t.show(ctx, said{who: person, text: fmt.Sprintf("(%s, %s)", line(p.Name), line(p.MediaType)), file: p})
		default: // a person says nothing else
		}
	}
}

// replies shows a reply while it grows, and its calls when it has ended.
func (t *teller) replies(ctx context.Context, e pawl.Event) {
	show := func(who speaker, text string) { t.show(ctx, said{who: who, text: text}) }
	begin := func(reply pawl.Seq) { t.reply = newStream(reply, t.mask, show) }
	if t.reply != nil {
		t.reply.show = show // the one that it began with may be over
	}
	switch b := e.Body.(type) {
	case pawl.ReplyStarted:
		begin(e.Seq)
	case pawl.Delta:
		if t.reply != nil {
			t.reply.delta(b)
		}
	case pawl.Retried:
		t.say(ctx, "The model failed (%s: %s) and is asked again, %s: what came of this reply does not hold.", b.Kind, line(b.Message), b.Model)
		if t.reply != nil {
			begin(t.reply.reply)
		}
	case pawl.Replied:
		if t.reply == nil {
			begin(e.Seq)
		}
		t.reply.end(b.Parts, func(text string) { t.say(ctx, "%s", text) })
		t.reply = nil
		for _, c := range b.Parts.Calls() {
			t.calls[c.ID] = announce(t.dir, c)
			t.show(ctx, called{t.calls[c.ID]})
		}
	default: // not about a reply
	}
}

// called shows how a call gets on.
func (t *teller) called(ctx context.Context, e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.CallStarted:
		t.show(ctx, moved{begun(t.dir, b)})
	case pawl.Progress:
		t.tails[b.Call] = tail(t.tails[b.Call], b.Text)
		t.show(ctx, moved{output(b.Call, t.tails[b.Call])})
	case pawl.CallFinished:
		t.show(ctx, moved{ended(t.dir, b)})
		delete(t.calls, b.Call)
		delete(t.tails, b.Call)
	case pawl.Spawned:
		t.hears(ctx, b)
	default: // not about a call
	}
}

// hears hears what a subagent asks, from the time on when what was is told.
func (t *teller) hears(ctx context.Context, c pawl.Spawned) {
	if t.live {
		t.running.Go(func() { t.asks.child(ctx, c) })
	} else {
		t.spawned = append(t.spawned, c)
	}
}

// ran shows how a command of the person's gets on: as a call of theirs.
func (t *teller) ran(ctx context.Context, e pawl.Event) {
	announced := func(asked pawl.Seq) { // once: when it begins, or came to nothing
		if command, ok := t.shells[asked]; ok {
			input, _ := json.Marshal(map[string]string{"command": command}) // a text has no way to fail
			t.show(ctx, called{announce(t.dir, pawl.ToolCall{ID: pawl.ShellCall(asked), Name: "bash", Input: input})})
			delete(t.shells, asked)
		}
	}
	switch b := e.Body.(type) {
	case pawl.ShellAsked:
		t.shells[e.Seq] = b.Command
	case pawl.ShellStarted:
		announced(b.Asked)
		t.show(ctx, moved{begun(t.dir, pawl.CallStarted{Call: pawl.ShellCall(b.Asked)})})
	case pawl.ShellRan:
		announced(b.Asked)
		id := pawl.ShellCall(b.Asked)
		t.show(ctx, moved{ended(t.dir, pawl.CallFinished{Call: id, Status: b.Status, Result: b.Result})})
		delete(t.tails, id)
	default: // not about one
	}
}

// finished ends what the turn has left.
func (t *teller) finished(ctx context.Context, e pawl.Event, b pawl.TurnFinished) {
	t.asks.over(e)
	t.reply, t.spawned = nil, nil
	clear(t.calls)
	clear(t.tails)
	if b.Message != "" && b.Reason != pawl.ReasonCanceled {
		t.say(ctx, "The turn ended (%s): %s", b.Reason, b.Message)
	}
}

// remark says what else a person is to know.
func (t *teller) remark(ctx context.Context, b pawl.Body) {
	switch b := b.(type) {
	case pawl.Compacted:
		if b.Keep != 0 {
			t.say(ctx, "The conversation was summed up: about %d tokens became %d.", b.Before, b.After)
		}
		if b.Message != "" {
			t.say(ctx, "%s", b.Message)
		}
	case pawl.Reverted:
		if b.Refused != "" {
			t.say(ctx, "Not undone: %s", b.Refused)
		} else if t.live {
			t.say(ctx, "The session was taken back, or forward again: load it again to see it as it is now.")
		}
	case pawl.Status:
		t.say(ctx, "%s", b.Message)
	default: // says it in its own place
	}
}

// mission says what an event of a mission tells.
func (t *teller) mission(ctx context.Context, e pawl.Event) {
	text, _ := humanize.Mission(e.Body)
	t.say(ctx, "%s", strings.ReplaceAll(text, "`", "'"))
	if c, ok := pawl.ChildOf(e.Body); ok {
		t.hears(ctx, c)
	}
}

// about is the call that an event asks about.
func (t *teller) about(e pawl.Event) call {
	asked, _ := e.Body.(pawl.Asked)
	c, ok := t.calls[asked.Call]
	if !ok {
		c.title = "May it go on?"
	}
	return c
}

// Why a session is not heard any more.
var (
	errEditorGone = errors.New("the editor is gone")
	errElsewhere  = errors.New("the session was closed, or loaded again: its turn goes on in the log")
)
