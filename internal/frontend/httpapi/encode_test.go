package httpapi

import (
	"bytes"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
)

// What is kept is what would be written anew, of this very event.
func TestEncodedIsTheEvent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var c eventCache
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			e := pawl.Event{
				Session: rapid.SampledFrom([]pawl.SessionID{"01JD0000000000000000000000", "01JD0000000000000000000001"}).Draw(t, "session"),
				Seq:     pawl.Seq(rapid.IntRange(0, 5).Draw(t, "seq")),
				At:      time.Unix(int64(rapid.IntRange(0, 1).Draw(t, "at")), 0).UTC(),
			}
			text := rapid.SampledFrom([]string{"a", "b", string(make([]byte, maxCachedSize))}).Draw(t, "text")
			switch {
			case e.Seq > 0: // the log has one event of a number
				e.Body = pawl.SessionTitled{Title: string(e.Session) + e.At.String()}
			case text == "b":
				e.Body = pawl.Progress{Text: text}
			default:
				e.Body = pawl.Delta{Offset: len(text), Text: text}
			}
			want, err := encodeEvent(e)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.encode(e)
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%.200q: %v, want %.200q", got, err, want)
			}
		}
	})
}

// Not more is kept than there is space for, and nothing that is large.
func TestEncodedHasABound(t *testing.T) {
	t.Parallel()
	var c eventCache
	for seq := range pawl.Seq(3 * maxCachedEvents) {
		if _, err := c.encode(pawl.Event{Seq: seq + 1, Body: pawl.SessionTitled{Title: "x"}}); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.entries) != maxCachedEvents {
		t.Errorf("%d are kept", len(c.entries))
	}
	large := pawl.Event{Seq: 1, Body: pawl.SessionTitled{Title: string(make([]byte, maxCachedSize))}}
	if _, err := c.encode(large); err != nil {
		t.Fatal(err)
	}
	for key, entry := range c.entries {
		if len(entry.text) > maxCachedSize {
			t.Errorf("%+v has %d bytes", key, len(entry.text))
		}
	}
}
