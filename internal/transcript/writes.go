// Package transcript turns the events of a session into the items that front ends show.
package transcript

import (
	"slices"

	"github.com/pawl-dev/pawl"
)

// writes collects the paths that successful tool calls and commands changed.
type writes struct {
	paths   []string
	planned map[pawl.CallID][]string
}

// add processes the next event body of the log.
func (w *writes) add(b pawl.Body) {
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
			w.addPaths(w.planned[b.Call])
		}
		w.addPaths(b.Result.Changed)
		delete(w.planned, b.Call)
	default: // writes nothing
	}
}

func (w *writes) addPaths(paths []string) {
	for _, path := range paths {
		if !slices.Contains(w.paths, path) {
			w.paths = append(w.paths, path)
		}
	}
}
