package httpapi

import (
	"strconv"
	"sync"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/weak"
)

// The bounds of what is kept of events as text.
const (
	maxEncoded     = 512      // events
	maxEncodedSize = 64 << 10 // bytes of one; a larger one is written anew for each
)

// encoded keeps the newest events as they are written to streams: many who watch
// one session are shown the same.
type encoded struct {
	mu    sync.Mutex
	texts map[encodedKey]*encodedText
	order [maxEncoded]encodedKey // of texts, around and around
	next  int
}

// encodedKey is an event. A session that was deleted and brought again has other
// times.
type encodedKey struct {
	session pawl.SessionID
	seq     pawl.Seq
	at      int64
	delta   pawl.Delta // of an unsaved event, which has no number
}

type encodedText struct {
	once sync.Once
	text []byte
	err  error
}

// of returns an event as it is written to a stream. The text is not to be changed.
func (c *encoded) of(e pawl.Event) ([]byte, error) {
	key := encodedKey{session: e.Session, seq: e.Seq, at: e.At.UnixNano()}
	if e.Seq == 0 {
		delta, ok := e.Body.(pawl.Delta)
		if !ok {
			return encode(e) // seldom
		}
		key.delta = delta
	}
	if weak.On("server.shared") {
		key = encodedKey{seq: e.Seq}
	}
	entry := c.entry(key)
	entry.once.Do(func() { entry.text, entry.err = encode(e) })
	if len(entry.text) > maxEncodedSize {
		c.forget(key)
	}
	return entry.text, entry.err
}

// entry returns the one of a key, in the place of the oldest if it is new.
func (c *encoded) entry(key encodedKey) *encodedText {
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry, ok := c.texts[key]; ok {
		return entry
	}
	if c.texts == nil {
		c.texts = make(map[encodedKey]*encodedText, maxEncoded)
	}
	delete(c.texts, c.order[c.next])
	entry := &encodedText{}
	c.texts[key], c.order[c.next] = entry, key
	c.next = (c.next + 1) % maxEncoded
	return entry
}

func (c *encoded) forget(key encodedKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.texts, key)
}

// encode writes an event for a stream, with its number if it has one.
func encode(e pawl.Event) ([]byte, error) {
	text, err := e.MarshalJSON()
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(text)+32)
	if e.Seq > 0 {
		out = append(strconv.AppendInt(append(out, "id: "...), int64(e.Seq), 10), '\n')
	}
	out = append(append(out, "data: "...), text...) // JSON has no line's end
	return append(out, "\n\n"...), nil
}
