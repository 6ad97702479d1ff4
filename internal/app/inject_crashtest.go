//go:build crashtest

package app

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// injection is an event that is written to a session's log, as if by another process, once the log
// has Count events of the kind After: a queued or steering prompt, or a change to an earlier prompt.
// An injection with Await writes nothing: appends wait until the log has an event of that kind.
type injection struct {
	After  pawl.Kind `json:"after"`
	Count  int       `json:"count"`
	Queue  string    `json:"queue"`
	Steer  string    `json:"steer"`
	Reword string    `json:"reword"`
	Prompt int       `json:"prompt"` // number of the prompt to change, from 1; without Reword it is withdrawn
	Await  pawl.Kind `json:"await"`
	Own    bool      `json:"own"` // with Await: wait only if this process wrote the event After
}

func parseInjections(list string) []injection {
	var injections []injection
	if err := json.Unmarshal([]byte(list), &injections); err != nil {
		panic(err)
	}
	return injections
}

// injectingStore writes the injections that are due before each append. It derives them from the
// log, so that a resumed process writes the same events as one that was not killed, each once.
type injectingStore struct {
	store.Store
	injections []injection

	mu    sync.Mutex
	wrote map[pawl.Seq]bool
}

func (s *injectingStore) Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error) {
	for _, w := range s.injections {
		do := s.inject
		if w.Await != "" {
			do = s.await
		}
		if w.Await != "" && isBackground(events) {
			continue
		}
		if err := do(ctx, id, w); err != nil {
			return nil, err
		}
	}
	stored, err := s.Store.Append(ctx, id, after, events...)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range stored {
		s.wrote[e.Seq] = true
	}
	return stored, err
}

// isBackground reports whether events are titles or summaries, which are written in the background.
func isBackground(events []pawl.Event) bool {
	return slices.ContainsFunc(events, func(e pawl.Event) bool {
		switch e.Body.(type) {
		case pawl.SessionTitled, pawl.SessionSummarized:
			return true
		default:
			return false
		}
	})
}

// await waits until the awaited event is in the log.
func (s *injectingStore) await(ctx context.Context, id pawl.SessionID, w injection) error {
	for {
		var since pawl.Seq // of the event that made it due
		there, count := false, 0
		for e, err := range s.Events(ctx, id, 0) {
			if errors.Is(err, pawl.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			if pawl.KindOf(e.Body) == w.After {
				if count++; count == w.Count {
					since = e.Seq
				}
			}
			there = there || since > 0 && pawl.KindOf(e.Body) == w.Await
		}
		s.mu.Lock()
		due := since > 0 && (!w.Own || s.wrote[since])
		s.mu.Unlock()
		if !due || there {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func (s *injectingStore) inject(ctx context.Context, id pawl.SessionID, w injection) error {
	row, err := s.Session(ctx, id)
	if err != nil || row.Parent != "" {
		if errors.Is(err, pawl.ErrNotFound) {
			err = nil
		}
		return err
	}
	var events []pawl.Event
	var prompts []pawl.Seq
	due := 0
	for e, err := range s.Events(ctx, id, 0) {
		if err != nil {
			return err
		}
		events = append(events, e)
		if pawl.KindOf(e.Body) == w.After {
			due++
		}
		if _, ok := e.Body.(pawl.Prompted); ok {
			prompts = append(prompts, e.Seq)
		}
	}
	if due < w.Count || w.Prompt > len(prompts) || slices.ContainsFunc(events, w.said(prompts)) {
		return nil
	}
	_, err = s.Store.Append(ctx, id, row.Head, pawl.Event{At: time.Now(), Body: w.body(prompts, row.Model)})
	if errors.Is(err, pawl.ErrConflict) {
		return nil // retried before the next append
	}
	return err
}

// body returns the event to write.
func (w injection) body(prompts []pawl.Seq, model string) pawl.Body {
	text := func(s string) pawl.Parts { return pawl.Parts{pawl.Text{Text: s}} }
	settings := pawl.Settings{Model: model, Mode: "yolo", Absent: true}
	switch {
	case w.Steer != "":
		return pawl.Prompted{Parts: text(w.Steer), Delivery: pawl.DeliverSteer, Settings: settings}
	case w.Queue != "":
		return pawl.Prompted{Parts: text(w.Queue), Delivery: pawl.DeliverQueue, Settings: settings}
	case w.Reword != "":
		return pawl.Reworded{Prompt: prompts[w.Prompt-1], Parts: text(w.Reword)}
	default:
		return pawl.Withdrawn{Prompt: prompts[w.Prompt-1]}
	}
}

// said returns a function that reports whether an event is the one that w writes.
func (w injection) said(prompts []pawl.Seq) func(pawl.Event) bool {
	return func(e pawl.Event) bool {
		switch b := e.Body.(type) {
		case pawl.Prompted:
			return b.Parts.Text() == w.Steer+w.Queue
		case pawl.Reworded:
			return b.Parts.Text() == w.Reword
		case pawl.Withdrawn:
			return w.Prompt > 0 && w.Reword == "" && b.Prompt == prompts[w.Prompt-1]
		default:
			return false
		}
	}
}
