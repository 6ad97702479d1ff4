package chat

import (
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// delta appends to the streamed reply. A delta after a gap is ignored: the draft or
// the complete reply fills the gap.
func (l *Log) delta(ev pawl.Event, d pawl.Delta) {
	if d.Reply != l.reply {
		return
	}
	if d.Offset > l.offsets[d.Channel] {
		l.gap = true
		return
	}
	text := d.Text
	if over := l.offsets[d.Channel] - d.Offset; over >= len(text) {
		return
	} else if over > 0 {
		text = text[over:]
	}
	l.endRetry()
	e := l.streaming[d.Channel]
	if e == nil {
		kind := Reply
		if d.Channel == pawl.ChannelReasoning {
			kind = Reasoning
		} else {
			l.endReasoning(ev)
		}
		e = l.add(&Entry{Kind: kind, At: ev.At, Streaming: true})
		l.streaming[d.Channel] = e
	}
	e.streamed.WriteString(text)
	e.changed()
	l.offsets[d.Channel] += len(text)
}

// endReasoning records how long the reasoning took.
func (l *Log) endReasoning(ev pawl.Event) {
	if e := l.streaming[pawl.ChannelReasoning]; e != nil && e.Took == 0 && !e.At.IsZero() {
		e.Took = max(1, ev.At.Sub(e.At))
		e.changed()
	}
}

// Missed reports whether a delta was missed since the last call.
func (l *Log) Missed() bool {
	missed := l.gap
	l.gap = false
	return missed
}

// Join merges a draft: the part of the reply from before the session was followed.
func (l *Log) Join(d pawl.Draft) {
	if d.Reply != l.reply {
		return
	}
	ev := pawl.Event{At: l.replyAt}
	l.delta(ev, pawl.Delta{Reply: d.Reply, Channel: pawl.ChannelReasoning, Text: d.Reasoning})
	l.delta(ev, pawl.Delta{Reply: d.Reply, Channel: pawl.ChannelText, Text: d.Text})
	l.version++
}

// discard removes a streamed reply that is void.
func (l *Log) discard() {
	for _, e := range l.streaming {
		l.drop(e)
	}
	clear(l.streaming)
	clear(l.offsets)
}

// retried applies a retry.
func (l *Log) retried(ev pawl.Event, b pawl.Retried) {
	l.discard()
	l.endRetry()
	l.retrying = &b
	l.retry = l.note(ev, Warn, "%s", transcript.RetryText(b))
	l.retry.Until = ev.At.Add(b.Wait)
}

// endRetry ends the pending retry.
func (l *Log) endRetry() {
	l.retrying = nil
	if l.retry != nil {
		l.retry.Until = l.retry.At
		l.retry.changed()
		l.retry = nil
	}
}

// replied replaces the streamed reply by the complete one. Visible entries stay the
// same, so that the user does not lose their place.
func (l *Log) replied(ev pawl.Event, b pawl.Replied) {
	l.endReasoning(ev)
	grown := map[Kind]*Entry{Reply: l.streaming[pawl.ChannelText], Reasoning: l.streaming[pawl.ChannelReasoning]}
	l.discard()
	l.endRetry()
	l.usage, l.total = b.Usage, l.total.Add(b.Usage)
	for _, part := range b.Parts {
		e := &Entry{At: ev.At}
		switch p := part.(type) {
		case pawl.Text:
			e = l.finishPart(grown, Reply, p.Text)
		case pawl.Reasoning:
			e = l.finishPart(grown, Reasoning, p.Text)
			if e.Took == 0 && b.Parts.Text() == "" && !l.replyAt.IsZero() {
				e.Took = ev.At.Sub(l.replyAt)
			}
		case pawl.ToolCall:
			e.Kind, e.Call = Call, &CallView{ID: p.ID, Tool: p.Name, Input: p.Input}
			l.calls[p.ID] = e
		case pawl.ToolResult, pawl.File, pawl.Patch:
			continue
		}
		e.Seq, e.Turn = ev.Seq, ev.Turn
		if e.At.IsZero() {
			e.At = ev.At
		}
		if e.Kind == Call || strings.TrimSpace(e.Text) != "" {
			l.add(e)
		}
	}
}

// finishPart returns the entry of a complete part: the streamed one, the first time.
func (l *Log) finishPart(grown map[Kind]*Entry, kind Kind, text string) *Entry {
	e := grown[kind]
	delete(grown, kind)
	if e == nil {
		return &Entry{Kind: kind, Text: text}
	}
	same := e.streamed.String() == text
	e.Text, e.Streaming = text, false
	if !same || kind == Reasoning {
		e.rendered = rendered{}
	}
	e.streamed.Reset()
	e.changed()
	return e
}
