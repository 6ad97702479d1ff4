package fakeprovider

import (
	"fmt"
	"net/http"
	"time"

	"github.com/pawl-dev/pawl/internal/model/script"
)

// exchange answers one request.
type exchange struct {
	w     http.ResponseWriter
	r     *http.Request
	d     dialect
	req   request
	delay time.Duration // before each piece and each call
	sent  int           // bytes of the body
}

// answer logs the request and sends the reply or the fault.
func (x *exchange) answer(rec *Record, reply script.Reply, log func(Record)) {
	if !x.req.stream {
		rec.Fault = rec.Fault.unstreamed()
	}
	f, failed := rec.Fault.failure(rec.Protocol)
	switch {
	case failed:
		rec.Status = f.status
	case rec.Fault.Kind != KindDropFirst:
		rec.Status = http.StatusOK
	}
	if log != nil {
		log(*rec)
	}
	switch {
	case failed:
		x.fail(f, rec.Fault)
	case rec.Fault.Kind == KindDropFirst:
		panic(http.ErrAbortHandler)
	default:
		x.send(x.events(newAnswer(rec.Position, reply, rec.Fault)), rec.Fault)
	}
}

// fail sends an error instead of a reply.
func (x *exchange) fail(f failure, fault Fault) {
	body, kind := fault.Body, "application/json"
	switch {
	case body != "":
	case f.status == http.StatusBadGateway && f.message == "": // a 502 never comes from the provider itself but from a proxy
		body, kind = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n", "text/html"
	default:
		body = x.d.failure(f)
	}
	if fault.RetryAfter != "" {
		x.w.Header().Set("Retry-After", fault.RetryAfter)
	}
	x.w.Header().Set("Content-Type", kind)
	x.w.WriteHeader(f.status)
	fmt.Fprint(x.w, body)
}

func (x *exchange) events(a answer) []event {
	if x.req.stream {
		x.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		x.w.Header().Set("Cache-Control", "no-cache")
		return x.d.events(x.req, a)
	}
	x.w.Header().Set("Content-Type", "application/json")
	return []event{{markFrame, x.d.whole(x.req, a)}}
}

// send sends the events until the fault occurs.
func (x *exchange) send(events []event, f Fault) {
	at := middle(events, f.Kind)
	for i, e := range events {
		if i == at && x.strike(i, e, f) {
			return
		}
		if i == at && f.Kind == KindMalformed || e.mark == markEnd && f.Kind == KindNoEnd {
			continue
		}
		if e.mark == markReasoning || e.mark == markText || e.mark == markCall {
			x.wait(x.delay)
		}
		x.write(e.frame, f)
	}
}

// strike simulates the fault at its place in the stream, and reports whether that ends it.
func (x *exchange) strike(i int, e event, f Fault) bool {
	switch f.Kind {
	case KindDrop:
		panic(http.ErrAbortHandler)
	case KindDropInCall:
		x.write(e.frame[:len(e.frame)/3], f)
		panic(http.ErrAbortHandler)
	case KindHang:
		x.hang()
	case KindMalformed:
		x.write(e.frame[:len(e.frame)*2/3]+"\n\n", f)
		return false
	case KindStreamError, KindOverflowLate:
		for _, e := range x.d.failureEvents(i, failure{status: statusOverloaded, overflow: f.Kind == KindOverflowLate}) {
			x.write(e.frame, f)
		}
		return true
	default:
	}
	return false
}

// middle returns the index of the event where a fault occurs: the middle of the text or, for drop_in_call, of a
// call's arguments. Without one, it is the start.
func middle(events []event, k Kind) int {
	marks := []mark{markText}
	if k == KindDropInCall {
		marks = []mark{markArguments, markCall} // Gemini sends calls as a whole
	}
	for _, m := range marks {
		var places []int
		for i, e := range events {
			if e.mark == m {
				places = append(places, i)
			}
		}
		if len(places) > 0 {
			return places[len(places)/2]
		}
	}
	return 0
}

// write sends text at once, or as the fault requires.
func (x *exchange) write(text string, f Fault) {
	switch f.Kind {
	case KindDribble:
		for i := range len(text) {
			x.flush(text[i : i+1])
			x.wait(f.pause())
		}
	case KindSilence:
		x.flush(text[:min(len(text), f.N-x.sent)])
		if x.sent == f.N {
			x.hang()
		}
	default:
		x.flush(text)
	}
}

// flush sends text, and ends the exchange if the client has disconnected.
func (x *exchange) flush(text string) {
	n, err := fmt.Fprint(x.w, text)
	x.sent += n
	if err != nil || http.NewResponseController(x.w).Flush() != nil {
		panic(http.ErrAbortHandler)
	}
}

// wait pauses, and ends the exchange if the client disconnects.
func (x *exchange) wait(d time.Duration) {
	if d == 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-x.r.Context().Done():
		panic(http.ErrAbortHandler)
	case <-timer.C:
	}
}

// hang sends nothing more until the client disconnects.
func (x *exchange) hang() {
	x.flush("") // send the headers
	<-x.r.Context().Done()
	panic(http.ErrAbortHandler)
}
