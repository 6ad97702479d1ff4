// Package transcript derives from events what front ends show of a session.
package transcript

import (
	"slices"

	"github.com/pawl-dev/pawl"
)

// Writes collects the paths that successful tool calls wrote to. Files that commands
// changed are not included. The zero value is ready to use.
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
		for _, path := range w.planned[b.Call] {
			if !b.Result.IsError && !slices.Contains(w.paths, path) {
				w.paths = append(w.paths, path)
			}
		}
		delete(w.planned, b.Call)
	default: // writes nothing
	}
}

// Paths returns the paths in the order of their first change.
func (w *Writes) Paths() []string { return slices.Clone(w.paths) }
