package hook

import "context"

// Finding is what a detector makes of how a turn goes. The zero value is fine.
type Finding struct {
	Word string // for the model, or why the turn is stopped
	Stop bool
}

// SanityCheck looks whether a turn still makes sense: after each call, and when
// the model is done. A word goes to the model, at the end of a turn only if nothing
// has kept it going before; a turn that is beyond words is stopped.
func SanityCheck(detect func(Event) Finding) Hook {
	h := Hook{Name: "sanity-check", Priority: PriorityGuard, Points: []Point{ToolAfter, AssistantDone}}
	if detect != nil {
		h.Run = func(_ context.Context, e Event) (Outcome, error) {
			switch f := detect(e); {
			case f.Stop:
				return Outcome{Stop: true, StopReason: f.Word}, nil
			case f.Word == "" || e.StopBlocks > 0:
				return Outcome{}, nil
			case e.Point == AssistantDone:
				return Outcome{Continue: true, Injection: f.Word}, nil
			default:
				return Outcome{Context: []string{f.Word}}, nil
			}
		}
	}
	return h
}
