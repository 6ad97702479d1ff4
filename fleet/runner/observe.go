package runner

import (
	"errors"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
)

// The results reported to Observe.
const (
	resultOK    = "ok"
	resultWaits = "waits" // waits for a person
	resultStop  = "stop"  // the turn ends: canceled, over budget or refused
	resultMoved = "moved" // another host has the workspace
	resultFull  = "full"  // the host's disk is full
	resultError = "error" // the step is retried
)

// The kinds of workspace operations reported to Workspaces.Observe.
const (
	spaceSave    = "save"    // a checkpoint was saved
	spaceLook    = "look"    // nothing had changed
	spaceRestore = "restore" // restored from a checkpoint, from another host or after an eviction
	spaceFetch   = "fetch"   // cloned from a repository
)

func resultOf(out StepResult, err error) string {
	var stop *agent.Stop
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

// observe reports an operation on a workspace to Observe.
func (s *Workspaces) observe(kind string, began time.Time, bytes int64, err error) {
	if s.Observe == nil {
		return
	}
	if err != nil {
		bytes = 0
	}
	s.Observe(kind, resultOf(StepResult{}, err), time.Since(began), bytes)
}
