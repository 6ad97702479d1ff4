package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl"
)

// draftEvery bounds how often a growing reply is saved.
const draftEvery = 250 * time.Millisecond

// Generate makes one model call. The reply is announced before the stream is
// read, grows on the bus and in the draft, and is one event when it ends.
func (s *Stepper) Generate(ctx context.Context, t pawl.Turn) (pawl.Reply, error) {
	j, err := s.enterTurn(ctx, t)
	if err != nil {
		return pawl.Reply{}, err
	}
	defer j.leave()
	open := j.history.Open()
	if len(open.Steps) >= t.Step && open.Steps[t.Step-1].Reply != nil { // an earlier attempt has it
		reply := *open.Steps[t.Step-1].Reply
		if reply.Finish == pawl.FinishCanceled {
			return reply, &pawl.Stop{Reason: pawl.ReasonCanceled}
		}
		return reply, nil
	}
	ref, err := s.asked(j)
	if err != nil {
		return pawl.Reply{}, modelStop(err)
	}
	if len(open.Steps) < t.Step {
		if _, err := j.append(ctx, pawl.ReplyStarted{Step: t.Step, Model: ref}); err != nil {
			return pawl.Reply{}, err
		}
	}
	q, err := s.question(j, t)
	if err != nil {
		return pawl.Reply{}, modelStop(err)
	}
	r := reply{journal: j, turn: t, started: open.Steps[t.Step-1].Started, lastDraft: s.Clock(), model: ref}
	if err := s.read(ctx, &r, q); err != nil {
		var unwritten *unwrittenError
		switch {
		case errors.As(err, &unwritten):
			return pawl.Reply{}, unwritten.err
		case ctx.Err() == nil:
			return pawl.Reply{}, modelStop(err)
		}
		if err := takenAway(ctx); err != nil {
			return pawl.Reply{}, err
		}
		r.cancel()
	}
	// What was read must be kept even if the turn is canceled right now.
	if _, err := j.append(context.WithoutCancel(ctx), pawl.Replied{
		Step: t.Step, Model: r.model, Agent: q.request.Agent, Parts: r.parts, Finish: r.finish, Usage: r.usage,
	}); err != nil {
		return pawl.Reply{}, err
	}
	if r.finish == pawl.FinishCanceled {
		return pawl.Reply{}, ctx.Err()
	}
	return *open.Steps[t.Step-1].Reply, nil
}

// modelStop ends the turn with the model's failure. That nobody could be asked is
// none: the turn stays open, and the step can be taken again.
func modelStop(err error) error {
	if errors.Is(err, pawl.ErrUnavailable) {
		return err
	}
	return &pawl.Stop{Reason: pawl.ReasonError, Fault: pawl.FaultModel, Message: err.Error()}
}

// reply is a model's reply while it is being read.
type reply struct {
	journal   *journal
	turn      pawl.Turn
	started   pawl.Seq
	lastDraft time.Time

	model  string // that writes it
	parts  pawl.Parts
	text   growing
	think  growing
	finish pawl.Finish
	usage  pawl.Usage
}

// growing is one channel of a reply: all that has come, and where the part
// that grows begins in it.
type growing struct {
	all  []byte
	from int
}

// cut ends the part that grows and returns it.
func (g *growing) cut() string {
	part := string(g.all[g.from:])
	g.from = len(g.all)
	return part
}

