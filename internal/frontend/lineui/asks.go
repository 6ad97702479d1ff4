package lineui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
)

// asking is what a session waits for a person for.
type asking struct {
	id  askID
	who string // the subagent that asks, safe to show; "" for the session that is talked about
	ask pawl.Ask
}

type askID struct {
	session pawl.SessionID
	seq     pawl.Seq
}

// asks takes what an event says of the questions that wait.
func (t *talk) asks(ctx context.Context, e pawl.Event, who string) {
	switch b := e.Body.(type) {
	case pawl.Asked:
		t.waiting = append(t.waiting, asking{askID{e.Session, e.Seq}, who, b.Ask})
	case pawl.Answered:
		t.dropAsks(func(a asking) bool { return a.id == askID{e.Session, b.Ask} })
	case pawl.TurnFinished:
		t.dropAsks(func(a asking) bool { return a.id.session == e.Session })
	case pawl.Spawned, pawl.TaskStarted, pawl.ReviewStarted:
		c, _ := pawl.ChildOf(b)
		t.hear(ctx, c.Child, fmt.Sprintf("the task %q (%s)", name(c.Title), name(c.Agent)))
	default: // asks nothing
	}
}

// dropAsks forgets asks that do not wait any more, and stops asking.
func (t *talk) dropAsks(gone func(asking) bool) {
	t.waiting = slices.DeleteFunc(t.waiting, gone)
	if q := t.question; q != nil && q.of != (askID{}) && !slices.ContainsFunc(t.waiting, func(a asking) bool { return a.id == q.of }) {
		t.question = nil
		t.voice.say("answered: no answer is needed any more")
	}
}

// put puts an ask to the person.
func (t *talk) put(a asking) {
	if t.bell && t.Bell != nil {
		t.Bell()
	}
	switch {
	case a.ask.Kind == pawl.AskPermission:
		t.pose(t.permission(a))
	case len(a.ask.Questions) > 0:
		t.pose(t.form(a, 0, nil))
	default:
		t.pose(t.goOn(a))
	}
}

// heading says who asks what, and all that it is about.
func (t *talk) heading(a asking, what string) {
	if a.who != "" {
		what += " asked by " + a.who
	}
	if a.ask.Timeout > 0 {
		what += fmt.Sprintf(" (waits %s)", took(a.ask.Timeout.Round(time.Second)))
	}
	t.voice.say("ask: %s", what)
	if strings.TrimSpace(a.ask.Text) != "" {
		t.voice.whole(a.ask.Text)
	}
}

// permission asks whether a call may run.
func (t *talk) permission(a asking) *question {
	choices := []choice{{number: "1", words: "y yes", text: "yes, once", do: t.giving(a, pawl.Answer{Outcome: pawl.OutcomeAnswered})}}
	if len(a.ask.Offer) > 0 {
		always := pawl.Answer{Outcome: pawl.OutcomeAnswered, Always: a.ask.Offer}
		choices = append(choices, choice{number: "2", words: "a always", text: "yes, and always, by the rule that is said above", do: t.giving(a, always)})
	}
	choices = append(choices,
		choice{number: "3", words: "n no", text: "no, and stop", do: t.giving(a, pawl.Answer{Outcome: pawl.OutcomeDeclined})},
		choice{number: "4", words: "but", text: "no, and say what to do instead", then: "instead", do: func(ctx context.Context, words string) {
			t.give(ctx, a, pawl.Answer{Outcome: pawl.OutcomeDeclined, Text: words})
		}})
	return t.of(a, t.menu(func() { t.heading(a, "may this run?") }, choices))
}

