package acp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// askID identifies an ask, so that an answer reaches that ask only.
type askID struct {
	session pawl.SessionID
	seq     pawl.Seq
}

// asks presents the asks of a session, or of one of its subagents, in the editor. Only
// one goroutine uses it.
type asks struct {
	*session
	of      pawl.SessionID // the session that asks
	dir     string         // its directory
	origin  string         // describes the subagent that asks; "" for the session itself
	live    bool           // asks are presented at once
	open    []transcript.Item
	calls   map[pawl.CallID]transcript.Item // that have not ended
	pending map[string]context.CancelFunc   // asks that are presented, by item
}

func newAsks(s *session) *asks {
	return &asks{session: s, of: s.id, dir: s.dir, calls: map[pawl.CallID]transcript.Item{}, pending: map[string]context.CancelFunc{}}
}

// item handles an item that is new or has changed.
func (a *asks) item(ctx context.Context, it transcript.Item) {
	switch it.Kind {
	case transcript.KindCall:
		if a.calls[it.Call.ID] = it; it.Call.Status != "" {
			delete(a.calls, it.Call.ID)
		}
	case transcript.KindAsk:
		if it.State == transcript.StateWaiting {
			a.start(ctx, it)
		} else {
			a.stop(it.ID)
		}
	case transcript.KindSubagent, transcript.KindMission:
		if it.Subagent != nil && (it.State == transcript.StateRunning || it.Kind == transcript.KindMission) {
			a.start(ctx, it)
		}
	case transcript.KindTurnEnd:
		a.stopAll()
		a.open = slices.DeleteFunc(a.open, func(it transcript.Item) bool { return it.Kind != transcript.KindSubagent })
	default: // nothing to answer
	}
}

// present presents what past items ask, and from now on everything at once.
func (a *asks) present(ctx context.Context) {
	open := a.open
	a.live, a.open = true, nil
	for _, it := range open {
		a.start(ctx, it)
	}
}

// start presents an ask, or follows a subagent, once past items have been handled.
func (a *asks) start(ctx context.Context, it transcript.Item) {
	switch {
	case !a.live:
		a.open = append(a.open, it)
	case it.Subagent != nil:
		a.running.Go(func() { a.followSubagent(ctx, *it.Subagent) })
	case a.pending[it.ID] == nil:
		ctx, cancel := context.WithCancel(ctx)
		a.pending[it.ID] = cancel
		id, toolCall := askID{a.of, it.Ask.Seq}, a.callFor(it)
		a.running.Go(func() { a.answerAsk(ctx, id, toolCall, it.Ask.Ask) })
	}
}

// callFor returns the tool call to show with an ask. The editor knows the session's own
// calls; the id for a subagent's call, or none, is derived from the ask.
func (a *asks) callFor(it transcript.Item) call {
	shown := call{title: "Continue this turn?"}
	about, ok := a.calls[it.Ask.Call]
	if ok {
		shown = newCall(a.dir, about)
	}
	if !ok || a.origin != "" {
		shown.derived, shown.id = true, fmt.Sprintf("ask-%s-%d", a.of, it.Ask.Seq)
	}
	if a.origin != "" {
		shown.title = line(a.origin + ": " + shown.title)
	}
	return shown
}

func (a *asks) stop(id string) {
	if cancel := a.pending[id]; cancel != nil {
		cancel()
		delete(a.pending, id)
	}
}

