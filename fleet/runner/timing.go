package runner

import (
	"cmp"
	"time"
)

// The bounds that do not depend on how soon a lost host is noticed.
const (
	stepTimeout = 6 * time.Hour // for one step, which may wait for subagents
	patience    = time.Hour     // of failures in a row; then the turn is left open, to be resumed
	soonest     = 100 * time.Millisecond
	latest      = 5 * time.Second // between two tries
)

// DefaultHostTimeout is how long a host may be silent before its sessions move to
// another one.
const DefaultHostTimeout = 10 * time.Second

// timing holds the timeouts by which the parts of a fleet notice that another one
// is gone.
type timing struct {
	place     time.Duration // to find the host of a workspace
	decide    time.Duration // for a workflow task, which takes milliseconds
	start     time.Duration // for a host to start a step
	heartbeat time.Duration // between two heartbeats of a step
	sticky    time.Duration // for the worker that has the workflow in memory to continue it
	beat      time.Duration // between two heartbeats of a host

	adoptEvery time.Duration // between two looks for sessions that nobody works on
	adoptAge   time.Duration // a session counts as such when nothing has happened for this long
}

// timingFor returns timeouts for a fleet that takes a host for lost after it was
// silent for hostTimeout; 0 means DefaultHostTimeout.
func timingFor(hostTimeout time.Duration) timing {
	t := cmp.Or(hostTimeout, DefaultHostTimeout)
	return timing{
		place: t, decide: t / 2, start: t * 4 / 5, heartbeat: t, sticky: t / 5, beat: t / 5,
		adoptEvery: t * 3 / 2, adoptAge: t * 6,
	}
}
