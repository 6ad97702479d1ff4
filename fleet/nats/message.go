package nats

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
)

// A message is a JSON list of events of one session. A number in it is a notice:
// the log has grown to that Seq.

// root is where the subjects begin.
const root = "pawl.ev."

// subject is where a session's events go. An id is letters and digits; whatever
// else might come is written so that it is one token and no wildcard.
func subject(id pawl.SessionID) string {
	var b strings.Builder
	b.WriteString(root)
	for i := range len(id) {
		c := id[i]
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	return b.String()
}

// join makes one delta of those that continue each other. A reply comes in many
// small pieces, and the wrapping of each is larger than its text.
func join(events []pawl.Event) []pawl.Event {
	joined := make([]pawl.Event, 0, len(events))
	for i := 0; i < len(events); {
		n := continued(events[i:])
		joined = append(joined, merge(events[i:i+n]))
		i += n
	}
	return joined
}

// maxJoined bounds the text of a delta that was joined, so that it fits in a message.
const maxJoined = maxMessage / 16

// continued returns how many events, the first and those after it, are one text.
func continued(events []pawl.Event) int {
	first, ok := events[0].Body.(pawl.Delta)
	if !ok {
		return 1
	}
	end := first.Offset + len(first.Text)
	for n, e := range events[1:] {
		d, ok := e.Body.(pawl.Delta)
		if !ok || d.Reply != first.Reply || d.Channel != first.Channel || d.Offset != end || end-first.Offset > maxJoined {
			return n + 1
		}
		end += len(d.Text)
	}
	return len(events)
}

// merge makes one event of deltas that continue each other.
func merge(events []pawl.Event) pawl.Event {
	e := events[0]
	if len(events) == 1 {
		return e
	}
	var text strings.Builder
	d := e.Body.(pawl.Delta)
	for _, e := range events {
		text.WriteString(e.Body.(pawl.Delta).Text)
	}
	d.Text = text.String()
	e.Body = d
	return e
}

// pack writes events into messages of at most limit bytes. A durable event that
// is too large becomes a notice, an unsaved one is lost.
func pack(events []pawl.Event, limit int) (messages [][]byte, lost int) {
	var open []byte
	for _, e := range events {
		data, err := e.MarshalJSON()
		if err != nil || len(data)+2 > limit {
			if e.Seq == 0 {
				lost++
				continue
			}
			data = strconv.AppendInt(nil, int64(e.Seq), 10)
		}
		if len(open)+len(data)+2 > limit {
			messages = append(messages, append(open, ']'))
			open = nil
		}
		if open == nil {
			open = append(open, '[')
		} else {
			open = append(open, ',')
		}
		open = append(open, data...)
	}
	if open != nil {
		messages = append(messages, append(open, ']'))
	}
	return messages, lost
}

// unpack reads a message. An error means that it is not known what it told of.
func unpack(id pawl.SessionID, message []byte) ([]pawl.Event, error) {
	var items []json.RawMessage
	if err := json.Unmarshal(message, &items); err != nil {
		return nil, err
	}
	events := make([]pawl.Event, 0, len(items))
	for _, item := range items {
		e := pawl.Event{Session: id}
		var err error
		if item[0] == '{' {
			err = e.UnmarshalJSON(item)
		} else {
			err = json.Unmarshal(item, &e.Seq)
		}
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}
