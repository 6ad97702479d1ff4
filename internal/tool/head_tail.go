package tool

// ends keeps the beginning and the end of what is written to it, half of its
// capacity each.
type ends struct {
	half    int
	head    []byte
	tail    []byte // a ring buffer once it is full
	next    int    // write position in the ring
	dropped int64  // bytes between head and tail
}

// Write never fails.
func (e *ends) Write(p []byte) (int, error) {
	n := len(p)
	if space := e.half - len(e.head); space > 0 {
		k := min(space, len(p))
		e.head = append(e.head, p[:k]...)
		p = p[k:]
	}
	if len(p) > e.half {
		e.dropped += int64(len(p) - e.half)
		p = p[len(p)-e.half:]
	}
	k := min(e.half-len(e.tail), len(p))
	e.tail = append(e.tail, p[:k]...)
	for p = p[k:]; len(p) > 0; p = p[k:] {
		k = copy(e.tail[e.next:], p)
		e.next = (e.next + k) % e.half
		e.dropped += int64(k)
	}
	return n, nil
}

// last returns a copy of the tail, in order.
func (e *ends) last() []byte {
	tail := make([]byte, 0, len(e.tail))
	return append(append(tail, e.tail[e.next:]...), e.tail[:e.next]...)
}
