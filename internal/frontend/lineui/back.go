package lineui

import (
	"context"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
)

func (t *talk) undo(ctx context.Context, _ string) error { return t.revert(ctx, pawl.Revert{}) }

func (t *talk) redo(ctx context.Context, _ string) error {
	return t.revert(ctx, pawl.Revert{Redo: pawl.LastRevert})
}

// maxSaid is how many of the person's messages are listed.
const maxSaid = 30

// rewind lists what the person has said, the newest first, or goes back to before
// one of it.
func (t *talk) rewind(ctx context.Context, argument string) error {
	said, err := t.said(ctx)
	if err != nil {
		return err
	}
	if argument == "" {
		for i, m := range said {
			t.voice.say("%d: %s", i+1, name(m.Text()))
		}
		t.voice.say("said: %d, the newest first; /rewind 1 goes back to before the newest", len(said))
		return nil
	}
	n, err := numbered(argument, len(said), "/rewind")
	if err != nil {
		return err
	}
	return t.revert(ctx, pawl.Revert{To: said[n].Seq})
}

// said are the person's messages, the newest first.
func (t *talk) said(ctx context.Context) ([]pawl.Message, error) {
	var events []pawl.Event
	theirs := map[pawl.Seq]bool{}
	err := t.order(ctx, func(ctx context.Context, id pawl.SessionID) error {
		s, err := t.Service.Get(ctx, id)
		if err != nil {
			return err
		}
		for e, err := range t.Service.Events(ctx, id, 0) {
			if err != nil {
				return err
			}
			if e.Seq == 0 {
				continue
			}
			events = append(events, e)
			switch b := e.Body.(type) {
			case pawl.TurnStarted:
				theirs[e.Seq] = true
			case pawl.Injected:
				theirs[e.Seq] = b.Prompt != 0
			default: // not the person's
			}
			if e.Seq >= s.Head {
				break
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	messages, err := pawl.Conversation(events)
	if err != nil {
		return nil, err
	}
	var said []pawl.Message
	for i := len(messages) - 1; i >= 0 && len(said) < maxSaid; i-- {
		if theirs[messages[i].Seq] {
			said = append(said, messages[i])
		}
	}
	if len(said) == 0 {
		return nil, slip("nothing was said yet: send a prompt first")
	}
	return said, nil
}

// revert says what would be taken back or brought back, and asks.
func (t *talk) revert(ctx context.Context, r pawl.Revert) error {
	var plan pawl.RevertPlan
	err := t.order(ctx, func(ctx context.Context, id pawl.SessionID) (err error) {
		plan, err = t.Service.Preview(ctx, id, r)
		return err
	})
	if err != nil {
		return err
	}
	doing := func(c pawl.Conflicts) func(context.Context, string) {
		return func(ctx context.Context, _ string) {
			plan.Conflicts = c
			t.reverting(ctx, plan.Revert)
		}
	}
	choices := []choice{{number: "1", words: "y yes", text: "yes", do: doing(pawl.ConflictsRefuse)}}
	if len(plan.InTheWay()) > 0 {
		choices = []choice{
			{number: "1", words: "aside", text: "yes, and keep what somebody else changed in another place", do: doing(pawl.ConflictsAside)},
			{number: "2", words: "leave", text: "yes, and leave those files as they are", do: doing(pawl.ConflictsLeave)},
		}
	}
	choices = append(choices, choice{number: "3", words: "n no", text: "no", do: func(context.Context, string) { t.voice.say("left: nothing was done") }})
	t.pose(t.menu(func() { t.sayPlan(plan) }, choices))
	return nil
}

// reverting orders it. The session says what comes of it.
func (t *talk) reverting(ctx context.Context, r pawl.Revert) {
	err := t.order(ctx, func(ctx context.Context, id pawl.SessionID) error {
		seq, err := t.Service.Revert(ctx, id, r)
		if err == nil {
			t.teller.ordered[seq] = true
		}
		return err
	})
	if err != nil {
		t.voice.fail(err)
	}
}

// sayPlan says what would be done.
func (t *talk) sayPlan(p pawl.RevertPlan) {
	verb := "taken back"
	if p.Redo != 0 {
		verb = "brought back"
	}
	t.voice.say("ask: shall this be %s?", verb)
	if p.Scope.Conversation() {
		t.voice.say("conversation: %s would be %s", humanize.Plural(p.Messages, "message"), verb)
		if text := p.Prompt.Text(); text != "" {
			t.voice.say("from: %s", name(text))
		}
	}
	if p.Scope.Files() {
		t.voice.say("files: %s would be changed", humanize.Plural(len(p.Files), "file"))
	}
	for _, f := range p.Files {
		line := f.Kind + " " + name(f.Path)
		if f.Added+f.Deleted > 0 {
			line += ", " + humanize.Plural(f.Added, "line") + " added, " + humanize.Plural(f.Deleted, "line") + " deleted"
		}
		if f.Conflict != "" {
			line += "; in the way: " + name(f.Conflict)
		}
		t.voice.say("file: %s", line)
	}
	if n := len(p.Blind); n > 0 && p.Scope.Files() {
		t.voice.say("note: what %s did stays: no snapshot was taken", humanize.Plural(n, "call"))
	}
	if diff := strings.TrimSpace(p.Diff); diff != "" {
		t.voice.whole(p.Diff)
	}
}
