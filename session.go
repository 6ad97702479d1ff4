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

// State says whether a session has work.
type State string

// The states. A session that is not idle and that nobody works on was
// interrupted and can be resumed.
const (
	StateIdle    State = "idle"
	StateQueued  State = "queued"  // a prompt was accepted, no turn is open
	StateRunning State = "running" // a turn is open
)

// Session is the row that lists show: a projection of the log, written in the
// same transaction as the events.
type Session struct {
	ID       SessionID    `json:"id"`
	Parent   SessionID    `json:"parent,omitempty"`
	Owner    User         `json:"owner,omitempty"`  // whose it is; "" is the one who runs pawl
	Shared   []User       `json:"shared,omitempty"` // who may read it too
	Dir      string       `json:"dir"`
	Title    string       `json:"title"`  // "" until titled
	Prompt   string       `json:"prompt"` // the first prompt's beginning
	Model    string       `json:"model"`  // of the newest prompt
	Head     Seq          `json:"head"`   // the newest event
	Turns    int          `json:"turns"`
	TurnOpen bool         `json:"turn_open"`
	Queued   int          `json:"queued"` // prompts and orders accepted and not yet taken in
	Usage    Usage        `json:"usage"`
	Created  time.Time    `json:"created"`
	Mission  MissionState `json:"mission,omitempty"` // of a mission's Commander: where it is; "" for all others
	Updated  time.Time    `json:"updated"`           // when a prompt, title or turn last moved it
}

// State derives whether the session has work.
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

// MissionState is where the mission is that the session commands, "" if it has none.
func (s Session) MissionState() MissionState {
	if s.Mission == MissionWorking && s.State() == StateIdle {
		return MissionStopped
	}
	return s.Mission
}

// Name is the title or, without one, the first prompt's first line.
func (s Session) Name() string {
	if s.Title != "" {
		return s.Title
	}
	line, _, _ := strings.Cut(strings.TrimSpace(s.Prompt), "\n")
	return line
}
