package hook

import "context"

// Finding is the result of a detector of stuck turns. The zero value means no
// problem.
type Finding struct {
	Word string // a text for the model, or why the turn is stopped
	Stop bool
}

// SanityCheck returns a hook that checks whether a turn still makes progress,
// after each call and when the model is done. A text goes to the model; at the
// end of a turn only if nothing has continued it before. A turn that cannot be
// helped is stopped.
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
