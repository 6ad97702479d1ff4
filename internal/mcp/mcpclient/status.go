package mcpclient

import "slices"

// State says how a server fares.
type State string

// The states.
const (
	Starting   State = "starting"
	Ready      State = "ready"
	Failed     State = "failed" // it is tried again for a while; see Status.Why
	NeedsLogin State = "needs login"
	Disabled   State = "disabled"
)

// Status is what people are told of a server. All of it is safe to show.
type Status struct {
	Name      string
	Transport string
	State     State
	Why       string   // it is not ready
	PID       int      // of its program; 0 if there is none
	Log       string   // the end of what its program printed to its standard error
	Tools     []string // the names by which the model knows them
	Changed   []Change // tools that say something else of themselves than they did
	LeftOut   []Fault  // tools, prompts and resources that are not offered
	Prompts   int
	Resources int
}

// Change is a tool that has changed and that nobody has permitted since. The
// model is told what it said before, and its next call is asked for, whatever
// the rules say.
type Change struct {
	Tool     string // the name by which the model knows it
	Old, New string // the fingerprints
}

// Status returns how the servers of a directory fare, in the order of their names.
// It starts nothing.
func (s *Servers) Status(dir string) []Status {
	var all []Status
	for _, l := range s.of(dir) {
		status, _ := l.status()
		all = append(all, status)
	}
	return all
}

// status returns it, and a channel that is closed when it changes.
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