func (a *asks) stopAll() {
	for id := range a.pending {
		a.stop(id)
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
	case pawl.AskPermission, pawl.AskLoop:
		return s.decide(ctx, toolCall, ask)
	case pawl.AskQuestion:
		if s.editor.forms() {
			return s.fillForm(ctx, toolCall, ask)
		}
	case pawl.AskPlan:
	}
	return s.questions(ctx, toolCall, ask)
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

// decide presents the choices of an ask. Anything but a clear yes is a denial.
func (s *session) decide(ctx context.Context, toolCall call, ask pawl.Ask) (pawl.Answer, error) {
	q, answers := choice{call: decision(toolCall, ask)}, map[string]pawl.Answer{}
	offer := func(id, name, kind string, answer pawl.Answer) {
		q.options = append(q.options, option{id, name, kind})
		answers[id] = answer
	}
	for _, c := range transcript.Choices(ask) {
		switch {
		case c.Name == "deny":
			answer := c.Answer
			answer.Text = rejectAndContinue
			offer("deny", c.Label+" and continue", "reject_once", answer)
			offer("stop", c.Label+" and stop", "reject_once", c.Answer)
		case c.Answer.Outcome != pawl.OutcomeAnswered:
			offer(c.Name, c.Label, "reject_once", c.Answer)
		case len(c.Answer.Always) > 0:
			offer(c.Name, c.Label+": "+rules(ask), "allow_always", c.Answer)
		default:
			offer(c.Name, c.Label, "allow_once", c.Answer)
		}
	}
	chosen, err := s.editor.choose(ctx, s.id, q)
	answer, ok := answers[chosen]
	if err != nil || !ok {
		return pawl.Answer{Outcome: pawl.OutcomeDenied}, err
	}
	return answer, nil
}

// decision returns a call as the user decides about it: with its risk, with the change as
// a diff of the editor if nothing is hidden in it, and with all details.
func decision(toolCall call, ask pawl.Ask) call {
	if ask.Risk == "high" {
		toolCall.title += " · high risk"
	}
	if ask.Ran {
		toolCall.title = line(ask.Title + ": " + toolCall.title)
	}
	toolCall.content = nil
	if sanitize.Marked(ask.Diff) == ask.Diff {
		list, _ := changes(toolCall.dir, pawl.Patch{Diff: ask.Diff}) // the text has the rest
		for _, change := range list {
			toolCall.content = append(toolCall.content, content{change: &change})
		}
	}
	toolCall.content = append(toolCall.content, askContent(ask.Text)...)
	return toolCall
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

// questions presents the questions one after the other, with their options, to an
// editor that does not support forms.
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

// pollTime is the interval for polling a session: a subagent's is announced before it
// exists.
const pollTime = 50 * time.Millisecond

// followSubagent presents the asks of a subagent until ctx, that of its parent, ends.
func (a *asks) followSubagent(ctx context.Context, c pawl.Spawned) {
	row, err := a.svc.Get(ctx, c.Subagent)
	for errors.Is(err, pawl.ErrNotFound) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pollTime):
			row, err = a.svc.Get(ctx, c.Subagent)
		}
	}
	if err == nil {
		sub := newAsks(a.session)
		sub.of, sub.dir, sub.origin = row.ID, row.Dir, fmt.Sprintf("subagent %q (%s)", line(c.Title), line(c.Agent))
		err = sub.follow(ctx, row)
	}
	if err != nil && ctx.Err() == nil {
		a.showNote(ctx, fmt.Sprintf("Cannot follow subagent %q: %v", line(c.Title), err))
	}
}

// follow presents a subagent's pending asks and new ones until its turn ends.
func (a *asks) follow(ctx context.Context, row pawl.Session) error {
	defer a.stopAll()
	items, ended := transcript.New(), false
	for e, err := range a.svc.Events(ctx, row.ID, 0) {
		if err != nil {
			return err
		}
		changed := items.Apply(e).Items
		switch e.Body.(type) {
		case pawl.TurnStarted, pawl.TurnFinished:
			_, ended = e.Body.(pawl.TurnFinished)
		default: // the turn continues
		}
		if e.Seq < row.Head {
			continue // a later event may answer it
		}
		if !a.live {
			changed = items.Items()
		}
		for _, it := range changed {
			a.item(ctx, it)
		}
		if a.present(ctx); ended {
			return nil
		}
	}
	return ctx.Err()
}
