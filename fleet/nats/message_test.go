package nats

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
)

// anyEvents draws events of a session as a bus sends them.
func anyEvents(rt *rapid.T) []pawl.Event {
	var events []pawl.Event
	seq, offset := pawl.Seq(1), 0
	for range rapid.IntRange(1, 20).Draw(rt, "events") {
		e := pawl.Event{Session: id, At: time.Unix(1_700_000_000, 0).UTC()}
		text := strings.Repeat("<ü", rapid.IntRange(0, 60).Draw(rt, "length"))
		switch rapid.IntRange(0, 5).Draw(rt, "kind") {
		case 0:
			e.Body = pawl.Progress{Call: "call_1_1", Text: text}
		case 1:
			seq++
			e.Seq, e.Body = seq, pawl.SessionTitled{Title: text}
		case 2:
			offset++ // a piece is missing
			fallthrough
		default:
			channel := rapid.SampledFrom([]pawl.Channel{pawl.ChannelText, pawl.ChannelText, pawl.ChannelReasoning}).Draw(rt, "channel")
			e.Body = pawl.Delta{Reply: 1, Channel: channel, Offset: offset, Text: text}
			offset += len(text)
		}
		events = append(events, e)
	}
	return events
}

// TestPack checks that events are unpacked in the order in which they were packed, and that no message exceeds the
// limit: durable events that are too large become notices, and only live ones are lost.
func TestPack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		events := anyEvents(rt)
		limit := rapid.IntRange(100, 1000).Draw(rt, "limit")
		messages, lost := pack(events, limit)
		var got []pawl.Event
		for _, m := range messages {
			if len(m) > limit {
				rt.Fatalf("a message of %d bytes, want at most %d", len(m), limit)
			}
			some, err := unpack(id, m)
			if err != nil {
				rt.Fatal(err)
			}
			got = append(got, some...)
		}
		var want []pawl.Event
		for _, e := range events {
			data, err := e.MarshalJSON()
			switch {
			case err != nil:
				rt.Fatal(err)
			case len(data)+2 <= limit:
				want = append(want, e)
			case e.Seq > 0:
				want = append(want, pawl.Event{Session: id, Seq: e.Seq})
			default:
				lost--
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || lost != 0 {
			rt.Fatalf("%d more lost than too large; %s", lost, diff)
		}
	})
}

// TestJoin checks that a merged delta has the text and the offset of its parts, and that other events stay unchanged.
func TestJoin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		events := anyEvents(rt)
		if diff := cmp.Diff(pieces(events), pieces(join(events))); diff != "" {
			rt.Fatal(diff)
		}
	})
}

// pieces splits deltas into single bytes.
func pieces(events []pawl.Event) []pawl.Event {
	var cut []pawl.Event
	for _, e := range events {
		d, ok := e.Body.(pawl.Delta)
		if !ok {
			cut = append(cut, e)
			continue
		}
		for i := range len(d.Text) {
			e.Body = pawl.Delta{Reply: d.Reply, Channel: d.Channel, Offset: d.Offset + i, Text: d.Text[i : i+1]}
			cut = append(cut, e)
		}
	}
	return cut
}

// TestJoinFits checks that a long reply needs few messages, none of which is too large.
func TestJoinFits(t *testing.T) {
	t.Parallel()
	var events []pawl.Event
	for i := range 40_000 {
		events = append(events, pawl.Event{Session: id, Body: pawl.Delta{Reply: 1, Offset: 5 * i, Text: "\x00\x01\x02\x03 "}})
	}
	messages, lost := pack(join(events), maxMessage)
	if lost > 0 || len(messages) > 40 {
		t.Errorf("%d messages, %d lost; want at most 40 and none", len(messages), lost)
	}
	if all := bytes.Join(messages, nil); bytes.Count(all, []byte(`"delta"`)) > 100 {
		t.Error("the deltas were not joined")
	}
}
