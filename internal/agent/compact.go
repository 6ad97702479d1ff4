package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent/prompt"
)

// minFreed is the fraction of the conversation that a compaction must free to be worth it.
const minFreed = 0.2

// compaction says why the conversation is compacted.
type compaction struct {
	order        pawl.Seq // the user's order; 0 if the conversation is too large
	instructions string   // from the user
	futile       bool     // it did not help earlier in this turn: no model is called
	reserved     bool     // it is part of a model call, which has drawn on the budgets already
}

// fitContext compacts the conversation if the user has ordered it, or if it would soon exceed
// the context window. It also carries out the other orders that need not wait for the turn's
// end. The cost of a compaction counts toward the turn's budgets.
func (s *Stepper) fitContext(ctx context.Context, j *journal, t Turn) error {
	before := j.history.Compaction()
	for _, o := range j.history.Orders() {
		if _, waits := o.Body.(pawl.ShellAsked); waits {
			continue // shell commands wait for the end of the turn
		}
		if err := s.carryOut(ctx, j, o); err != nil {
			return err
		}
	}
	q, err := s.modelRequest(j, t)
	if err != nil {
		return modelStop(err)
	}
	if q.full(j) && !j.futile() && j.division(q.budget).worthwhile(q.fixed) {
		if err := s.compact(ctx, j, compaction{}); err != nil {
			return err
		}
	}
	if j.history.Compaction() == before {
		return nil
	}
	_, err = s.checkBudgets(ctx, j)
	return err
}

// futile reports whether a compaction in the open turn failed, or freed too little.
func (j *journal) futile() bool {
	c, open := j.history.Compaction(), j.history.Open()
	return c != nil && open != nil && c.Turn == open.Number && c.Compacted.Message != "" &&
		(c.Compacted.Asked == 0 || c.Compacted.Model != "")
}

// division divides a conversation into an older part to be summarized and a newer part that
// stays as it is.
type division struct {
	messages []pawl.Message
	from     int // index of the first message that stays; 0 means that there is nothing to summarize
	before   int // tokens of the conversation in a request now
	stay     int // tokens of the part that stays
}

// division divides the conversation. While a turn is open, its newest step and everything
// since stay: the model has not seen those results yet.
func (j *journal) division(budget prompt.Budget) division {
	messages := j.history.Messages()
	d := division{messages: messages}
	d.before, _ = j.context.sizes.Size(messages, budget, 0, prompt.Counted{})
	must := len(messages)
	if j.history.Open() != nil {
		must = prompt.NewestStep(messages, j.context.turn.began)
	}
	d.from, d.stay = j.context.sizes.Keep(messages, budget.Keep(d.before), must)
	if _, summarized := j.digest(); summarized && d.from == 1 {
		d.from = 0 // it would only summarize the last summary
	}
	return d
}

// worthwhile reports whether a compaction would free enough of a request, which has fixed
// tokens besides the conversation. Without this check, a model with many fixed tokens would
// summarize a little at every step.
func (d division) worthwhile(fixed int) bool {
	return d.from > 0 && float64(d.before-d.stay) >= minFreed*float64(d.before+fixed)
}

// digest returns what the last compaction carries over, if the conversation begins with its
// summary.
func (j *journal) digest() (carried, bool) {
	messages := j.history.Messages()
	if len(messages) == 0 {
		return carried{}, false
	}
	c, ok := j.context.digests[messages[0].Seq]
	return c, ok
}

// compact replaces the older part of the conversation by a summary, and logs the outcome. A
// failure is logged as an outcome too, unless no model could be reached. If the process is
// killed before that, the compaction is repeated.
func (s *Stepper) compact(ctx context.Context, j *journal, c compaction) error {
	if !c.reserved {
		release, err := s.draw(ctx, j)
		if err != nil {
			return err
		}
		defer release()
	}
	done, err := s.buildCompaction(ctx, j, c)
	done.Asked = c.order
	switch {
	case err == nil:
	case lostSession(ctx) != nil:
		return lostSession(ctx) // whoever resumes the turn repeats it
	case ctx.Err() != nil:
		done.Message = "canceled"
	case errors.Is(err, pawl.ErrUnavailable):
		return err // no model was called: the step is repeated
	default:
		done.Message = fmt.Sprintf("the conversation could not be compacted: %v", err)
	}
	if done.Message == "canceled" && c.order == 0 && done.Usage == (pawl.Usage{}) {
		return ctx.Err()
	}
	// The summary is paid for, and the order must not stay for another turn: log it even if canceled.
	if _, err := j.append(context.WithoutCancel(ctx), done); err != nil {
		return err
	}
	if done.Text != "" {
		s.runCompactionAfterHooks(ctx, j, c)
	}
	return ctx.Err()
}

