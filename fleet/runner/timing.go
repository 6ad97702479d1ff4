package runner

import (
	"cmp"
	"time"
)

// Bounds that do not depend on the host timeout.
const (
	stepTimeout  = 6 * time.Hour // for one step, which may wait for subagents
	retryTimeout = time.Hour     // how long a step is retried; then the turn stays open, to be resumed
	minBackoff   = 100 * time.Millisecond
	maxBackoff   = 5 * time.Second // between two attempts
)

// DefaultHostTimeout is how long a host may miss heartbeats before its sessions move to another one.
const DefaultHostTimeout = 10 * time.Second

// timing holds the timeouts by which the parts of a fleet notice that another part has failed.
type timing struct {
	place         time.Duration // to find the host of a workspace
	decide        time.Duration // for a workflow task, which takes milliseconds
	start         time.Duration // for a host to start a step
	heartbeat     time.Duration // between two heartbeats of a step
	sticky        time.Duration // for the worker that has the workflow in memory to continue it
	hostHeartbeat time.Duration // between two heartbeats of a host

	adoptEvery time.Duration // between two scans of the Adopter
	adoptAge   time.Duration // a session is adopted when nothing has happened in it for this long
}

// timingFor returns the timeouts for a fleet that considers a host lost after hostTimeout without a heartbeat; 0 means
// DefaultHostTimeout.
func timingFor(hostTimeout time.Duration) timing {
	t := cmp.Or(hostTimeout, DefaultHostTimeout)
	return timing{
		place: t, decide: t / 2, start: t * 4 / 5, heartbeat: t, sticky: t / 5, hostHeartbeat: t / 5,
		adoptEvery: t * 3 / 2, adoptAge: t * 6,
	}
}
