package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
)

// askNotifications are the kind and the text of the notification for each kind of ask.
var askNotifications = map[pawl.AskKind]struct{ kind, text string }{
	pawl.AskPermission: {"permission_prompt", "Pawl needs your permission to use %s"},
	pawl.AskQuestion:   {"elicitation_dialog", "Pawl has a question (%s)"},
	pawl.AskPlan:       {"elicitation_dialog", "Pawl has a plan and asks to start (%s)"},
	pawl.AskLoop:       {"elicitation_dialog", "Pawl asks whether to continue: the %s is repeating itself"},
}

// notifyAsk runs the notification hooks for a new ask, right after it was logged. A
// resumed ask runs none.
func (h toolSession) notifyAsk(ctx context.Context, call pawl.CallID, kind pawl.AskKind) {
	n, tool := askNotifications[kind], "turn"
	if call != "" {
		tool = h.call(call).Call.Name
	}
	h.s.notify(ctx, h.j, h.j.settings(), n.kind, fmt.Sprintf(n.text, tool))
}

// notify runs the notification hooks, unless the session runs unattended.
func (s *Stepper) notify(ctx context.Context, j *journal, settings pawl.Settings, kind, text string) {
	if settings.Absent {
		return
	}
	j.mu.Lock()
	turn := j.history.Turns()
	j.mu.Unlock()
	_, err := s.runHooks(ctx, j, settings, hook.Event{Point: hook.Notification, Turn: turn, Source: kind, Message: text})
	if err != nil && ctx.Err() == nil {
		s.notice(j, turn, err.Error())
	}
}

// endHooksTimeout bounds the hooks that nobody can cancel any more, because the turn or
// the process has ended.
const endHooksTimeout = 10 * time.Second

// notifyEnd runs the notification hooks when a turn has ended and pawl waits for the
// user, unless the user has canceled it.
func (s *Stepper) notifyEnd(ctx context.Context, j *journal, settings pawl.Settings, stop Stop) {
	if stop.Reason == pawl.ReasonCanceled || j.history.Created().Parent != "" || len(j.history.Waiting()) > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endHooksTimeout)
	defer cancel()
	s.notify(ctx, j, settings, "idle_prompt", endText(j.history.Mission(), stop))
}

// endText says why pawl waits for the user.
func endText(m *pawl.Mission, stop Stop) string {
	switch {
	case m != nil && m.Sealed != nil:
		return "Pawl is waiting for you: the mission is sealed"
	case m != nil && m.Blocked != nil && m.Blocked.State == pawl.MissionPlanned:
		return "Pawl is waiting for you: the plan of the mission waits for approval"
	case m != nil && m.Blocked != nil && m.Blocked.State == pawl.MissionPaused:
		return "Pawl is waiting for you: the mission is paused"
	case m != nil && m.Blocked != nil:
		return "Pawl is waiting for you: the mission is blocked: " + m.Blocked.Reason
	default:
		return fmt.Sprintf("Pawl is waiting for you: the turn ended (%s)", stop.Reason)
	}
}
