package chat

import (
	"testing"

	"github.com/pawl-dev/pawl"
)

// What was missed of a reply is noticed once, and the draft fills it in.
func TestMissed(t *testing.T) {
	t.Parallel()
	l := NewLog()
	l.Apply(pawl.Event{Seq: 1, Turn: 1, Body: pawl.ReplyStarted{Step: 1}})
	delta := func(offset int, text string) {
		l.Apply(pawl.Event{Turn: 1, Body: pawl.Delta{Reply: 1, Channel: pawl.ChannelText, Offset: offset, Text: text}})
	}
	delta(4, "more")
	if !l.Missed() || l.Missed() {
		t.Fatal("it is not noticed, or not once")
	}
	l.Join(pawl.Draft{Reply: 1, Text: "all more"})
	delta(8, " and on")
	if l.Missed() {
		t.Error("something is missed still")
	}
	entries := l.Entries()
	if len(entries) != 1 || entries[0].Text != "all more and on" {
		t.Errorf("the reply is %v", entries)
	}
}
