package runner

import (
	"errors"
	"time"

	"github.com/pawl-dev/pawl"
)

// The results of a trip, and of what is done with a workspace, to who watches.
const (
	resultOK    = "ok"
	resultWaits = "waits" // for a person
	resultStop  = "stop"  // the turn ends: canceled, over a budget, refused
	resultMoved = "moved" // the workspace is another host's
	resultFull  = "full"  // the host has no room
	resultError = "error" // it is tried again
)

// What is done with a workspace.
const (
	spaceSave    = "save"    // it had changed
	spaceLook    = "look"    // it had not
	spaceRestore = "restore" // brought from its checkpoint: it comes from another host, or comes back
	spaceFetch   = "fetch"   // begun as a repository
)

func resultOf(out StepResult, err error) string {
	var stop *pawl.Stop
	switch {
	case err == nil && out.Waits:
		return resultWaits
	case err == nil:
		return resultOK
	case errors.As(err, &stop):
		return resultStop
	case errors.Is(err, errMoved), errors.Is(err, pawl.ErrConflict):
		return resultMoved
	case errors.Is(err, errFull):
		return resultFull
	}
	return resultError
}

// told tells who watches what was done with a workspace.
func (s *Workspaces) told(kind string, began time.Time, bytes int64, err error) {
	if s.Observe == nil {
		return
	}
	if err != nil {
		bytes = 0
	}
	s.Observe(kind, resultOf(StepResult{}, err), time.Since(began), bytes)
}
