package transcript

import (
	"cmp"

	"github.com/pawl-dev/pawl"
)

// Outcome collects the result of a turn. The zero value is ready to use.
type Outcome struct {
	Text      string            // of the last reply that has one
	End       pawl.TurnFinished // zero until the turn has ended
	Denials   []Denial
	Subagents []pawl.SessionID

	tools  map[pawl.CallID]string
	writes writes
}

// Denial is a tool call that was denied, or a change of a command that was not applied.
type Denial struct {
	Task   pawl.SessionID `json:"task,omitempty" jsonschema:"the session of the subagent that made the call"`
	Tool   string         `json:"tool"`
	Reason string         `json:"reason"`
}

// Add processes the next event. The start of a turn begins a new outcome.
func (o *Outcome) Add(e pawl.Event) {
	o.writes.add(e.Body)
	switch b := e.Body.(type) {
	case pawl.TurnStarted:
		*o = Outcome{tools: map[pawl.CallID]string{}}
	case pawl.Replied:
		o.Text = cmp.Or(b.Parts.Text(), o.Text)
		for _, c := range b.Parts.Calls() {
			if o.tools == nil { // the turn began before the first event
				o.tools = map[pawl.CallID]string{}
			}
			o.tools[c.ID] = c.Name
		}
	case pawl.Spawned, pawl.TaskStarted, pawl.ReviewStarted:
		c, _ := e.Subagent()
		o.Subagents = append(o.Subagents, c.Subagent)
	case pawl.CallFinished:
		if b.Status == pawl.CallDenied {
			o.Denials = append(o.Denials, Denial{Tool: o.tools[b.Call], Reason: b.Result.Content})
		}
		for _, why := range b.Result.Refused {
			o.Denials = append(o.Denials, Denial{Tool: o.tools[b.Call], Reason: why})
		}
	case pawl.TurnFinished:
		o.End = b
	default: // not part of the outcome
	}
}

// Changed returns the paths that successful tool calls and commands changed, in the order of their first change.
func (o *Outcome) Changed() []string { return o.writes.paths }

// AddSubagent adds the denials of a subagent.
func (o *Outcome) AddSubagent(id pawl.SessionID, log []pawl.Event) {
	var subagent Outcome
	for _, e := range log {
		subagent.Add(e)
	}
	for _, d := range subagent.Denials {
		d.Task = id
		o.Denials = append(o.Denials, d)
	}
}
