package httpapi

import (
	"strconv"
	"sync"

	"github.com/pawl-dev/pawl"
)

// Limits of the event cache.
const (
	maxCachedEvents = 512
	maxCachedSize   = 64 << 10 // bytes of one event; larger ones are encoded for each stream
)

// eventCache caches encoded events, because many clients may watch the same session.
type eventCache struct {
	mu      sync.Mutex
	entries map[eventKey]*cachedEvent
	order   [maxCachedEvents]eventKey // keys in the order of insertion, as a ring
	oldest  int
}

// eventKey identifies an event. The time distinguishes a session that was deleted and
// imported again.
type eventKey struct {
	session pawl.SessionID
	seq     pawl.Seq
	at      int64
	delta   pawl.Delta // of a delta, which is not in the log and has no number
}

type cachedEvent struct {
	once sync.Once
	text []byte
	err  error
}

// encode returns an event as it is sent to a stream. The caller must not modify the
// result.
func (c *eventCache) encode(e pawl.Event) ([]byte, error) {
	key := eventKey{session: e.Session, seq: e.Seq, at: e.At.UnixNano()}
	if e.Seq == 0 {
		delta, ok := e.Body.(pawl.Delta)
		if !ok {
			return encodeEvent(e) // rare
		}
		key.delta = delta
	}
	entry := c.entry(key)
	entry.once.Do(func() { entry.text, entry.err = encodeEvent(e) })
	if len(entry.text) > maxCachedSize {
		c.remove(key)
	}
	return entry.text, entry.err
}

// entry returns the entry of a key. A new one replaces the oldest.
func (c *eventCache) entry(key eventKey) *cachedEvent {
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry, ok := c.entries[key]; ok {
		return entry
	}
	if c.entries == nil {
		c.entries = make(map[eventKey]*cachedEvent, maxCachedEvents)
	}
	delete(c.entries, c.order[c.oldest])
	entry := &cachedEvent{}
	c.entries[key], c.order[c.oldest] = entry, key
	c.oldest = (c.oldest + 1) % maxCachedEvents
	return entry
}

func (c *eventCache) remove(key eventKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, key)
}

// encodeEvent encodes an event as a server-sent event, with its Seq as the id if it
// has one.
func encodeEvent(e pawl.Event) ([]byte, error) {
	text, err := e.MarshalJSON()
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(text)+32)
	if e.Seq > 0 {
		out = append(strconv.AppendInt(append(out, "id: "...), int64(e.Seq), 10), '\n')
	}
	out = append(append(out, "data: "...), text...) // JSON contains no line breaks
	return append(out, "\n\n"...), nil
}
