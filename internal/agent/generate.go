package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/model"
)

// draftEvery is the time between two saves of a growing reply.
const draftEvery = 250 * time.Millisecond

// Generate makes one model call. It logs ReplyStarted before it reads the stream, publishes
// and drafts the growing reply, and logs Replied at the end.
func (s *Stepper) Generate(ctx context.Context, t Turn) (Reply, error) {
	j, err := s.enterTurn(ctx, t)
	if err != nil {
		return Reply{}, err
	}
	defer j.leave()
	open := j.history.Open()
	if len(open.Steps) >= t.Step && open.Steps[t.Step-1].Replied { // an earlier attempt has it
		reply := replyOf(open.Steps[t.Step-1])
		if reply.Finish == pawl.FinishCanceled {
			return reply, &Stop{Reason: pawl.ReasonCanceled}
		}
		return reply, nil
	}
	if err := s.authorizeTurn(ctx, j); err != nil {
		return Reply{}, err
	}
	ref, err := s.modelRef(j)
	if err != nil {
		return Reply{}, modelStop(err)
	}
	release, err := s.draw(ctx, j)
	if err != nil {
		return Reply{}, err
	}
	defer release()
	if len(open.Steps) < t.Step {
		if _, err := j.append(ctx, pawl.ReplyStarted{Step: t.Step, Model: ref}); err != nil {
			return Reply{}, err
		}
	}
	q, err := s.modelRequest(j, t)
	if err != nil {
		return Reply{}, modelStop(err)
	}
	r := reply{stepper: s, journal: j, turn: t, started: open.Steps[t.Step-1].Started, model: ref}
	stopDrafts := r.saveDrafts(ctx)
	err = s.read(ctx, &r, q)
	stopDrafts()
	if err != nil {
		var unwritten *unwrittenError
		switch {
		case errors.As(err, &unwritten):
			return Reply{}, unwritten.err
		case ctx.Err() == nil:
			return Reply{}, modelStop(err)
		}
		if err := lostSession(ctx); err != nil {
			return Reply{}, err
		}
		r.cancel()
	}
	// What was read must be kept even if the turn is canceled right now.
	if _, err := j.append(context.WithoutCancel(ctx), pawl.Replied{
		Step: t.Step, Model: r.model, Agent: q.request.Agent, Parts: r.parts, Finish: r.finish, Usage: r.usage,
	}); err != nil {
		return Reply{}, err
	}
	if r.finish == pawl.FinishCanceled {
		return Reply{}, ctx.Err()
	}
	return replyOf(open.Steps[t.Step-1]), nil
}

// modelStop returns the Stop that ends the turn with a model error. ErrUnavailable is
// returned as it is: no model was called, so the turn stays open and the step is repeated.
func modelStop(err error) error {
	if errors.Is(err, pawl.ErrUnavailable) {
		return err
	}
	return &Stop{Reason: pawl.ReasonError, Fault: pawl.FaultModel, Message: fault.Text(err)}
}

// reply is a model's reply while it is being read.
type reply struct {
	stepper *Stepper
	journal *journal
	turn    Turn
	started pawl.Seq

	model  string // the ref of the model that writes it
	parts  pawl.Parts
	finish pawl.Finish
	usage  pawl.Usage

	mu    sync.Mutex // held to change text and think, and to read them for a draft
	text  growingText
	think growingText
}

// growingText is one channel of a reply while it streams.
type growingText struct {
	all  []byte // everything received
	from int    // where the current part begins in all
}

// cut ends the current part and returns it.
func (g *growingText) cut() string {
	part := string(g.all[g.from:])
	g.from = len(g.all)
	return part
}

