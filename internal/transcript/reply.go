package transcript

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
)

// Positions of items that are not in the log, after those of the newest event.
const (
	streamedPart = 1_000
	unsavedPart  = 1_000_000
)

// channels are the kinds of items of streamed text.
var channels = map[pawl.Channel]Kind{pawl.ChannelReasoning: KindReasoning, pawl.ChannelText: KindText}

// reply applies the events of replies.
func (t *Transcript) reply(c *Change, e pawl.Event) {
	switch b := e.Body.(type) { //nolint:gochecksumtype // a part of Apply
	case pawl.ReplyStarted:
		t.settle(c)
		t.endRetry(c)
		t.replySeq, t.replyAt = e.Seq, e.At
	case pawl.Retried:
		t.discard(c)
		t.endRetry(c)
		t.retry = t.note(c, e, Item{Level: LevelWarn, Text: RetryText(b), Until: e.At.Add(b.Wait)})
	case pawl.Replied:
		t.replied(c, e, b)
	case pawl.Delta:
		t.delta(c, e, b)
	}
}

// RetryText describes a retry.
func RetryText(b pawl.Retried) string {
	with := ""
	if b.Model != "" {
		with = " with " + b.Model
	}
	return fmt.Sprintf("%s: retrying%s, attempt %d", cmp.Or(b.Message, string(b.Kind)), with, b.Attempt+1)
}

// replyID returns the ID of the n-th part of a kind of the current reply. It is the same before
// and after the reply is complete.
func (t *Transcript) replyID(kind Kind, n int) string {
	if n == 1 {
		return seqID(kind, t.replySeq)
	}
	return fmt.Sprintf("%s_%d_%d", kind, t.replySeq, n)
}

// delta appends to the streamed reply. After a gap it is ignored: the draft or the complete reply
// fills the gap.
func (t *Transcript) delta(c *Change, e pawl.Event, d pawl.Delta) {
	if d.Reply != t.replySeq {
		return
	}
	s := t.streams[d.Channel]
	known := 0
	if s != nil {
		known = s.text.Len()
	}
	if d.Offset > known {
		t.missed = true
		return
	}
	if known-d.Offset >= len(d.Text) {
		return
	}
	text := d.Text[known-d.Offset:]
	t.endRetry(c)
	if s == nil {
		s = &stream{at: e.At}
		t.streams[d.Channel] = s
		kind := channels[d.Channel]
		s.item = t.put(c, Item{ID: t.replyID(kind, 1), Kind: kind, Seq: t.last, Part: streamedPart + len(t.streams), Turn: e.Turn, At: e.At, State: StateStreaming, Unsaved: true})
		if d.Channel == pawl.ChannelText {
			t.endReasoning(c, e)
		}
	}
	s.text.WriteString(text)
	t.appendText(c, s.item, text, s.text.String())
}

// endReasoning records how long the reasoning took.
func (t *Transcript) endReasoning(c *Change, e pawl.Event) {
	if s := t.streams[pawl.ChannelReasoning]; s != nil {
		t.edit(c, s.item, func(it *Item) {
			if it.Took == 0 {
				it.Took = max(1, e.At.Sub(s.at))
			}
		})
	}
}

// Missed reports whether a delta was missed since the last call. The caller then gets the draft of
// the reply and calls Join.
func (t *Transcript) Missed() bool {
	missed := t.missed
	t.missed = false
	return missed
}

// Join merges a draft: the part of the reply from before the session was followed.
func (t *Transcript) Join(d pawl.Draft) Change {
	var c Change
	e := pawl.Event{At: t.replyAt}
	t.delta(&c, e, pawl.Delta{Reply: d.Reply, Channel: pawl.ChannelReasoning, Text: d.Reasoning})
	t.delta(&c, e, pawl.Delta{Reply: d.Reply, Channel: pawl.ChannelText, Text: d.Text})
	return c
}

// Draft returns the reply that is streamed, for Join.
func (t *Transcript) Draft() pawl.Draft {
	d := pawl.Draft{Reply: t.replySeq}
	if s := t.streams[pawl.ChannelReasoning]; s != nil {
		d.Reasoning = s.text.String()
	}
	if s := t.streams[pawl.ChannelText]; s != nil {
		d.Text = s.text.String()
	}
	return d
}

// replied replaces the streamed reply by the complete one.
func (t *Transcript) replied(c *Change, e pawl.Event, b pawl.Replied) {
	t.endReasoning(c, e)
	t.endRetry(c)
	if t.replySeq == 0 { // the oldest known event is later
		t.replySeq = e.Seq
	}
	streamed := t.streams
	if len(streamed) > 0 {
		t.streams = map[pawl.Channel]*stream{}
	}
	texts, reasonings := 0, 0
	for i, part := range b.Parts {
		it := Item{Seq: e.Seq, Part: i, Turn: e.Turn, At: e.At, State: StateDone}
		switch p := part.(type) {
		case pawl.Text:
			it.Kind, it.Text = KindText, p.Text
			it.ID = t.partID(&it, &texts)
		case pawl.Reasoning:
			it.Kind, it.Text, it.Took = KindReasoning, p.Text, t.reasoningTook(e, b, streamed)
			it.ID = t.partID(&it, &reasonings)
		case pawl.ToolCall:
			it.ID, it.Kind, it.State, it.Call = CallID(p.ID), KindCall, StateWaiting, &Call{ID: p.ID, Tool: p.Name, Input: p.Input}
		case pawl.ToolResult, pawl.File, pawl.Patch: // not in replies
		}
		if it.ID != "" {
			t.put(c, it)
		}
	}
	for _, s := range streamed {
		if s.item.State == StateStreaming { // no part of the reply has replaced it
			t.remove(c, s.item.ID)
		}
	}
	t.replySeq, t.replyAt = 0, time.Time{}
}

// reasoningTook returns how long the reasoning of a reply took, 0 if that is not known. Without text
// it is all that the reply consists of.
func (t *Transcript) reasoningTook(e pawl.Event, b pawl.Replied, streamed map[pawl.Channel]*stream) time.Duration {
	if s := streamed[pawl.ChannelReasoning]; s != nil {
		return s.item.Took
	}
	if t.replyAt.IsZero() || b.Parts.Text() != "" {
		return 0
	}
	return e.At.Sub(t.replyAt)
}

// partID returns the ID of the next text or reasoning of a reply, "" if it is blank.
func (t *Transcript) partID(it *Item, count *int) string {
	if strings.TrimSpace(it.Text) == "" {
		return ""
	}
	*count++
	return t.replyID(it.Kind, *count)
}

// discard removes a streamed reply that is void.
func (t *Transcript) discard(c *Change) {
	for _, s := range t.streams {
		t.remove(c, s.item.ID)
	}
	clear(t.streams)
}

// settle ends a streamed reply that will not be completed.
func (t *Transcript) settle(c *Change) {
	for _, s := range t.streams {
		t.edit(c, s.item, func(it *Item) { it.State = StateDone })
	}
	clear(t.streams)
}

// endRetry ends the pending retry.
func (t *Transcript) endRetry(c *Change) {
	t.edit(c, t.retry, func(it *Item) { it.Until = it.At })
	t.retry = nil
}
