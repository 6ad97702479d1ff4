package client

import (
	"context"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// Item is an entry of a transcript: a message, a tool call, an ask, a note or the end of a turn. A later item with
// the same ID replaces it. Its Kind is "user", "text", "reasoning", "call", "ask", "todos", "subagent", "note",
// "mission" or "turn_end". Long texts are cut; see [Client.Item].
type Item = transcript.Item

// OpenAsk is a question or permission prompt without an answer. Item.Ask.Choices has the answers to offer.
type OpenAsk = api.OpenAsk

// ItemList is the items of a session after a change.
type ItemList struct {
	Items   []Item // in order
	More    bool   // there are older ones: call [Client.Items] with the ID of the first
	Changed []Item // what the last message added or changed, in order
}

// Items returns a page of a transcript, oldest item first: the last limit items before the one with an ID, or of all if
// it is "". A limit of 0 means 50. More is true if there are older ones.
func (c *Client) Items(ctx context.Context, id pawl.SessionID, before string, limit int) (items []Item, more bool, err error) {
	q := url.Values{}
	setText(q, "before", before)
	if limit != 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	var page api.Items
	err = c.ask(ctx, id, http.MethodGet, path(id, "/items"), q, nil, &page)
	return page.Items, page.More, err
}

// Item returns an item with its whole texts.
func (c *Client) Item(ctx context.Context, id pawl.SessionID, item string) (it Item, err error) {
	return it, c.ask(ctx, id, http.MethodGet, path(id, "/items/"+url.PathEscape(item)), nil, nil, &it)
}

// FollowItems yields the newest items of a session, or those that changed after an event, and again after each change,
// until ctx ends. It reconnects when the connection breaks: no item is missing and none is repeated.
func (c *Client) FollowItems(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[ItemList, error] {
	return c.followItems(ctx, id, after, 0)
}

func (c *Client) followItems(ctx context.Context, id pawl.SessionID, after pawl.Seq, limit int) iter.Seq2[ItemList, error] {
	t := itemTable{items: map[string]Item{}}
	s := source[api.ItemChange, ItemList]{session: id, path: path(id, "/items/stream"), query: url.Values{}, resume: t.forgetUnsaved, apply: t.apply}
	if after > 0 {
		s.last = strconv.FormatInt(int64(after), 10)
	}
	if limit > 0 {
		s.query.Set("limit", strconv.Itoa(limit))
	}
	return follow(ctx, c, s)
}

// itemTable is the items of a session by ID.
type itemTable struct {
	items map[string]Item
	more  bool
}

// forgetUnsaved removes what the server's log does not have. A stream that is resumed sends it again if it still holds.
func (t *itemTable) forgetUnsaved() {
	maps.DeleteFunc(t.items, func(_ string, it Item) bool { return it.Unsaved })
}

func (t *itemTable) apply(c api.ItemChange) ItemList {
	if c.Reset {
		clear(t.items)
		t.more = c.More
	}
	for _, id := range c.Removed {
		delete(t.items, id)
	}
	changed := map[string]bool{}
	for _, it := range c.Items {
		t.items[it.ID], changed[it.ID] = it, true
	}
	for _, a := range c.Appended {
		if it, ok := t.items[a.ID]; ok {
			it.Text += a.Text
			t.items[a.ID], changed[a.ID] = it, true
		}
	}
	list := ItemList{Items: slices.SortedFunc(maps.Values(t.items), transcript.Compare), More: t.more}
	for _, it := range list.Items {
		if changed[it.ID] {
			list.Changed = append(list.Changed, it)
		}
	}
	return list
}
