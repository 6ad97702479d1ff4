package client

import (
	"context"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// Feed is the newest sessions and all open asks after a change.
type Feed struct {
	Sessions []pawl.Session // most recently updated first
	Asks     []OpenAsk      // those of subagents included, oldest first
}

// Asks returns the questions and permission prompts without an answer: of a session and its subagents, or of all
// sessions if id is "".
func (c *Client) Asks(ctx context.Context, id pawl.SessionID) ([]OpenAsk, error) {
	q := url.Values{}
	setText(q, "session", string(id))
	var list api.Asks
	err := c.ask(ctx, id, http.MethodGet, "/v1/asks", q, nil, &list)
	return list.Asks, err
}

// Follow yields the newest sessions and all open asks, and again after each change, until ctx ends. It reconnects when
// the connection breaks.
func (c *Client) Follow(ctx context.Context) iter.Seq2[Feed, error] {
	t := feedTable{map[pawl.SessionID]pawl.Session{}, map[api.AskRef]OpenAsk{}}
	return follow(ctx, c, source[api.FeedChange, Feed]{path: "/v1/events", query: url.Values{}, resume: func() {}, apply: t.apply})
}

// feedTable is the sessions and asks of a feed.
type feedTable struct {
	sessions map[pawl.SessionID]pawl.Session
	asks     map[api.AskRef]OpenAsk
}

func (t feedTable) apply(c api.FeedChange) Feed {
	if c.Reset {
		clear(t.sessions)
		clear(t.asks)
	}
	for _, s := range c.Sessions {
		t.sessions[s.ID] = s
	}
	for _, id := range c.Deleted {
		delete(t.sessions, id)
	}
	for _, a := range c.Asks {
		t.asks[api.AskRef{Session: a.Session, Seq: a.Item.Seq}] = a
	}
	for _, ref := range c.Closed {
		delete(t.asks, ref)
	}
	return Feed{
		Sessions: slices.SortedFunc(maps.Values(t.sessions), func(a, b pawl.Session) int { return b.Updated.Compare(a.Updated) }),
		Asks:     slices.SortedFunc(maps.Values(t.asks), func(a, b OpenAsk) int { return a.Item.At.Compare(b.Item.At) }),
	}
}

// Choose returns the answer of the choice with a name, such as "allow" or "deny"; nil if the ask does not have it.
func Choose(a OpenAsk, name string) *pawl.Answer {
	if a.Item.Ask == nil {
		return nil
	}
	i := slices.IndexFunc(a.Item.Ask.Choices, func(c transcript.Choice) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &a.Item.Ask.Choices[i].Answer
}
