package pawl

import "fmt"

// SubagentOf returns the subagent that a body announces, as Spawned does: a task's or, of
// a mission, a worker or a reviewer. It may ask something before its parent goes on.
func SubagentOf(b Body) (c Spawned, ok bool) {
	switch b := b.(type) {
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
