package acp

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// askID identifies an ask, so that an answer reaches that ask only.
type askID struct {
	session pawl.SessionID
	seq     pawl.Seq
}

// asks presents the asks of a session and its subagents in the editor.
type asks struct {
	*session
	pending map[askID]context.CancelFunc // used only by the goroutine that follows the session
}

// start presents the ask of an event about a tool call. origin names the subagent that
// asks, "" for the session itself.
func (a *asks) start(ctx context.Context, origin string, e pawl.Event, toolCall call) {
	b, ok := e.Body.(pawl.Asked)
	if !ok {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	id := askID{e.Session, e.Seq}
	a.pending[id] = cancel
	toolCall.id = askCallID(toolCall.id, origin, e)
	a.running.Go(func() { a.answerAsk(ctx, id, toolCall, b.Ask) })
}

// handleEnd cancels the presentation of asks that an event answers or ends.
func (a *asks) handleEnd(e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.Answered:
		a.stop(askID{e.Session, b.Ask})
	case pawl.TurnFinished:
		a.stopAll()
	default: // no effect on asks
	}
}

// askCallID returns the id of the tool call to show with an ask. The editor knows the
// session's own calls; for a subagent's call, or none, it is derived from the ask.
func askCallID(id, origin string, e pawl.Event) string {
	if id == "" || origin != "" {
		return fmt.Sprintf("ask-%s-%d", e.Session, e.Seq)
	}
	return id
}

func (a *asks) stop(id askID) {
	if cancel := a.pending[id]; cancel != nil {
		cancel()
		delete(a.pending, id)
	}
}

// answerAsk presents an ask and sends the user's answer. If presenting fails, the
// answer is a denial. If the editor has disconnected, no answer is sent, so that the
// ask can be presented again.
func (s *session) answerAsk(ctx context.Context, id askID, toolCall call, ask pawl.Ask) {
	cancels := s.canceled()
	answer, err := s.present(ctx, toolCall, ask)
	if ctx.Err() != nil || s.canceled() != cancels {
		return // the end of the turn reports it
	}
	if err != nil {
		answer = pawl.Answer{Outcome: pawl.OutcomeDenied}
		s.showNote(ctx, fmt.Sprintf("Denied, because the editor could not show the prompt: %v", err))
	}
	err = s.svc.Answer(ctx, id.session, id.seq, answer)
	if err != nil && !errors.Is(err, pawl.ErrConflict) && ctx.Err() == nil {
		s.showNote(ctx, fmt.Sprintf("The answer was not accepted: %v", err))
	}
}

// present shows an ask and returns the answer.
func (s *session) present(ctx context.Context, toolCall call, ask pawl.Ask) (pawl.Answer, error) {
	switch ask.Kind {
	case pawl.AskPermission:
		return s.permission(ctx, toolCall, ask)
	case pawl.AskLoop:
		toolCall.content = askContent(ask.Text)
		chosen, err := s.editor.choose(ctx, s.id, choice{toolCall, []option{
			{"yes", "Continue", "allow_once"}, {"no", "Stop the turn", "reject_once"},
		}})
		return pawl.Answer{Outcome: outcome(chosen == "yes")}, err
	default:
		return s.questions(ctx, toolCall, ask)
	}
}

func outcome(yes bool) pawl.Outcome {
	if yes {
		return pawl.OutcomeAnswered
	}
	return pawl.OutcomeDenied
}

// askContent returns the text that the user decides about, with nothing hidden in it.
func askContent(text string) []content {
	if text == "" {
		return nil
	}
	text = sanitize.Marked(text)
	return []content{{text: codeBlock(text)}}
}

// rejectAndContinue is the message to the model for a denied call whose turn
// continues.
const rejectAndContinue = "not this; continue without it"

// permission presents a permission prompt. Anything but a clear yes is a denial.
func (s *session) permission(ctx context.Context, toolCall call, ask pawl.Ask) (pawl.Answer, error) {
	toolCall.content = askContent(ask.Text)
	options := []option{{"once", "Allow once", "allow_once"}}
	if len(ask.Offer) > 0 {
		options = append(options, option{"always", "Always allow: " + rules(ask), "allow_always"})
	}
	options = append(options, option{"no", "Deny and continue", "reject_once"}, option{"stop", "Deny and stop", "reject_once"})
	chosen, err := s.editor.choose(ctx, s.id, choice{toolCall, options})
	if err != nil {
		return pawl.Answer{}, err
	}
	switch {
	case chosen == "once":
		return pawl.Answer{Outcome: pawl.OutcomeAnswered}, nil
	case chosen == "always" && len(ask.Offer) > 0:
		return pawl.Answer{Outcome: pawl.OutcomeAnswered, Always: ask.Offer}, nil
	case chosen == "no":
		return pawl.Answer{Outcome: pawl.OutcomeDenied, Text: rejectAndContinue}, nil
	default:
		return pawl.Answer{Outcome: pawl.OutcomeDenied}, nil
	}
}

