package chat

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/transcript"
	"github.com/pawl-dev/pawl/internal/transcript/transcripttest"
)

// recorded returns the events of a log file.
func recorded(t *testing.T, path string) []pawl.Event {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var events []pawl.Event
	for line := range bytes.Lines(data) {
		var e pawl.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// itemsOf returns the items that a log shows, in order, and fails if an entry is not
// where its item belongs.
func itemsOf(t rapid.TB, l *Log) []transcript.Item {
	t.Helper()
	var list []transcript.Item
	for id, e := range l.byID {
		if e.ID != id {
			t.Fatalf("%s is shown as %s", e.ID, id)
		}
		if l.placed(e.Item) != slices.Contains(l.entries, e) {
			t.Fatalf("%s is at the wrong place", id)
		}
		list = append(list, *e.Item)
	}
	slices.SortFunc(list, transcript.Compare)
	var order []transcript.Item
	for _, e := range l.entries {
		order = append(order, *e.Item)
	}
	if !slices.IsSortedFunc(order, transcript.Compare) {
		t.Fatalf("the entries are not in order: %v", order)
	}
	return list
}

// stopped shows a log, with a clock that does not go.
func stopped(l *Log) *View {
	v := NewView(l, themes["plain"])
	v.now = time.Unix(0, 0)
	v.Resize(80, 24)
	return v
}

// checkItems checks that a log shows the items of a transcript after each event, and
// that nothing of what it draws is out of date.
func checkItems(t rapid.TB, events []pawl.Event) {
	t.Helper()
	tr, l := transcript.New(), NewLog()
	v := stopped(l)
	for i, e := range events {
		tr.Apply(e)
		l.Apply(e)
		if diff := cmp.Diff(tr.Items(), itemsOf(t, l), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("after event %d (%T): transcript -, log +\n%s", i, e.Body, diff)
		}
		fresh := NewLog()
		fresh.Read(events[:i+1])
		if diff := cmp.Diff(text(all(stopped(fresh))), text(all(v))); diff != "" {
			t.Fatalf("after event %d (%T): drawn anew -, drawn before +\n%s", i, e.Body, diff)
		}
	}
}

// TestItems: whatever happens in a session, the conversation shows the items of the
// transcript, after each event.
func TestItems(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"../../../../testdata/events.golden.jsonl", "../../../agent/testdata/session.golden.jsonl"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			checkItems(t, recorded(t, path))
		})
	}
	for name, events := range transcripttest.Recorded(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkItems(t, events)
		})
	}
	for name, build := range samples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tl := newEventBuilder()
			build(tl)
			checkItems(t, tl.events)
		})
	}
	t.Run("random", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) { checkItems(t, transcripttest.Log(t)) })
	})
}

// TestPages: a log that is read page by page, from the end, has the same items as one
// that is read at once.
func TestPages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events := slices.DeleteFunc(transcripttest.Log(t), func(e pawl.Event) bool { return e.Seq == 0 }) // no page has them
		tr := transcript.New()
		tr.Load(events)
		live := rapid.IntRange(0, len(events)).Draw(t, "live")
		first := rapid.IntRange(0, live).Draw(t, "first")
		l := NewLog()
		l.Read(events[first:live])
		for _, e := range events[live:] {
			l.Apply(e)
		}
		for first > 0 {
			next := max(0, first-7)
			l.Prepend(events[next:first])
			first = next
		}
		if diff := cmp.Diff(tr.Items(), itemsOf(t, l), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("transcript -, log +\n%s", diff)
		}
	})
}

// TestPrependLive: an older page does not change what is streamed at the end, nor what
// the user opened.
func TestPrependLive(t *testing.T) {
	t.Parallel()
	tl := newEventBuilder()
	tl.turn(1)
	older := len(tl.events)
	lost := tl.add(pawl.ReplyStarted{Step: 1})
	tl.add(pawl.Delta{Reply: lost, Channel: pawl.ChannelText, Text: "never "}, pawl.Delta{Reply: lost, Channel: pawl.ChannelText, Offset: 6, Text: "completed"})
	tl.add(pawl.TurnFinished{Reason: pawl.ReasonCanceled})
	tl.call("c1", "bash", `{"command":"make"}`, "", pawl.Result{})
	tl.add(pawl.Progress{Call: "c1", Text: "cc a.c\n"}, pawl.Progress{Call: "c1", Text: "cc b.c\n"})
	reply := tl.add(pawl.ReplyStarted{Step: 2})
	tl.add(pawl.Delta{Reply: reply, Channel: pawl.ChannelReasoning, Text: "one "}, pawl.Delta{Reply: reply, Channel: pawl.ChannelReasoning, Offset: 4, Text: "two"})
	tl.add(pawl.Delta{Reply: reply, Channel: pawl.ChannelText, Text: "It "}, pawl.Delta{Reply: reply, Channel: pawl.ChannelText, Offset: 3, Text: "grows"})
	tr, l := transcript.New(), NewLog()
	tr.Load(tl.events)
	for _, e := range tl.events[older:] {
		l.Apply(e)
	}
	v := stopped(l)
	v.Select(-1)
	v.Toggle()
	selected := v.Selected()
	l.Prepend(tl.events[:older])
	if diff := cmp.Diff(tr.Items(), itemsOf(t, l), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("transcript -, log +\n%s", diff)
	}
	if l.byID[selected.ID] != selected || selected.Open == nil || len(l.running) != 1 {
		t.Errorf("the entry is another one, or folded: %+v; %d run", selected, len(l.running))
	}
	l.Apply(pawl.Event{Body: pawl.Delta{Reply: reply, Channel: pawl.ChannelText, Offset: 8, Text: " on"}})
	if got := l.LastReply(); got != "It grows on" {
		t.Errorf("the reply goes on as %q", got)
	}
}