// goOn asks for a yes or a no: whether a turn that repeats itself goes on.
func (t *talk) goOn(a asking) *question {
	return t.of(a, t.menu(func() { t.heading(a, "shall it go on?") }, []choice{
		{number: "1", words: "y yes", text: "yes", do: t.giving(a, pawl.Answer{Outcome: pawl.OutcomeAnswered})},
		{number: "2", words: "but", text: "yes, and say what to do otherwise", then: "otherwise", do: func(ctx context.Context, words string) {
			t.give(ctx, a, pawl.Answer{Outcome: pawl.OutcomeAnswered, Text: words})
		}},
		{number: "3", words: "n no", text: "no, end the turn", do: t.giving(a, pawl.Answer{Outcome: pawl.OutcomeDeclined})},
	}))
}

// of says that a question puts an ask.
func (t *talk) of(a asking, q *question) *question {
	q.of = a.id
	return q
}

// form asks a question of the model's, then the others.
func (t *talk) form(a asking, at int, before [][]string) *question {
	q := a.ask.Questions[at]
	hint := "number, or your own words: "
	if q.Multiple {
		hint = "numbers with commas between, or your own words: "
	}
	say := func() {
		if at == 0 {
			what := "a question"
			if a.ask.Kind == pawl.AskPlan {
				what = "is this plan good?"
			}
			t.heading(a, what)
		}
		t.voice.say("question %d of %d: %s", at+1, len(a.ask.Questions), name(q.Header))
		t.voice.whole(q.Question)
		for i, o := range q.Options {
			t.option(i+1, o)
		}
		t.voice.say("0: no answer")
	}
	return t.of(a, &question{hint: hint, say: say, take: func(ctx context.Context, line string) {
		if line == "0" {
			t.question = nil
			t.give(ctx, a, pawl.Answer{Outcome: pawl.OutcomeDeclined})
			return
		}
		chosen, err := choose(q, line)
		if err != nil {
			t.voice.say("%v", err)
			return
		}
		answers := append(slices.Clone(before), chosen)
		if at+1 < len(a.ask.Questions) {
			t.pose(t.form(a, at+1, answers))
			return
		}
		t.question = nil
		t.give(ctx, a, pawl.Answer{Outcome: pawl.OutcomeAnswered, Answers: answers})
	}})
}

// option says one that is offered, all of it: on its line if it is short.
func (t *talk) option(number int, o pawl.Option) {
	label, description := name(o.Label), name(o.Description)
	long := len(o.Label)+len(o.Description) > maxName/2
	switch {
	case long:
		t.voice.say("%d:", number)
		t.voice.whole(o.Label)
		t.voice.whole(o.Description)
	case description != "":
		t.voice.say("%d: %s (%s)", number, label, description)
	default:
		t.voice.say("%d: %s", number, label)
	}
}

// choose reads a line as the numbers of options, or else as an answer in words. A
// number that is none of theirs is likely a slip.
func choose(q pawl.Question, line string) ([]string, error) {
	words := []string{line}
	if q.Multiple {
		words = strings.Split(line, ",")
	}
	var chosen []string
	for _, word := range words {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		switch {
		case err != nil:
			return []string{line}, nil
		case n < 1 || n > len(q.Options):
			return nil, fmt.Errorf("there is no option %d", n)
		}
		if label := q.Options[n-1].Label; !slices.Contains(chosen, label) {
			chosen = append(chosen, label)
		}
	}
	return chosen, nil
}

// giving gives an answer that needs no words.
func (t *talk) giving(a asking, answer pawl.Answer) func(context.Context, string) {
	return func(ctx context.Context, _ string) { t.give(ctx, a, answer) }
}

// give gives the person's answer. One that is not accepted is asked for again.
func (t *talk) give(ctx context.Context, a asking, answer pawl.Answer) {
	err := t.do(ctx, func(ctx context.Context) error { return t.Service.Answer(ctx, a.id.session, a.id.seq, answer) })
	switch {
	case err == nil:
	case errors.Is(err, pawl.ErrConflict), errors.Is(err, pawl.ErrNotFound):
		t.voice.say("answered: somebody else was faster")
	default:
		t.voice.fail(err)
		return
	}
	t.waiting = slices.DeleteFunc(t.waiting, func(b asking) bool { return a.id == b.id })
}