var errNothing = errors.New("nothing to compact yet: recent messages are kept")

var errFutile = errors.New("compacting already failed to help in this turn; the middle of the conversation is left out instead")

// buildCompaction summarizes the conversation. After an error nothing is replaced, but the
// returned usage counts.
func (s *Stepper) buildCompaction(ctx context.Context, j *journal, c compaction) (pawl.Compacted, error) {
	settings := j.history.Settings()
	ref := settings.Model
	if open := j.history.Open(); open != nil {
		settings = open.Settings
		var err error
		if ref, err = s.modelRef(j); err != nil {
			return pawl.Compacted{}, err
		}
	}
	budget, err := s.tokenBudget(ref)
	if err != nil {
		return pawl.Compacted{}, err
	}
	d := j.division(budget)
	done := pawl.Compacted{Before: d.before}
	switch {
	case d.from == 0:
		return done, errNothing
	case c.futile:
		// A size that was too large before is still too large.
		if before := j.history.Compaction().Compacted.Before; before > 0 {
			done.Before = min(done.Before, before)
		}
		return done, errFutile
	}
	summary, spent, err := s.summarize(ctx, j, settings.Model, budget, d, s.runCompactionBeforeHooks(ctx, j, settings, c))
	done.ModelUsage = spent
	if err != nil {
		return done, err
	}
	digest := j.digestOf(d, summary).Bound(budget)
	done.Task, done.Files, done.Text = digest.Task, digest.Files, digest.Text()
	done.After = d.stay + prompt.EstimateMessage(pawl.Message{Parts: pawl.Parts{pawl.Text{Text: done.Text}}})
	if done.After >= done.Before {
		return pawl.Compacted{Before: done.Before, After: done.After, ModelUsage: spent}, errors.New("the summary is larger than the messages it would replace")
	}
	done.Keep = d.keep(j)
	if float64(done.After) > (1-minFreed)*float64(done.Before) {
		done.Message = fmt.Sprintf("compacting freed only %d of %d tokens: recent messages use most of them. If the work gets stuck, start a new session or choose a model with a larger context window.",
			done.Before-done.After, done.Before)
	}
	return done, nil
}

// keep returns the Seq of the first message that stays. If none does, that is a Seq that no
// message has yet.
func (d division) keep(j *journal) pawl.Seq {
	if d.from < len(d.messages) {
		return d.messages[d.from].Seq
	}
	return j.history.Head() + 1
}

// digestOf builds the text that replaces the summarized messages.
func (j *journal) digestOf(d division, summary string) prompt.Digest {
	before, summarized := j.digest()
	if !summarized {
		before.task = d.messages[0].Text()
	}
	digest := prompt.Digest{Task: before.task, Summary: summary, Todos: j.history.Todos(), Files: slices.Clone(before.files), Skills: j.loaded(d)}
	for _, m := range d.messages {
		for _, c := range m.Parts.Calls() {
			for _, f := range j.context.writtenBy(c.ID) {
				digest.Files = append(slices.DeleteFunc(digest.Files, func(known string) bool { return known == f }), f)
			}
		}
	}
	if j.history.Open() != nil && !slices.ContainsFunc(d.messages[d.from:], func(m pawl.Message) bool { return m.Seq == j.context.turn.began }) {
		digest.Prompt = j.context.turn.prompt
	}
	if digest.Prompt == digest.Task {
		digest.Prompt = ""
	}
	return digest
}

// loaded returns the skills that were loaded, each once, the newest last. They come from the
// log, so that no compaction loses one. Skills whose result stays in the conversation, and
// those that were undone, are left out.
func (j *journal) loaded(d division) []prompt.Skill {
	have := map[string]bool{}
	var skills []prompt.Skill
	for _, l := range slices.Backward(j.context.loads) {
		if have[l.skill.Name] || j.history.Undone(l.seq) {
			continue
		}
		have[l.skill.Name] = true
		if !d.stays(l.call) {
			skills = append(skills, l.skill)
		}
	}
	slices.Reverse(skills)
	return skills
}

// stays reports whether a call's result is in the part that stays.
func (d division) stays(id pawl.CallID) bool {
	return slices.ContainsFunc(d.messages[d.from:], func(m pawl.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p pawl.Part) bool {
			r, ok := p.(pawl.ToolResult)
			return ok && r.Call == id
		})
	})
}
