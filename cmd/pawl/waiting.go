package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
)

// waitingEvery is how often a person is told that the model is silent.
const waitingEvery = 20 * time.Second

// waiting tells a person that the model has not said anything for a while. The
// clients give up on a silent provider by themselves.
type waiting struct {
	mu    sync.Mutex
	out   io.Writer
	since time.Time // the last word; zero while no reply is awaited
	timer *time.Timer
}

// event takes note of what was heard.
func (w *waiting) event(b pawl.Body) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch b.(type) {
	case pawl.ReplyStarted, pawl.Delta, pawl.Retried:
		w.since = time.Now()
		if w.timer == nil {
			w.timer = time.AfterFunc(waitingEvery, w.tell)
		}
	case pawl.Replied, pawl.TurnFinished:
		w.since = time.Time{}
		if w.timer != nil {
			w.timer.Stop()
			w.timer = nil
		}
	default: // not about a reply
	}
}

// tell says how long it has been, and comes back.
func (w *waiting) tell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.since.IsZero() || w.timer == nil {
		return
	}
	silent := time.Since(w.since)
	if silent >= waitingEvery {
		fmt.Fprintf(w.out, "pawl: no word from the model for %s\n", silent.Round(time.Second))
		silent = 0
	}
	w.timer.Reset(waitingEvery - silent)
}
