package tool

import (
	"fmt"
	"strings"
	"sync"
)

// output keeps the head and the tail of what is written to it, within a limit,
// and shows it as it comes.
type output struct {
	limit    int
	progress func(string)

	mu      sync.Mutex
	head    []byte
	tail    []byte // a ring of limit/2 bytes once it is full
	next    int    // where the ring goes on
	dropped int64
}

// Write never fails and never keeps more than the limit.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, half := len(p), o.limit/2
	o.progress(strings.ToValidUTF8(string(p), "\uFFFD"))
	if room := half - len(o.head); room > 0 {
		k := min(room, len(p))
		o.head = append(o.head, p[:k]...)
		p = p[k:]
	}
	if len(p) > half {
		o.dropped += int64(len(p) - half)
		p = p[len(p)-half:]
	}
	k := min(half-len(o.tail), len(p))
	o.tail = append(o.tail, p[:k]...)
	for p = p[k:]; len(p) > 0; p = p[k:] {
		k = copy(o.tail[o.next:], p)
		o.next = (o.next + k) % half
		o.dropped += int64(k)
	}
	return n, nil
}

// String is what was written, with a mark where the middle was dropped.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var b strings.Builder
	b.Write(o.head)
	if o.dropped > 0 {
		fmt.Fprintf(&b, "\n… %d bytes dropped …\n", o.dropped)
	}
	b.Write(o.tail[o.next:])
	b.Write(o.tail[:o.next])
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}
