package pawl

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/strictjson"
)

// Seq numbers the events of one session from 1, without gaps. 0 is "before the first".
type Seq int64

// Event is one thing that happened in a session.
//
// A durable event is in the log and has a Seq. An unsaved one (see [Body]) is
// only on the bus, for people who watch, and its Seq is 0.
type Event struct {
	Session SessionID
	Seq     Seq
	Turn    int // the turn it belongs to, from 1; 0 outside of turns
	At      time.Time
	Body    Body
}

// Body is the fact that an event records, in the past tense. The set is closed
// and kept short; docs/events.md describes each.
//
//sumtype:decl
type Body interface{ kind() Kind }

// Kind names a body's type in JSON and in the store.
type Kind string

// KindOf returns the body's kind.
func KindOf(b Body) Kind { return b.kind() }

// EncodeBody returns the stored form of the event's body: its kind, the version of its
// JSON schema, and its JSON.
func (e Event) EncodeBody() (kind Kind, version int, data []byte, err error) {
	b := e.Body
	k, ok := kinds[b.kind()]
	if !ok {
		return "", 0, nil, fmt.Errorf("encode event: unknown kind %q", b.kind())
	}
	data, err = strictjson.Encode(b)
	if err != nil {
		return "", 0, nil, fmt.Errorf("encode %s: %w", b.kind(), err)
	}
	return b.kind(), k.version, data, nil
}

// Decode reads a body of this kind that [Event.EncodeBody] of this or an older pawl wrote. Older shapes
// are brought up to date step by step; unknown kinds, newer versions and stray
// keys are errors, because a log that is half understood must not be acted on.
func (k Kind) Decode(version int, data []byte) (Body, error) {
	known, ok := kinds[k]
	switch {
	case !ok:
		return nil, fmt.Errorf("decode event: unknown kind %q: written by a newer pawl? upgrade to read it", k)
	case version > known.version:
		return nil, fmt.Errorf("decode %s: version %d is newer than %d, the one this pawl knows: upgrade to read it", k, version, known.version)
	case version < 1:
		return nil, fmt.Errorf("decode %s: version %d: %w", k, version, ErrInvalid)
	}
	for v := version; v < known.version; v++ {
		var err error
		if data, err = known.upcasts[v-1](data); err != nil {
			return nil, fmt.Errorf("decode %s: bring version %d to %d: %w", k, v, v+1, err)
		}
	}
	b, err := known.decode(data)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", k, err)
	}
	return b, nil
}

// Durable reports whether bodies of this kind belong in the log.
func (k Kind) Durable() bool { return kinds[k].durable }

// Kinds returns every kind that this version of pawl knows.
func Kinds() []Kind {
	list := make([]Kind, 0, len(kinds))
	for k := range kinds {
		list = append(list, k)
	}
	return list
}

// upcast turns one version of a body's JSON into the next.
type upcast func(json.RawMessage) (json.RawMessage, error)

// kind is what is known of a body type. upcasts[i] leads from version i+1 to i+2.
type kind struct {
	version int
	durable bool
	upcasts []upcast
	decode  func([]byte) (Body, error)
}

// durable describes a body of the log whose shape has changed once per upcast.
func durable[B Body](upcasts ...upcast) kind {
	return kind{version: len(upcasts) + 1, durable: true, upcasts: upcasts, decode: decodeBodyAs[B]}
}

// unsaved describes a body that is only on the bus.
func unsaved[B Body]() kind { return kind{version: 1, decode: decodeBodyAs[B]} }

func decodeBodyAs[B Body](data []byte) (Body, error) {
	var b B
	err := strictjson.Decode(data, &b)
	return b, err
}

// eventJSON is an event's stable form outside of the store: exports, streams, HTTP.
type eventJSON struct {
	Version int             `json:"v"`
	Session SessionID       `json:"session"`
	Seq     Seq             `json:"seq,omitempty"`
	Turn    int             `json:"turn,omitempty"`
	At      time.Time       `json:"at"`
	Type    Kind            `json:"type"`
	Body    json.RawMessage `json:"body"`
}

// MarshalJSON writes the event with its type and the version of its body.
func (e Event) MarshalJSON() ([]byte, error) {
	kind, version, body, err := e.EncodeBody()
	if err != nil {
		return nil, err
	}
	return strictjson.Encode(eventJSON{version, e.Session, e.Seq, e.Turn, e.At, kind, body})
}

// UnmarshalJSON reads what MarshalJSON of this or an older pawl wrote; see [Kind.Decode].
func (e *Event) UnmarshalJSON(data []byte) error {
	var j eventJSON
	if err := strictjson.Decode(data, &j); err != nil {
		return fmt.Errorf("decode event: %w", err)
	}
	body, err := j.Type.Decode(j.Version, j.Body)
	if err != nil {
		return err
	}
	*e = Event{j.Session, j.Seq, j.Turn, j.At, body}
	return nil
}
