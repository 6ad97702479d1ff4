package agent

import (
	"cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent/prompt"
)

// question is what a model is asked next, and how much of it the model takes.
type question struct {
	model   pawl.Model
	request pawl.Request // its messages are those of the log
	room    prompt.Room
	fixed   int // tokens that are not conversation
}

// question opens the model of the open turn and says what it is asked.
func (s *Stepper) question(j *journal, t pawl.Turn) (question, error) {
	settings := j.history.Open().Settings
	def, err := j.agent(settings.Agent)
	if err != nil {
		return question{}, err
	}
	ref, err := s.asked(j)
	if err != nil {
		return question{}, err
	}
	model, err := s.Model(ref)
	if err != nil {
		return question{}, err
	}
	room, err := s.room(ref)
	if err != nil {
		return question{}, err
	}
	tools, err := s.toolsOf(j)
	if err != nil {
		return question{}, err
	}
	c := prompt.Context{Session: j.id, Agent: def.Name, System: j.system(def, ref, tools), Temperature: def.Temperature, TopP: def.TopP}
	if !t.Last() {
		c.Tools = tools.Specs()
	}
	return question{
		model: model, request: prompt.Build(&j.history, c), room: room,
		fixed: prompt.EstimateText(c.System) + prompt.EstimateTools(c.Tools),
	}, nil
}

// asked returns the ref of the model that the open turn asks: the session's or, if
// its agent is to have a small one and the same provider has one, that one.
func (s *Stepper) asked(j *journal) (string, error) {
	settings := j.history.Open().Settings
	def, err := j.agent(settings.Agent)
	if err != nil || !def.Small || s.Sibling == nil {
		return settings.Model, err
	}
	small, err := s.Sibling(settings.Model)
	return cmp.Or(small, settings.Model), err
}

// room returns how much the model takes.
func (s *Stepper) room(ref string) (prompt.Room, error) {
	if s.Window == nil {
		return prompt.Room{}, nil
	}
	w, err := s.Window(ref)
	return prompt.RoomOf(w), err
}

// fitted returns the request with as much of the conversation as there is room for.
func (q question) fitted(j *journal) pawl.Request {
	q.request.Messages = j.tally.sizes.Fit(j.history.Messages(), q.room, q.fixed, j.tally.touched)
	return q.request
}

// full reports whether the conversation is to be made smaller before the model
// is asked: the request is nearly as large as it may be, by the provider's count,
// or is too large, by estimate.
func (q question) full(j *journal) bool {
	if q.room.Input == 0 {
		return false
	}
	estimated, counted := j.tally.sizes.Size(j.history.Messages(), q.room, q.fixed, j.tally.counted)
	return counted > q.room.Full() || estimated > q.room.Input
}
