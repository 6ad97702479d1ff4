package pawl

import "slices"

// Writes collects the paths that calls wrote to, apart from what commands did.
// The zero value is ready.
type Writes struct {
	paths   []string
	planned map[CallID][]string
}

// Add takes in what a body says of them.
func (w *Writes) Add(b Body) {
	switch b := b.(type) {
	case CallStarted:
		for _, a := range b.Access {
			if a.Kind != AccessWrite {
				continue
			}
			if w.planned == nil {
				w.planned = map[CallID][]string{}
			}
			w.planned[b.Call] = append(w.planned[b.Call], a.Target)
		}
	case CallFinished:
		for _, path := range w.planned[b.Call] {
			if !b.Result.IsError && !slices.Contains(w.paths, path) {
				w.paths = append(w.paths, path)
			}
		}
		delete(w.planned, b.Call)
	default: // writes nothing
	}
}

// Paths returns them in the order of their first change.
func (w *Writes) Paths() []string { return slices.Clone(w.paths) }
