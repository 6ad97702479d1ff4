package hook

import (
	"context"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
)

// maxActive is the maximum number of sessions that are remembered.
const maxActive = 1000

// Activity records when users last sent prompts. It is safe for concurrent
// use. Now is the clock; nil means time.Now.
type Activity struct {
	Now func() time.Time

	mu       sync.Mutex
	sessions map[pawl.SessionID]Active
}

// Active is a user's activity in a session.
type Active struct {
	Last    time.Time // time of the latest prompt
	Prompts int
}

// Of returns the activity of a session; the zero value means unknown.
func (a *Activity) Of(id pawl.SessionID) Active {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sessions[id]
}

// note counts a prompt. If there are too many sessions, the least recently
// active is forgotten.
func (a *Activity) note(id pawl.SessionID) {
	now := time.Now
	if a.Now != nil {
		now = a.Now
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sessions == nil {
		a.sessions = map[pawl.SessionID]Active{}
	}
	if _, known := a.sessions[id]; !known && len(a.sessions) == maxActive {
		var oldest pawl.SessionID
		for other, active := range a.sessions {
			if oldest == "" || active.Last.Before(a.sessions[oldest].Last) {
				oldest = other
			}
		}
		delete(a.sessions, oldest)
	}
	a.sessions[id] = Active{Last: now(), Prompts: a.sessions[id].Prompts + 1}
}

// UserActivity returns a hook that updates an Activity. Prompts of subagents
// do not count.
func UserActivity(a *Activity) Hook {
	h := Hook{Name: "user-activity", Priority: PriorityEarly, Points: []Point{ChatMessage, SessionEnd}}
	h.Match = func(e Event) bool { return e.Parent == "" }
	if a != nil {
		h.Run = func(_ context.Context, e Event) (Outcome, error) {
			if e.Point == ChatMessage {
				a.note(e.Session)
				return Outcome{}, nil
			}
			a.mu.Lock()
			defer a.mu.Unlock()
			delete(a.sessions, e.Session)
			return Outcome{}, nil
		}
	}
	return h
}
