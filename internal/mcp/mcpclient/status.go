package mcpclient

import "slices"

// State is the state of a server.
type State string

// The states.
const (
	Starting   State = "starting"
	Ready      State = "ready"
	Failed     State = "failed" // it is retried for a while; see Status.Why
	NeedsLogin State = "needs login"
	Disabled   State = "disabled"
)

// Status describes a server for people. All of it is safe to show.
type Status struct {
	Name      string
	Transport string
	State     State
	Why       string   // why it is not ready
	PID       int      // of its program; 0 if it does not run
	Log       string   // the end of its program's standard error
	Tools     []string // with the names that the model uses
	Changed   []Change // tools whose descriptions have changed
	LeftOut   []Fault  // tools, prompts and resources that are not offered
	Prompts   int
	Resources int
}

// Change is a tool whose description has changed and that has not been allowed
// since. The model has the previous description, and the next call asks for
// permission, whatever the rules say.
type Change struct {
	Tool     string // with the name that the model uses
	Old, New string // the fingerprints
}

// Status returns the status of the servers of a directory, sorted by name. It
// starts nothing.
func (s *Servers) Status(dir string) []Status {
	var all []Status
	for _, l := range s.of(dir) {
		status, _ := l.status()
		all = append(all, status)
	}
	return all
}

// status returns the status and a channel that is closed when it changes.
func (l *link) status() (Status, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	status := Status{
		Name: l.server.Name, Transport: l.server.Transport, State: l.state, Why: l.why, Log: l.log,
		LeftOut: slices.Clone(l.faults), Prompts: len(l.prompts), Resources: len(l.resources),
	}
	if p := l.program; p != nil {
		status.PID, status.Log = p.process.PID(), p.stderr.String()
	}
	for _, t := range l.tools {
		status.Tools = append(status.Tools, t.public)
		if old := l.known[t.raw]; old != nil && old.print != t.print {
			status.Changed = append(status.Changed, Change{Tool: t.public, Old: old.print, New: t.print})
		}
	}
	return status, l.news
}
