package agent

import (
	"cmp"

	"github.com/pawl-dev/pawl/internal/agent/prompt"
	"github.com/pawl-dev/pawl/internal/model"
)

// modelRequest is the next request to a model, and how much of it fits.
type modelRequest struct {
	model   model.Model
	request model.Request // with all messages of the conversation; see fitted
	budget  prompt.Budget
	fixed   int // tokens besides the conversation: system prompt and tools
}

// modelRequest opens the model of the open turn and builds the next request.
func (s *Stepper) modelRequest(j *journal, t Turn) (modelRequest, error) {
	settings := j.history.Open().Settings
	def, err := j.agent(settings.Agent)
	if err != nil {
		return modelRequest{}, err
	}
	ref, err := s.modelRef(j)
	if err != nil {
		return modelRequest{}, err
	}
	model, err := s.Model(ref)
	if err != nil {
		return modelRequest{}, err
	}
	budget, err := s.tokenBudget(ref)
	if err != nil {
		return modelRequest{}, err
	}
	tools, err := s.availableTools(j)
	if err != nil {
		return modelRequest{}, err
	}
	c := prompt.Context{Session: j.id, Agent: def.Name, System: j.systemPrompt(def, ref, tools), Effort: j.history.Open().Settings.Effort, Temperature: def.Temperature, TopP: def.TopP}
	if !t.Last() {
		c.Tools = tools.Specs()
	}
	return modelRequest{
		model: model, request: prompt.Build(&j.history, c), budget: budget,
		fixed: prompt.EstimateText(c.System) + prompt.EstimateTools(c.Tools),
	}, nil
}

// modelRef returns the model for the current turn: the provider's small model if the
// agent asks for one, otherwise the session's.
func (s *Stepper) modelRef(j *journal) (string, error) {
	settings := j.history.Open().Settings
	def, err := j.agent(settings.Agent)
	if err != nil || !def.Small || s.SmallModel == nil {
		return settings.Model, err
	}
	small, err := s.SmallModel(settings.Model)
	return cmp.Or(small, settings.Model), err
}

// tokenBudget returns the token budget of the model; the zero value if its window is unknown.
func (s *Stepper) tokenBudget(ref string) (prompt.Budget, error) {
	if s.Window == nil {
		return prompt.Budget{}, nil
	}
	w, err := s.Window(ref)
	return prompt.BudgetOf(w), err
}

// fitted returns the request with as much of the conversation as fits.
func (q modelRequest) fitted(j *journal) model.Request {
	q.request.Messages = j.context.sizes.Fit(j.history.Messages(), q.budget, q.fixed, j.context.writtenBy)
	return q.request
}

// full reports whether the conversation must be compacted before the request: it nearly
// fills the context window by the provider's count, or exceeds it by estimate.
func (q modelRequest) full(j *journal) bool {
	if q.budget.Input == 0 {
		return false
	}
	estimated, counted := j.context.sizes.Size(j.history.Messages(), q.budget, q.fixed, j.context.counted)
	return counted > q.budget.Full() || estimated > q.budget.Input
}
