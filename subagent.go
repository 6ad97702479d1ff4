package pawl

import "fmt"

// Subagent returns the subagent session that the event announces: that of a task
// tool call, or a worker or reviewer of a mission. ok is false for other events.
// A subagent may ask the user something before its parent continues.
func (e Event) Subagent() (s Spawned, ok bool) {
	switch b := e.Body.(type) {
	case Spawned:
		return b, true
	case TaskStarted:
		return Spawned{Subagent: b.Worker, Agent: "worker", Title: b.Task, Background: true}, true
	case ReviewStarted:
		return Spawned{Subagent: b.Reviewer, Agent: "reviewer", Title: fmt.Sprintf("review of round %d", b.Round), Background: true}, true
	default:
		return Spawned{}, false
	}
}
