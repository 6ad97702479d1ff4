package turn

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// silenceEvery is how often silenceNotice reports that the model is silent.
const silenceEvery = 20 * time.Second

// silenceNotice prints a message when the model has been silent for a while. It ends nothing: the model clients have
// timeouts.
type silenceNotice struct {
	mu    sync.Mutex
	out   io.Writer
	since time.Time // time of the last output; zero if no reply is expected
	timer *time.Timer
}

// event starts, restarts or stops the timer.
func (w *silenceNotice) event(b pawl.Body) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch b.(type) {
	case pawl.ReplyStarted, pawl.Delta, pawl.Retried:
		w.since = time.Now()
		if w.timer == nil {
			w.timer = time.AfterFunc(silenceEvery, w.print)
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

// print prints how long the model has been silent and restarts the timer.
func (w *silenceNotice) print() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.since.IsZero() || w.timer == nil {
		return
	}
	silent := time.Since(w.since)
	if silent >= silenceEvery {
		fmt.Fprintf(w.out, "pawl: no output from the model for %s\n", humanize.Duration(silent.Round(time.Second)))
		silent = 0
	}
	w.timer.Reset(silenceEvery - silent)
}
