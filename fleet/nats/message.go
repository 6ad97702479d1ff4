package nats

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
)

// A message is a JSON list of events of one session. A number in it is a notice: the log has grown to that Seq.

// root is the prefix of all subjects.
const root = "pawl.ev."

// subject returns the subject of a session's events. Ids consist of letters and digits; other bytes are
// escaped, so that the subject is a single token without wildcards.
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

// join merges consecutive deltas. A reply consists of many small ones, whose overhead is larger than their
// text.
func join(events []pawl.Event) []pawl.Event {
	joined := make([]pawl.Event, 0, len(events))
	for i := 0; i < len(events); {
		n := continued(events[i:])
		joined = append(joined, merge(events[i:i+n]))
		i += n
	}
	return joined
}

// maxJoined bounds the text of a merged delta, so that it fits in a message.
const maxJoined = maxMessage / 16

// continued returns how many of the first events are one text.
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

// merge merges consecutive deltas into one event.
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

// pack encodes events as messages of at most limit bytes. A durable event that is too large becomes a notice;
// others are lost.
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

// unpack decodes a message.
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
