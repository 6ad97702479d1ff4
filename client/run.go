package client

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// RunConfig configures [Client.Run].
type RunConfig struct {
	Session pawl.SessionID  // to continue; "" creates New
	New     pawl.NewSession // the session to create if Session is ""
	Prompt  pawl.Prompt

	// OnItem is called with each new and changed item of the turn, in order. It may be nil.
	OnItem func(Item)

	// OnAsk is called for each question and permission prompt of the session and its subagents, one at a time, in a
	// goroutine of its own. It returns an answer, such as one of [Choose], or nil to leave the ask to somebody else.
	// An error ends Run. If OnAsk is nil, the agent works as if no user is present.
	OnAsk func(context.Context, OpenAsk) (*pawl.Answer, error)
}

// Turn is how a turn ended.
type Turn struct {
	Session pawl.SessionID
	Reason  pawl.Reason
	Text    string // the last message of the agent
	Message string // a line about the end, for people
	Usage   pawl.Usage
}

// Run sends a prompt, reports what happens, and returns how the turn ended. A turn that fails is no error: check its
// Reason. If ctx ends, Run returns and the turn continues; see [Client.Cancel].
func (c *Client) Run(ctx context.Context, r RunConfig) (Turn, error) {
	id := r.Session
	if id == "" {
		s, err := c.Create(ctx, r.New)
		if err != nil {
			return Turn{}, err
		}
		id = s.ID
	}
	if r.OnAsk == nil {
		r.Prompt.Absent = true
	}
	seq, err := c.Send(ctx, id, r.Prompt)
	if err != nil {
		return Turn{Session: id}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	asks := make(chan struct{})
	go func() {
		defer close(asks)
		if r.OnAsk != nil {
			if err := c.answerAsks(ctx, id, r.OnAsk); err != nil {
				cancel(err)
			}
		}
	}()
	turn, err := c.waitForEnd(ctx, id, seq, r.OnItem)
	cancel(nil)
	<-asks
	return turn, err
}

// waitForEnd reports the items of a prompt's turn until it ends.
func (c *Client) waitForEnd(ctx context.Context, id pawl.SessionID, seq pawl.Seq, onItem func(Item)) (Turn, error) {
	const limit = 500 // the most that the server sends at once
	w := turnWatch{prompt: transcript.PromptID(seq), onItem: onItem}
	for list, err := range c.followItems(ctx, id, seq-1, limit) {
		if err != nil {
			return Turn{Session: id}, err
		}
		end, err := w.apply(list)
		if err != nil {
			return Turn{Session: id}, err
		}
		if end == nil {
			continue
		}
		text, err := c.lastText(ctx, id, slices.DeleteFunc(list.Items, func(it Item) bool { return !w.has(it) }))
		return Turn{Session: id, Reason: end.End.Reason, Text: text, Message: end.Text, Usage: end.End.Usage}, err
	}
	return Turn{Session: id}, context.Cause(ctx)
}

// turnWatch waits for the turn of a prompt.
type turnWatch struct {
	prompt string // the ID of its item
	start  *Item  // the item, once it was seen
	onItem func(Item)
}

// has reports whether an item belongs to the turn, after the prompt.
func (w *turnWatch) has(it Item) bool { return it.Turn == w.start.Turn && it.Seq >= w.start.Seq }

// apply reports changed items, and returns the end of the turn or nil.
func (w *turnWatch) apply(list ItemList) (*Item, error) {
	i := slices.IndexFunc(list.Items, func(it Item) bool { return it.ID == w.prompt })
	switch {
	case i >= 0:
		w.start = &list.Items[i]
	case w.start != nil && !list.More:
		return nil, fault.New(pawl.ErrConflict, "the prompt was withdrawn or undone")
	}
	if w.start == nil || w.start.State != transcript.StateDone {
		return nil, nil
	}
	for _, it := range list.Changed {
		if w.onItem != nil && w.has(it) {
			w.onItem(it)
		}
	}
	for i, it := range list.Items {
		if it.End != nil && w.has(it) {
			return &list.Items[i], nil
		}
	}
	return nil, nil
}

// lastText returns the whole text of the last message.
func (c *Client) lastText(ctx context.Context, id pawl.SessionID, items []Item) (string, error) {
	var text strings.Builder
	var at pawl.Seq
	for _, it := range items {
		if it.Kind != transcript.KindText {
			continue
		}
		if it.Seq != at {
			text.Reset()
			at = it.Seq
		}
		if it.Cut {
			whole, err := c.Item(ctx, id, it.ID)
			if err != nil {
				return "", err
			}
			it = whole
		}
		text.WriteString(it.Text)
	}
	return text.String(), nil
}

// answerAsks has the asks of a session and its subagents answered until ctx ends.
func (c *Client) answerAsks(ctx context.Context, id pawl.SessionID, onAsk func(context.Context, OpenAsk) (*pawl.Answer, error)) error {
	seen := map[api.AskRef]bool{}
	for feed, err := range c.Follow(ctx) {
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(feed.Asks, func(a OpenAsk) bool { return !seen[ref(a)] }) {
			continue
		}
		asks, err := c.Asks(ctx, id) // the feed has those of all sessions
		if err != nil {
			return err
		}
		for _, a := range asks {
			if seen[ref(a)] {
				continue
			}
			seen[ref(a)] = true
			if err := c.answerAsk(ctx, a, onAsk); err != nil {
				return err
			}
		}
	}
	return nil
}

func ref(a OpenAsk) api.AskRef { return api.AskRef{Session: a.Session, Seq: a.Item.Seq} }

// answerAsk has an ask answered, unless somebody else has.
func (c *Client) answerAsk(ctx context.Context, a OpenAsk, onAsk func(context.Context, OpenAsk) (*pawl.Answer, error)) error {
	answer, err := onAsk(ctx, a)
	if err != nil || answer == nil {
		return err
	}
	if err := c.Answer(ctx, a.Session, a.Item.Ask.Seq, *answer); !errors.Is(err, pawl.ErrConflict) {
		return err
	}
	return nil
}
