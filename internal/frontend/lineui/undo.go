package lineui

import (
	"context"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
)

func (u *ui) undo(ctx context.Context, _ string) error { return u.confirmUndo(ctx, pawl.Undo{}) }

func (u *ui) redo(ctx context.Context, _ string) error {
	return u.confirmUndo(ctx, pawl.Undo{Redo: pawl.LastUndo})
}

// maxRewindList is how many of the user's messages /rewind lists.
const maxRewindList = 30

// rewind lists the user's messages, newest first, or with a number rewinds to before
// that message.
func (u *ui) rewind(ctx context.Context, argument string) error {
	messages, err := u.userMessages(ctx)
	if err != nil {
		return err
	}
	if argument == "" {
		for i, m := range messages {
			u.out.printf("%d: %s", i+1, sanitizeLine(m.Text()))
		}
		u.out.printf("messages: %d, newest first; /rewind 1 rewinds to before the newest", len(messages))
		return nil
	}
	n, err := parseIndex(argument, len(messages), "/rewind")
	if err != nil {
		return err
	}
	return u.confirmUndo(ctx, pawl.Undo{To: messages[n].Seq})
}

// userMessages returns the user's messages, newest first, at most maxRewindList.
func (u *ui) userMessages(ctx context.Context) ([]pawl.Message, error) {
	var events []pawl.Event
	fromUser := map[pawl.Seq]bool{}
	err := u.withSession(ctx, func(ctx context.Context, id pawl.SessionID) error {
		s, err := u.Service.Get(ctx, id)
		if err != nil {
			return err
		}
		for e, err := range u.Service.Events(ctx, id, 0) {
			if err != nil {
				return err
			}
			if e.Seq == 0 {
				continue
			}
			events = append(events, e)
			switch b := e.Body.(type) {
			case pawl.TurnStarted:
				fromUser[e.Seq] = true
			case pawl.Injected:
				fromUser[e.Seq] = b.Prompt != 0
			default: // not from the user
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
	all, err := pawl.Conversation(events)
	if err != nil {
		return nil, err
	}
	var messages []pawl.Message
	for i := len(all) - 1; i >= 0 && len(messages) < maxRewindList; i-- {
		if fromUser[all[i].Seq] {
			messages = append(messages, all[i])
		}
	}
	if len(messages) == 0 {
		return nil, usagef("no messages yet: send a prompt first")
	}
	return messages, nil
}

// confirmUndo shows what an undo or redo would change, and asks for confirmation.
func (u *ui) confirmUndo(ctx context.Context, r pawl.Undo) error {
	var plan pawl.UndoPlan
	err := u.withSession(ctx, func(ctx context.Context, id pawl.SessionID) (err error) {
		plan, err = u.Service.Preview(ctx, id, r)
		return err
	})
	if err != nil {
		return err
	}
	doing := func(c pawl.Conflicts) func(context.Context, string) {
		return func(ctx context.Context, _ string) {
			plan.Conflicts = c
			u.applyUndo(ctx, plan.Undo)
		}
	}
	choices := []choice{{number: "1", words: "y yes", text: "yes", do: doing(pawl.ConflictsRefuse)}}
	if len(plan.Conflicting()) > 0 {
		choices = []choice{
			{number: "1", words: "aside", text: "yes, and back up files with other changes", do: doing(pawl.ConflictsAside)},
			{number: "2", words: "leave", text: "yes, but keep files with other changes", do: doing(pawl.ConflictsLeave)},
		}
	}
	choices = append(choices, choice{number: "3", words: "n no", text: "no", do: func(context.Context, string) { u.out.printf("canceled: nothing changed") }})
	u.present(u.menu(func() { u.printPlan(plan) }, choices))
	return nil
}

// applyUndo starts an undo or redo. The session's events report the result.
func (u *ui) applyUndo(ctx context.Context, r pawl.Undo) {
	err := u.withSession(ctx, func(ctx context.Context, id pawl.SessionID) error {
		seq, err := u.Service.Undo(ctx, id, r)
		if err == nil {
			u.work.orders[seq] = true
		}
		return err
	})
	if err != nil {
		u.out.printError(err)
	}
}

// printPlan prints what an undo or redo would change.
func (u *ui) printPlan(p pawl.UndoPlan) {
	verb := "undo"
	if p.Redo != 0 {
		verb = "redo"
	}
	u.out.printf("ask: %s this?", verb)
	if p.Scope.Conversation() {
		u.out.printf("conversation: %s %s", verb, humanize.Plural(p.Messages, "message"))
		if text := p.Prompt.Text(); text != "" {
			u.out.printf("from: %s", sanitizeLine(text))
		}
	}
	if p.Scope.Files() {
		u.out.printf("files: change %s", humanize.Plural(len(p.Files), "file"))
	}
	for _, f := range p.Files {
		line := f.Kind + " " + sanitizeLine(f.Path)
		if f.Added+f.Deleted > 0 {
			line += ", " + humanize.Plural(f.Added, "line") + " added, " + humanize.Plural(f.Deleted, "line") + " deleted"
		}
		if f.Conflict != "" {
			line += "; conflict: " + sanitizeLine(f.Conflict)
		}
		u.out.printf("file: %s", line)
	}
	if n := len(p.Blind); n > 0 && p.Scope.Files() {
		u.out.printf("note: cannot undo %s: no snapshot was taken", humanize.Plural(n, "call"))
	}
	if diff := strings.TrimSpace(p.Diff); diff != "" {
		u.out.full(p.Diff)
	}
}
