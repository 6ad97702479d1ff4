package pawl

import (
	"strings"
	"time"
)

// SessionID is a ULID: sortable by time, safe in paths and URLs.
type SessionID string

// Valid reports whether the id has the form of a ULID.
func (id SessionID) Valid() bool {
	if len(id) != 26 {
		return false
	}
	return strings.IndexFunc(string(id), func(r rune) bool {
		return !strings.ContainsRune("0123456789ABCDEFGHJKMNPQRSTVWXYZ", r)
	}) < 0
}

// State is whether a session has work.
type State string

// The states. A session that is not idle and that no process works on was
// interrupted and can be resumed.
const (
	StateIdle    State = "idle"
	StateQueued  State = "queued"  // a prompt was accepted, no turn is open
	StateRunning State = "running" // a turn is open

	// For [Filter.State]; [Session.State] does not return them.
	StateAsking State = "asking" // running, and a question or permission prompt has no answer
	StateFailed State = "failed" // idle, and the newest turn ended with an error
)

// Session is the summary of a session that lists show. The store updates it in the
// same transaction as the log.
type Session struct {
	ID       SessionID    `json:"id"`
	Parent   SessionID    `json:"parent,omitempty"`
	Owner    User         `json:"owner,omitempty"`  // "" is the local user
	Shared   []User       `json:"shared,omitempty"` // users who may read it
	Dir      string       `json:"dir"`
	Title    string       `json:"title"`  // "" until there is one
	Prompt   string       `json:"prompt"` // the beginning of the first prompt
	Model    string       `json:"model"`  // of the newest prompt
	Agent    string       `json:"agent"`  // of the newest prompt; "" means the default agent
	Mode     string       `json:"mode"`   // the permission mode
	Last     string       `json:"last"`   // the last line of the newest reply
	Head     Seq          `json:"head"`   // the newest event
	Turns    int          `json:"turns"`
	TurnOpen bool         `json:"turn_open"`
	TurnAt   Seq          `json:"turn_at"`         // the TurnStarted event of the newest turn
	Ended    Reason       `json:"ended,omitempty"` // how the newest turn ended; "" while it is open
	Asks     int          `json:"asks"`            // questions and permission prompts without an answer
	Queued   int          `json:"queued"`          // prompts and requests that were accepted and not yet processed
	Usage    Usage        `json:"usage"`           // including its subagents
	Created  time.Time    `json:"created"`
	Mission  MissionState `json:"mission,omitempty"` // of a mission's Commander: the recorded state; "" for other sessions
	Updated  time.Time    `json:"updated"`           // time of the newest prompt, ask, answer, title or turn change
	Match    *Match       `json:"match,omitempty"`   // in a list with Filter.Search: what was found
}

// State returns whether the session has work.
func (s Session) State() State {
	switch {
	case s.TurnOpen:
		return StateRunning
	case s.Queued > 0:
		return StateQueued
	default:
		return StateIdle
	}
}

// MissionState returns the state of the mission that the session commands, or "" if
// it commands none.
func (s Session) MissionState() MissionState {
	switch idle := s.State() == StateIdle; {
	case s.Mission == MissionWorking && idle:
		return MissionStopped
	case (s.Mission == MissionPlanned || s.Mission == MissionPaused) && !idle:
		return MissionWorking // a prompt continues it
	default:
		return s.Mission
	}
}

// Name returns the title or, without one, the first line of the first prompt.
func (s Session) Name() string {
	if s.Title != "" {
		return s.Title
	}
	line, _, _ := strings.Cut(strings.TrimSpace(s.Prompt), "\n")
	return line
}
