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

// Change is what events do to a session's row, in a form that a store can apply
// without reading the row first: nil leaves a column, numbers are added.
type Change struct {
	Parent   *SessionID
	Owner    *User
	Shared   *[]User
	Dir      *string
	Title    *string
	Prompt   *string // sets the column only while it is empty
	Model    *string
	Turns    int
	TurnOpen *bool
	Queued   int
	Usage    Usage
	Mission  *MissionState
	Created  *time.Time
	Updated  *time.Time
}

// maxPromptColumn bounds the first prompt's copy in the row, in bytes.
const maxPromptColumn = 300

// ChangeOf returns what the events do to their session's row.
func ChangeOf(events []Event) Change {
	var c Change
	for _, e := range events {
		touched := true
		switch b := e.Body.(type) {
		case SessionCreated:
			c.Parent, c.Owner, c.Dir, c.Created = &b.Parent, &b.Owner, &b.Dir, &e.At
		case SessionShared:
			c.Shared = &b.With
			touched = false
		case SessionTitled:
			c.Title = &b.Title
			c.Usage = c.Usage.Add(b.Usage)
		case SessionSummarized:
			c.Usage = c.Usage.Add(b.Usage)
			touched = false
		case CompactionAsked, RevertAsked, ShellAsked:
			c.Queued++
		case Reverted, ShellRan:
			c.Queued--
		case Compacted:
			c.Usage = c.Usage.Add(b.Usage)
			if b.Asked != 0 {
				c.Queued--
			}
			touched = b.Asked != 0
		case Prompted:
			if c.Prompt == nil || *c.Prompt == "" { // as Apply does
				text := cutText(b.Parts.Text(), maxPromptColumn)
				c.Prompt = &text
			}
			c.Model = &b.Model
			c.Queued++
		case Withdrawn:
			c.Queued--
		case TurnStarted:
			open := true
			c.TurnOpen = &open
			c.Turns++
			c.Queued--
		case TurnFinished:
			open := false
			c.TurnOpen = &open
		case Injected:
			if b.Prompt != 0 {
				c.Queued--
			}
		case Replied:
			c.Usage = c.Usage.Add(b.Usage)
			touched = false
		case MissionStarted, Planned, Delegated, TaskStarted, TaskMerged, TaskReturned, GateResult:
			c.Mission = ptr(MissionWorking)
		case Sealed:
			c.Mission = ptr(MissionSealed)
		case Blocked:
			c.Mission = ptr(MissionBlocked)
		case CriteriaFrozen, CheckRan, ReviewStarted, Reviewed, Reworded, ReplyStarted, Retried, CallStarted, CallFinished, Asked, Answered, TodosSet, ModeChanged, Spawned, ShellStarted, Delta, Progress, Status:
			touched = false
		}
		if touched {
			c.Updated = &e.At
		}
	}
	return c
}

// Apply makes the change to a row.
func (s *Session) Apply(c Change) {
	set(&s.Parent, c.Parent)
	set(&s.Owner, c.Owner)
	set(&s.Shared, c.Shared)
	set(&s.Dir, c.Dir)
	set(&s.Title, c.Title)
	if s.Prompt == "" {
		set(&s.Prompt, c.Prompt)
	}
	set(&s.Model, c.Model)
	s.Turns += c.Turns
	set(&s.TurnOpen, c.TurnOpen)
	s.Queued += c.Queued
	s.Usage = s.Usage.Add(c.Usage)
	set(&s.Mission, c.Mission)
	set(&s.Created, c.Created)
	set(&s.Updated, c.Updated)
}

func ptr[T any](v T) *T { return &v }

func set[T any](dst, src *T) {
	if src != nil {
		*dst = *src
	}
}

// cutText returns the longest prefix of at most n bytes that ends between runes.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
