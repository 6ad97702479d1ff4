package pawl

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// Seq numbers the events of a session from 1, without gaps. 0 means before the
// first event.
type Seq int64

// Event records one thing that happened in a session.
//
// A durable event is in the log and has a Seq. An unsaved one (see [Kind.Durable])
// is only sent to current readers, and its Seq is 0.
type Event struct {
	Session SessionID
	Seq     Seq
	Turn    int // the turn it belongs to, from 1; 0 outside of turns
	At      time.Time
	Body    Body
}

// Body is what an event records. The set of types is closed; docs/events.md
// describes each.
//
//sumtype:decl
type Body interface{ kind() Kind }

// Kind names the type of a body in JSON and in the store.
type Kind string

// KindOf returns the kind of a body.
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

// Decode decodes a body of this kind that [Event.EncodeBody] of this or an older
// version wrote. Older versions are upgraded step by step. Unknown kinds, newer
// versions and unknown keys are errors, because a log that is only half understood
// must not be acted on.
func (k Kind) Decode(version int, data []byte) (Body, error) {
	known, ok := kinds[k]
	switch {
	case !ok:
		return nil, fmt.Errorf("decode event: unknown kind %q: it was written by a newer version of Pawl", k)
	case version > known.version:
		return nil, fmt.Errorf("decode %s: version %d is newer than %d, the newest that this version of Pawl knows", k, version, known.version)
	case version < 1:
		return nil, fault.New(ErrInvalid, "decode %s: invalid version %d", k, version)
	}
	for v := version; v < known.version; v++ {
		var err error
		if data, err = known.upcasts[v-1](data); err != nil {
			return nil, fmt.Errorf("decode %s: upgrade version %d to %d: %w", k, v, v+1, err)
		}
	}
	b, err := known.decode(data)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", k, err)
	}
	return b, nil
}

// Durable reports whether events of this kind are stored in the log.
func (k Kind) Durable() bool { return kinds[k].durable }

// Kinds returns all kinds, in no particular order.
func Kinds() []Kind {
	list := make([]Kind, 0, len(kinds))
	for k := range kinds {
		list = append(list, k)
	}
	return list
}

// upcast upgrades the JSON of a body by one version.
type upcast func(json.RawMessage) (json.RawMessage, error)

// kind describes a body type. upcasts[i] upgrades version i+1 to i+2.
type kind struct {
	version int
	durable bool
	upcasts []upcast
	decode  func([]byte) (Body, error)
}

// durable describes a body of the log whose JSON changed once per upcast.
func durable[B Body](upcasts ...upcast) kind {
	return kind{version: len(upcasts) + 1, durable: true, upcasts: upcasts, decode: decodeBodyAs[B]}
}

// unsaved describes a body that is not stored.
func unsaved[B Body]() kind { return kind{version: 1, decode: decodeBodyAs[B]} }

func decodeBodyAs[B Body](data []byte) (Body, error) {
	var b B
	err := strictjson.Decode(data, &b)
	return b, err
}

// eventJSON is the JSON of an event outside the store: in exports, streams and
// HTTP.
type eventJSON struct {
	Version int             `json:"v"`
	Session SessionID       `json:"session"`
	Seq     Seq             `json:"seq,omitempty"`
	Turn    int             `json:"turn,omitempty"`
	At      time.Time       `json:"at"`
	Type    Kind            `json:"type"`
	Body    json.RawMessage `json:"body"`
}

// MarshalJSON encodes the event with the kind and version of its body.
func (e Event) MarshalJSON() ([]byte, error) {
	kind, version, body, err := e.EncodeBody()
	if err != nil {
		return nil, err
	}
	return strictjson.Encode(eventJSON{version, e.Session, e.Seq, e.Turn, e.At, kind, body})
}

// UnmarshalJSON decodes an event of this or an older version; see [Kind.Decode].
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