// read reads the stream to its end. After an error, the parts read so far are invalid.
func (r *reply) read(ctx context.Context, m model.Model, req model.Request) error {
	for c, err := range m.Stream(ctx, req) {
		if err != nil {
			return err
		}
		switch c.Kind {
		case model.ChunkText:
			r.closeReasoning("")
			r.grow(pawl.ChannelText, &r.text, c.Text)
		case model.ChunkReasoning:
			r.closeText()
			r.grow(pawl.ChannelReasoning, &r.think, c.Text)
			if c.Signature != "" {
				r.closeReasoning(c.Signature)
			}
		case model.ChunkCall:
			r.closeText()
			r.closeReasoning("")
			r.parts = append(r.parts, r.call(c.Call))
		case model.ChunkUsage:
			r.usage = c.Usage
		case model.ChunkFinish:
			r.finish = c.Finish
		case model.ChunkRetry:
			if err := r.restart(ctx, c.Retry); err != nil {
				return err
			}
		case model.ChunkNotice:
			r.stepper.notice(r.journal, r.turn.Number, c.Text)
		}
	}
	r.closeText()
	r.closeReasoning("")
	switch calls := r.parts.Calls(); {
	case r.finish == "":
		return errors.New("the model's reply was cut off")
	case len(r.parts) == 0:
		return errors.New("the model's reply is empty")
	case len(calls) > 0 && r.finish == pawl.FinishEndTurn:
		r.finish = pawl.FinishToolUse // some providers do not distinguish the two
	case len(calls) == 0 && r.finish == pawl.FinishToolUse:
		r.finish = pawl.FinishEndTurn
	}
	return nil
}

// restart discards what a failed attempt returned, and logs the retry.
func (r *reply) restart(ctx context.Context, retry pawl.Retry) error {
	if _, err := r.journal.append(ctx, pawl.Retried{Step: r.turn.Step, Retry: retry}); err != nil {
		return &unwrittenError{err}
	}
	r.parts, r.usage, r.model = nil, pawl.Usage{}, retry.Model
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text, r.think = growingText{}, growingText{}
	return nil
}

// unwrittenError is a failure to write the log while a reply is read, as opposed to a
// failure of the model.
type unwrittenError struct{ err error }

func (e *unwrittenError) Error() string { return e.err.Error() }

// cancel keeps only the text received so far: unsigned reasoning, or a call that never
// runs, must not be sent back to a provider.
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

// grow adds a piece to a channel and publishes it.
func (r *reply) grow(ch pawl.Channel, g *growingText, piece string) {
	if piece == "" {
		return
	}
	offset := len(g.all)
	r.mu.Lock()
	g.all = append(g.all, piece...)
	r.mu.Unlock()
	r.journal.publish(r.turn.Number, pawl.Delta{Reply: r.started, Channel: ch, Offset: offset, Text: piece})
}

// saveDrafts saves the reply while it grows, for readers who join later and for a restart
// after a crash, until the returned function is called.
func (r *reply) saveDrafts(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var saver sync.WaitGroup
	saver.Go(func() {
		ticker := time.NewTicker(draftEvery)
		defer ticker.Stop()
		saved := r.draft()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if d := r.draft(); d != saved {
				saved = d
				// A lost draft matters only after a crash; a store that fails shows at the next append.
				_ = r.stepper.Store.SaveDraft(ctx, r.journal.id, d)
			}
		}
	})
	return func() {
		cancel()
		saver.Wait()
	}
}

// draft returns what has been received so far.
func (r *reply) draft() pawl.Draft {
	r.mu.Lock()
	defer r.mu.Unlock()
	return pawl.Draft{Reply: r.started, Text: string(r.text.all), Reasoning: string(r.think.all)}
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

// call makes a call valid for the log: its id unique in the session, its input JSON.
// Invalid input becomes a JSON string, which every tool rejects, so the model learns of it.
func (r *reply) call(c pawl.ToolCall) pawl.ToolCall {
	id := c.ID
	for n := len(r.parts) + 1; c.ID == "" || r.idUsed(c.ID); n++ {
		c.ID = pawl.CallID(fmt.Sprintf("%s_%d_%d", id, r.started, n))
	}
	if !json.Valid(c.Input) {
		c.Input, _ = json.Marshal(string(c.Input))
	}
	return c
}

func (r *reply) idUsed(id pawl.CallID) bool {
	for _, c := range r.parts.Calls() {
		if c.ID == id {
			return true
		}
	}
	return r.journal.history.CallIDUsed(id)
}
