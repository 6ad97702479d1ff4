package httpapi

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// bodyCounts counts the bytes of request bodies that are being received or processed. A
// body takes several times its size in memory, so without a bound a few large ones at
// once could take all of it.
type bodyCounts struct {
	perToken, total int64 // the limits
	mu              sync.Mutex
	held            map[string]int64 // by tenant and token
	all             int64
}

// take counts n more bytes of a principal, or returns an error if that exceeds a limit.
func (c *bodyCounts) take(p api.Principal, n int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := bodyKey(p)
	switch {
	case c.held[key]+n > c.perToken:
		return bodyLimit("the token", c.perToken)
	case c.all+n > c.total:
		return bodyLimit("the server", c.total)
	}
	if c.held == nil {
		c.held = map[string]int64{}
	}
	c.held[key] += n
	c.all += n
	return nil
}

// release ends the count of n bytes.
func (c *bodyCounts) release(p api.Principal, n int64) {
	if n == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := bodyKey(p)
	c.all -= n
	if c.held[key] -= n; c.held[key] <= 0 {
		delete(c.held, key)
	}
}

func bodyKey(p api.Principal) string { return string(p.Tenant) + "/" + p.LimitKey() }

func bodyLimit(whose string, limit int64) error {
	return &api.LimitError{
		What:  fmt.Sprintf("too many large requests at once: %s allows %s of request bodies in progress", whose, humanize.IBytes(limit)),
		After: time.Second,
	}
}

// countedBody is the body of a request. Its bytes are counted: all of them at the
// start if the request says how many there are, else as they arrive.
type countedBody struct {
	io.ReadCloser
	counts  *bodyCounts
	who     api.Principal
	counted int64
	open    bool // the size is unknown
}

// countBody counts the body of a request that says that it has n bytes, -1 if it does
// not say. The caller must call done when the request has been handled.
func (c *bodyCounts) countBody(p api.Principal, body io.ReadCloser, n int64) (*countedBody, error) {
	b := &countedBody{ReadCloser: body, counts: c, who: p, open: n < 0}
	if n > 0 {
		if err := c.take(p, n); err != nil {
			return nil, err
		}
		b.counted = n
	}
	return b, nil
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.open && n > 0 {
		if err := b.counts.take(b.who, int64(n)); err != nil {
			return 0, err
		}
		b.counted += int64(n)
	}
	return n, err
}

func (b *countedBody) done() { b.counts.release(b.who, b.counted) }