// read reads the stream to its end. On an error what was read so far is void.
func (r *reply) read(ctx context.Context, model pawl.Model, req pawl.Request) error {
	for c, err := range model.Stream(ctx, req) {
		if err != nil {
			return err
		}
		switch c.Kind {
		case pawl.ChunkText:
			r.closeReasoning("")
			r.grow(ctx, pawl.ChannelText, &r.text, c.Text)
		case pawl.ChunkReasoning:
			r.closeText()
			r.grow(ctx, pawl.ChannelReasoning, &r.think, c.Text)
			if c.Signature != "" {
				r.closeReasoning(c.Signature)
			}
		case pawl.ChunkCall:
			r.closeText()
			r.closeReasoning("")
			r.parts = append(r.parts, r.call(c.Call))
		case pawl.ChunkUsage:
			r.usage = c.Usage
		case pawl.ChunkFinish:
			r.finish = c.Finish
		case pawl.ChunkRetry:
			if err := r.restart(ctx, c.Retry); err != nil {
				return err
			}
		case pawl.ChunkNotice:
			r.journal.s.notice(r.journal, r.turn.Number, c.Text)
		}
	}
	r.closeText()
	r.closeReasoning("")
	switch calls := r.parts.Calls(); {
	case r.finish == "":
		return errors.New("the model's reply broke off")
	case len(r.parts) == 0:
		return errors.New("the model's reply is empty")
	case len(calls) > 0 && r.finish == pawl.FinishEndTurn:
		r.finish = pawl.FinishToolUse // some providers do not tell the two apart
	case len(calls) == 0 && r.finish == pawl.FinishToolUse:
		r.finish = pawl.FinishEndTurn
	}
	return nil
}

// restart forgets what came of a call that failed, and says so in the log.
func (r *reply) restart(ctx context.Context, retry pawl.Retry) error {
	if _, err := r.journal.append(ctx, pawl.Retried{Step: r.turn.Step, Retry: retry}); err != nil {
		return &unwrittenError{err}
	}
	r.parts, r.text, r.think, r.usage = nil, growing{}, growing{}, pawl.Usage{}
	r.model = retry.Model
	return nil
}

// unwrittenError is a failure of the log while a reply was read: not the model's.
type unwrittenError struct{ err error }

func (e *unwrittenError) Error() string { return e.err.Error() }

// cancel keeps the text that had come, and only that: an unsigned thought or a
// call that nobody will run must not go back to a provider.
func (r *reply) cancel() {
	r.closeText()
	var kept pawl.Parts
	for _, p := range r.parts {
		if t, ok := p.(pawl.Text); ok {
			kept = append(kept, t)
		}
	}
	r.parts, r.finish = kept, pawl.FinishCanceled
}

// grow adds a piece to a channel and shows it to those who watch.
func (r *reply) grow(ctx context.Context, ch pawl.Channel, g *growing, piece string) {
	if piece == "" {
		return
	}
	offset := len(g.all)
	g.all = append(g.all, piece...)
	r.journal.publish(r.turn.Number, pawl.Delta{Reply: r.started, Channel: ch, Offset: offset, Text: piece})
	if now := r.journal.s.Clock(); now.Sub(r.lastDraft) >= draftEvery {
		r.lastDraft = now
		draft := pawl.Draft{Reply: r.started, Text: string(r.text.all), Reasoning: string(r.think.all)}
		// A lost draft costs only what a crash would lose; a store that is gone shows at the next append.
		_ = r.journal.s.Store.SaveDraft(ctx, r.journal.id, draft)
	}
}

func (r *reply) closeText() {
	if text := r.text.cut(); text != "" {
		r.parts = append(r.parts, pawl.Text{Text: text})
	}
}

func (r *reply) closeReasoning(signature string) {
	if text := r.think.cut(); text != "" || signature != "" {
		r.parts = append(r.parts, pawl.Reasoning{Text: text, Signature: signature})
	}
}

// call makes a call fit for the log: its id unique in the session, its input
// JSON. Input that is not becomes a JSON string, which no tool takes, so the
// model is told.
func (r *reply) call(c pawl.ToolCall) pawl.ToolCall {
	id := c.ID
	for n := len(r.parts) + 1; c.ID == "" || r.taken(c.ID); n++ {
		c.ID = pawl.CallID(fmt.Sprintf("%s_%d_%d", id, r.started, n))
	}
	if !json.Valid(c.Input) {
		c.Input, _ = json.Marshal(string(c.Input))
	}
	return c
}

func (r *reply) taken(id pawl.CallID) bool {
	for _, c := range r.parts.Calls() {
		if c.ID == id {
			return true
		}
	}
	return r.journal.history.CallIDUsed(id)
}
