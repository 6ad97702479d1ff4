package store

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
)

// Change is the effect of events on a session's row, in a form that a store can
// apply without reading the row: nil leaves a column unchanged, numbers are added.
type Change struct {
	Parent   *pawl.SessionID
	Owner    *pawl.User
	Shared   *[]pawl.User
	Dir      *string
	Title    *string
	Prompt   *string // set only while the column is empty
	Model    *string
	Agent    *string
	Mode     *string
	Last     *string
	Turns    int
	TurnOpen *bool
	TurnAt   *pawl.Seq
	Ended    *pawl.Reason
	NoAsks   bool // all earlier asks are closed
	Asks     int
	Queued   int
	Usage    pawl.Usage
	Mission  *pawl.MissionState
	Created  *time.Time
	Updated  *time.Time
}

// QuietKinds lists the events that do not change Session.Updated: what happens within a
// turn, and what a user does not see as work on the session.
var QuietKinds = kindsOf(pawl.SessionShared{}, pawl.SessionSummarized{}, pawl.Replied{}, pawl.ModeChanged{}, pawl.CriteriaSet{},
	pawl.CheckRan{}, pawl.ReviewStarted{}, pawl.Reviewed{}, pawl.Reworded{}, pawl.ReplyStarted{}, pawl.Retried{}, pawl.CallStarted{},
	pawl.CallFinished{}, pawl.TodosSet{}, pawl.Spawned{}, pawl.ShellStarted{}, pawl.Delta{}, pawl.Progress{}, pawl.Status{})

func kindsOf(bodies ...pawl.Body) (kinds []pawl.Kind) {
	for _, b := range bodies {
		kinds = append(kinds, pawl.KindOf(b))
	}
	return kinds
}

// maxLastColumn limits the copy of the last line in the row, in bytes.
const maxLastColumn = 200

// maxPromptColumn limits the copy of the first prompt in the row, in bytes.
const maxPromptColumn = 300

// ChangeOf returns the effect of events on their session's row.
func ChangeOf(events []pawl.Event) Change {
	var c Change
	for _, e := range events {
		switch b := e.Body.(type) {
		case pawl.SessionCreated:
			c.Parent, c.Owner, c.Dir, c.Created = &b.Parent, &b.Owner, &b.Dir, &e.At
		case pawl.SessionShared:
			c.Shared = &b.With
		case pawl.SessionTitled:
			c.Title = &b.Title
			c.Usage = c.Usage.Add(b.Usage)
		case pawl.SessionSummarized:
			c.Usage = c.Usage.Add(b.Usage)
		case pawl.CompactionAsked, pawl.UndoAsked, pawl.ShellAsked:
			c.Queued++
		case pawl.Undone, pawl.ShellRan:
			c.Queued--
		case pawl.Compacted:
			c.Usage = c.Usage.Add(b.Usage)
			if b.Asked != 0 {
				c.Queued--
			}
		case pawl.Prompted:
			if c.Prompt == nil || *c.Prompt == "" { // as Apply does
				text := cutText(b.Parts.Text(), maxPromptColumn)
				c.Prompt = &text
			}
			c.Model, c.Agent, c.Mode = &b.Model, &b.Agent, &b.Mode
			c.Queued++
			if b.Approve != nil {
				c.Mission = ptr(pawl.MissionWorking)
			}
		case pawl.Withdrawn:
			c.Queued--
		case pawl.TurnStarted:
			c.TurnOpen, c.TurnAt, c.Ended = ptr(true), &e.Seq, ptr(pawl.Reason(""))
			c.NoAsks, c.Asks = true, 0
			c.Turns++
			c.Queued--
		case pawl.TurnFinished:
			c.TurnOpen, c.Ended = ptr(false), &b.Reason
			c.NoAsks, c.Asks = true, 0
		case pawl.Injected:
			if b.Prompt != 0 {
				c.Queued--
			}
		case pawl.Replied:
			c.Usage = c.Usage.Add(b.Usage)
			if line := lastLine(b.Parts.Text()); line != "" {
				c.Last = ptr(cutText(line, maxLastColumn))
			}
		case pawl.Asked:
			c.Asks++
		case pawl.Answered:
			c.Asks--
		case pawl.ModeChanged:
			c.Mode = &b.Mode
		case pawl.MissionStarted, pawl.Planned, pawl.Delegated, pawl.TaskStarted, pawl.TaskMerged, pawl.TaskReturned, pawl.GateResult:
			c.Mission = ptr(pawl.MissionWorking)
		case pawl.Sealed:
			c.Mission = ptr(pawl.MissionSealed)
		case pawl.Blocked:
			c.Mission = ptr(cmp.Or(b.State, pawl.MissionBlocked))
		case pawl.CriteriaSet, pawl.CheckRan, pawl.ReviewStarted, pawl.Reviewed, pawl.Reworded, pawl.ReplyStarted, pawl.Retried, pawl.CallStarted, pawl.CallFinished, pawl.TodosSet, pawl.Spawned, pawl.ShellStarted, pawl.Delta, pawl.Progress, pawl.Status:
		}
		if !slices.Contains(QuietKinds, pawl.KindOf(e.Body)) {
			c.Updated = &e.At
		}
	}
	return c
}

func ptr[T any](v T) *T { return &v }

func set[T any](dst, src *T) {
	if src != nil {
		*dst = *src
	}
}

// lastLine returns the last line of a text that is not blank.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// cutText returns the longest prefix of at most n bytes that is valid UTF-8.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// Apply applies the change to a row.
func (c Change) Apply(s *pawl.Session) {
	set(&s.Parent, c.Parent)
	set(&s.Owner, c.Owner)
	set(&s.Shared, c.Shared)
	set(&s.Dir, c.Dir)
	set(&s.Title, c.Title)
	if s.Prompt == "" {
		set(&s.Prompt, c.Prompt)
	}
	set(&s.Model, c.Model)
	set(&s.Agent, c.Agent)
	set(&s.Mode, c.Mode)
	set(&s.Last, c.Last)
	s.Turns += c.Turns
	set(&s.TurnOpen, c.TurnOpen)
	set(&s.TurnAt, c.TurnAt)
	set(&s.Ended, c.Ended)
	if c.NoAsks {
		s.Asks = 0
	}
	s.Asks += c.Asks
	s.Queued += c.Queued
	s.Usage = s.Usage.Add(c.Usage)
	set(&s.Mission, c.Mission)
	set(&s.Created, c.Created)
	set(&s.Updated, c.Updated)
}
