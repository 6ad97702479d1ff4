// Package transcript turns the events of a session into the items that front ends show.
package transcript

import (
	"slices"

	"github.com/pawl-dev/pawl"
)

// Writes collects the paths that successful tool calls and commands changed. The zero
// value is ready to use.
type Writes struct {
	paths   []string
	planned map[pawl.CallID][]string
}

// Add processes the next event body of the log.
func (w *Writes) Add(b pawl.Body) {
	switch b := b.(type) {
	case pawl.CallStarted:
		for _, a := range b.Access {
			if a.Kind != pawl.AccessWrite {
				continue
			}
			if w.planned == nil {
				w.planned = map[pawl.CallID][]string{}
			}
			w.planned[b.Call] = append(w.planned[b.Call], a.Target)
		}
	case pawl.CallFinished:
		if !b.Result.IsError {
			w.add(w.planned[b.Call])
		}
		w.add(b.Result.Changed)
		delete(w.planned, b.Call)
	default: // writes nothing
	}
}

func (w *Writes) add(paths []string) {
	for _, path := range paths {
		if !slices.Contains(w.paths, path) {
			w.paths = append(w.paths, path)
		}
	}
}

// Paths returns the paths in the order of their first change.
func (w *Writes) Paths() []string { return slices.Clone(w.paths) }
