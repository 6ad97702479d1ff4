package lineui

import (
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// work is what the user waits for.
type work struct {
	turn   bool // a turn is running
	since  time.Time
	items  map[string]bool   // prompts that the model has not read yet, and commands that have not finished
	orders map[pawl.Seq]bool // undos, redos and compactions of this process that have no result yet
}

func newWork() work { return work{items: map[string]bool{}, orders: map[pawl.Seq]bool{}} }

// open reports whether there is a turn, a prompt or a command to wait for.
func (w *work) open() bool { return w.turn || len(w.items) > 0 }

// event updates the work for an event and what it changed.
func (w *work) event(e pawl.Event, c transcript.Change) {
	w.update(c.Items)
	for _, id := range c.Removed {
		delete(w.items, id)
	}
	switch b := e.Body.(type) {
	case pawl.TurnStarted:
		w.turn, w.since = true, e.At
	case pawl.TurnFinished:
		w.turn = false
	case pawl.Compacted:
		delete(w.orders, b.Asked)
	case pawl.Undone:
		delete(w.orders, b.Asked)
	case pawl.Status:
		if b.State == "interrupted" {
			*w = newWork()
		}
	default: // no effect on the work
	}
}

// update updates the work for changed items.
func (w *work) update(items []transcript.Item) {
	for _, it := range items {
		if it.Kind != transcript.KindUser && (it.Kind != transcript.KindCall || !it.Call.User) {
			continue
		}
		delete(w.items, it.ID)
		if it.State == transcript.StateWaiting || it.State == transcript.StateRunning {
			w.items[it.ID] = true
		}
	}
}
