package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent/prompt"
)

// minFreed is the part that a compaction has to free to be worth it.
const minFreed = 0.2

// compaction is why the conversation is to be made smaller.
type compaction struct {
	asked        pawl.Seq // a person's order; 0 if there is none
	instructions string   // theirs
	futile       bool     // it was tried in this turn and did not help: no model is called
}

// fit makes the conversation smaller if a person has ordered it, or if it would
// not fit the model's window soon. What that costs counts for the turn's budgets.
func (s *Stepper) fitContext(ctx context.Context, j *journal, t Turn) error {
	before := j.history.Compaction()
	for _, o := range j.history.Orders() {
		if _, waits := o.Body.(pawl.ShellAsked); waits {
			continue // for the turn's end
		}
		if err := s.carryOut(ctx, j, o); err != nil {
			return err
		}
	}
	q, err := s.modelRequest(j, t)
	if err != nil {
		return modelStop(err)
	}
	if q.full(j) && !j.futile() && j.division(q.room).worthwhile(q.fixed) {
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

// futile reports whether a compaction in the open turn failed, or freed little.
func (j *journal) futile() bool {
	c, open := j.history.Compaction(), j.history.Open()
	return c != nil && open != nil && c.Turn == open.Number && c.Compacted.Message != "" &&
		(c.Compacted.Asked == 0 || c.Compacted.Model != "")
}

// division is how a conversation is divided into what is summed up and what stays.
type division struct {
	messages []pawl.Message
	from     int // the first that stays; 0 means that there is nothing to sum up
	before   int // tokens of what a request has of it now
	stay     int // tokens of what stays
}

// division divides the conversation. While a turn is open, its newest step and
// what was said since stay: the model has not seen the results.
func (j *journal) division(room prompt.Room) division {
	messages := j.history.Messages()
	d := division{messages: messages}
	d.before, _ = j.context.sizes.Size(messages, room, 0, prompt.Counted{})
	must := len(messages)
	if j.history.Open() != nil {
		must = prompt.NewestStep(messages, j.context.turn.began)
	}
	d.from, d.stay = j.context.sizes.Keep(messages, room.Keep(d.before), must)
	if _, again := j.digest(); again && d.from == 1 {
		d.from = 0 // a summary of the summary alone
	}
	return d
}

// worthwhile reports whether enough goes to make a difference to a request, of
// which fixed tokens are not conversation. Where those take most of the room, a
// model would otherwise sum up a little at each step.
func (d division) worthwhile(fixed int) bool {
	return d.from > 0 && float64(d.before-d.stay) >= minFreed*float64(d.before+fixed)
}

// digest returns what the conversation's summary carries, if it begins with one.
func (j *journal) digest() (carried, bool) {
	messages := j.history.Messages()
	if len(messages) == 0 {
		return carried{}, false
	}
	c, ok := j.context.digests[messages[0].Seq]
	return c, ok
}

// compact puts a summary in the place of the older part of the conversation, and
// says in the log what came of it. A failure is such an outcome, not an error, but
// for one to reach any model. Killed before that is written, it is made again.
func (s *Stepper) compact(ctx context.Context, j *journal, c compaction) error {
	done, err := s.buildCompaction(ctx, j, c)
	done.Asked = c.asked
	switch {
	case err == nil:
	case lostSession(ctx) != nil:
		return lostSession(ctx) // whoever goes on does it
	case ctx.Err() != nil:
		done.Message = "canceled"
	case errors.Is(err, pawl.ErrUnavailable):
		return err // no model was asked, so nothing is known: it is made again
	default:
		done.Message = fmt.Sprintf("the conversation could not be summed up: %v", err)
	}
	if done.Message == "canceled" && c.asked == 0 && done.Usage == (pawl.Usage{}) {
		return ctx.Err()
	}
	// The summary is paid for, and the order must not wait for another turn.
	if _, err := j.append(context.WithoutCancel(ctx), done); err != nil {
		return err
	}
	if done.Text != "" {
		s.runCompactionAfterHooks(ctx, j, c)
	}
	return ctx.Err()
}

var errNothing = errors.New("there is nothing yet that could be: only the newest messages are there, and they stay")

var errFutile = errors.New("it was tried before in this turn and did not help; the middle of the conversation is left out instead")

// compacted sums the conversation up. On an error nothing is to be replaced.
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
	room, err := s.room(ref)
	if err != nil {
		return pawl.Compacted{}, err
	}
	d := j.division(room)
	done := pawl.Compacted{Before: d.before}
	switch {
	case d.from == 0:
		return done, errNothing
	case c.futile:
		// What was too large then is so now, however much was said since.
		if before := j.history.Compaction().Compacted.Before; before > 0 {
			done.Before = min(done.Before, before)
		}
		return done, errFutile
	}
	summary, spent, err := s.summarize(ctx, j, settings.Model, room, d, s.runCompactionBeforeHooks(ctx, j, settings, c))
	done.ModelUsage = spent
	if err != nil {
		return done, err
	}
	digest := j.digestOf(d, summary).Bound(room)
	done.Task, done.Files, done.Text = digest.Task, digest.Files, digest.Text()
	done.After = d.stay + prompt.EstimateMessage(pawl.Message{Parts: pawl.Parts{pawl.Text{Text: done.Text}}})
	if done.After >= done.Before {
		return pawl.Compacted{Before: done.Before, After: done.After, ModelUsage: spent}, errors.New("the summary is larger than what it would replace")
	}
	done.Keep = d.keep(j)
	if float64(done.After) > (1-minFreed)*float64(done.Before) {
		done.Message = fmt.Sprintf("only %d of %d tokens could be freed: what is newest takes the most. Start a new session, or choose a model with a larger window, if the work gets stuck.",
			done.Before-done.After, done.Before)
	}
	return done, nil
}

// keep is the number of the first message that stays. If none does, it is one
// that no message has yet.
func (d division) keep(j *journal) pawl.Seq {
	if d.from < len(d.messages) {
		return d.messages[d.from].Seq
	}
	return j.history.Head() + 1
}

// digestOf puts together what stands in the place of what is summed up.
func (j *journal) digestOf(d division, summary string) prompt.Digest {
	before, again := j.digest()
	if !again {
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

// loaded returns the skills that the conversation has, each once, the newest last.
// All are the log's, whatever was summed up before: no compaction loses one. Those
// whose text stays word for word are not in it, nor those that were undone.
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

// stays reports whether a call's result is not summed up.
func (d division) stays(id pawl.CallID) bool {
	return slices.ContainsFunc(d.messages[d.from:], func(m pawl.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p pawl.Part) bool {
			r, ok := p.(pawl.ToolResult)
			return ok && r.Call == id
		})
	})
}