// rules returns the rules that "always allow" would add, as the ask's text has them.
func rules(ask pawl.Ask) string {
	var list []string
	for _, rule := range ask.Offer {
		list = append(list, sanitize.Line(string(rule)))
	}
	text := strings.Join(list, ", ")
	if utf8.RuneCountInString(text) > maxRule {
		return "the rules shown above"
	}
	return text
}

// noOptions is the message to the model for a question without options.
const noOptions = "(from pawl: the editor shows only questions with options; ask with options, or decide yourself and say what you assumed)"

// questions presents the questions one after the other. Editors support options only,
// no free text.
func (s *session) questions(ctx context.Context, toolCall call, ask pawl.Ask) (pawl.Answer, error) {
	for _, q := range ask.Questions {
		if len(q.Options) == 0 {
			return pawl.Answer{Outcome: pawl.OutcomeDenied, Text: noOptions}, nil
		}
	}
	answer := pawl.Answer{Outcome: pawl.OutcomeAnswered}
	for _, q := range ask.Questions {
		toolCall.title = line(q.Header)
		toolCall.content = append(askContent(ask.Text), askContent(questionText(q))...)
		chosen, err := s.editor.choose(ctx, s.id, choice{toolCall, questionOptions(q)})
		n, bad := strconv.Atoi(chosen)
		switch {
		case err != nil:
			return pawl.Answer{}, err
		case bad != nil || n < 0 || n >= len(q.Options):
			return pawl.Answer{Outcome: pawl.OutcomeDenied}, nil
		}
		answer.Answers = append(answer.Answers, []string{q.Options[n].Label})
	}
	return answer, nil
}

func questionText(q pawl.Question) string {
	text := q.Question
	for _, o := range q.Options {
		if o.Description != "" {
			text += fmt.Sprintf("\n- %s: %s", o.Label, o.Description)
		}
	}
	return text
}

func questionOptions(q pawl.Question) []option {
	var list []option
	for i, o := range q.Options {
		list = append(list, option{strconv.Itoa(i), line(o.Label), "allow_once"})
	}
	return append(list, option{"decline", "Skip", "reject_once"})
}

// createPoll is the interval for polling a subagent's session, which is announced
// before it exists.
const createPoll = 50 * time.Millisecond

// followSubagent presents the asks of a subagent until ctx, that of its parent, ends.
func (a *asks) followSubagent(ctx context.Context, c pawl.Spawned) {
	row, err := a.svc.Get(ctx, c.Subagent)
	for errors.Is(err, pawl.ErrNotFound) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(createPoll):
			row, err = a.svc.Get(ctx, c.Subagent)
		}
	}
	if err == nil {
		err = a.streamAsks(ctx, fmt.Sprintf("subagent %q (%s)", line(c.Title), line(c.Agent)), row)
	}
	if err != nil && ctx.Err() == nil {
		a.showNote(ctx, fmt.Sprintf("Cannot follow subagent %q: %v", line(c.Title), err))
	}
}

// streamAsks presents a subagent's pending asks and new ones until its turn ends.
func (a *asks) streamAsks(ctx context.Context, origin string, row pawl.Session) error {
	own := &asks{session: a.session, pending: map[askID]context.CancelFunc{}}
	defer own.stopAll()
	calls := map[pawl.CallID]call{}
	var open []pawl.Event
	ended := false
	for e, err := range a.svc.Events(ctx, row.ID, 0) {
		if err != nil {
			return err
		}
		switch b := e.Body.(type) {
		case pawl.Replied:
			for _, c := range b.Parts.Calls() {
				calls[c.ID] = newCall(row.Dir, c)
			}
		case pawl.Spawned, pawl.TaskStarted, pawl.ReviewStarted:
			c, _ := e.Subagent()
			a.running.Go(func() { own.followSubagent(ctx, c) })
		case pawl.TurnStarted, pawl.TurnFinished:
			_, ended = e.Body.(pawl.TurnFinished)
		default: // not relevant to asks
		}
		own.handleEnd(e)
		if open = unanswered(open, e); e.Seq < row.Head {
			continue // a later event may answer it
		}
		for _, o := range open {
			asked, _ := o.Body.(pawl.Asked)
			toolCall := calls[asked.Call]
			toolCall.title = line(origin + ": " + toolCall.title)
			own.start(ctx, origin, o, toolCall)
		}
		if open = nil; ended {
			return nil
		}
	}
	return ctx.Err()
}

func (a *asks) stopAll() {
	for id := range a.pending {
		a.stop(id)
	}
}

// unanswered updates the list of unanswered asks for one more event.
func unanswered(open []pawl.Event, e pawl.Event) []pawl.Event {
	switch b := e.Body.(type) {
	case pawl.Asked:
		return append(open, e)
	case pawl.Answered:
		for i, o := range open {
			if o.Seq == b.Ask {
				return append(open[:i:i], open[i+1:]...)
			}
		}
	case pawl.TurnFinished:
		return nil
	default: // no effect on asks
	}
	return open
}
