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
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// pendingAsk is a permission prompt or a question of a session that the user has not
// answered yet.
type pendingAsk struct {
	id    askID
	asker string // the subagent that asks, sanitized; "" for the open session itself
	ask   pawl.Ask
}

type askID struct {
	session pawl.SessionID
	seq     pawl.Seq
}

// trackAsks updates the list of pending asks for an event. asker names the subagent
// that the event comes from, "" for the open session.
func (u *ui) trackAsks(ctx context.Context, e pawl.Event, asker string) {
	switch b := e.Body.(type) {
	case pawl.Asked:
		u.pendingAsks = append(u.pendingAsks, pendingAsk{askID{e.Session, e.Seq}, asker, b.Ask})
	case pawl.Answered:
		u.dropAsks(func(a pendingAsk) bool { return a.id == askID{e.Session, b.Ask} })
	case pawl.TurnFinished:
		u.dropAsks(func(a pendingAsk) bool { return a.id.session == e.Session })
	case pawl.Spawned, pawl.TaskStarted, pawl.ReviewStarted:
		c, _ := e.Subagent()
		u.followSubagent(ctx, c.Subagent, fmt.Sprintf("subagent %q (%s)", sanitizeLine(c.Title), sanitizeLine(c.Agent)))
	default: // no effect on asks
	}
}

// dropAsks removes the asks that match. If the one being shown is among them, it stops
// waiting for the answer.
func (u *ui) dropAsks(match func(pendingAsk) bool) {
	u.pendingAsks = slices.DeleteFunc(u.pendingAsks, match)
	if q := u.question; q != nil && q.ask != (askID{}) && !slices.ContainsFunc(u.pendingAsks, func(a pendingAsk) bool { return a.id == q.ask }) {
		u.question = nil
		u.out.printf("answered: already answered elsewhere")
	}
}

// presentAsk shows an ask and waits for the answer.
func (u *ui) presentAsk(a pendingAsk) {
	if u.bell && u.Bell != nil {
		u.Bell()
	}
	switch {
	case a.ask.Kind == pawl.AskPermission:
		u.present(u.permission(a))
	case len(a.ask.Questions) > 0:
		u.present(u.form(a, 0, nil))
	default:
		u.present(u.confirmContinue(a))
	}
}

// heading prints who asks for what, and the whole text.
func (u *ui) heading(a pendingAsk, what, text string) {
	if a.asker != "" {
		what += " asked by " + a.asker
	}
	if a.ask.Risk != "" {
		what += " (" + sanitizeLine(a.ask.Risk) + " risk)"
	}
	if a.ask.Timeout > 0 {
		what += fmt.Sprintf(" (times out after %s)", formatDuration(a.ask.Timeout.Round(time.Second)))
	}
	u.out.printf("ask: %s", what)
	// White space is part of the text, except empty lines.
	if strings.Trim(text, "\n") != "" {
		u.out.full(text)
	}
}

// maxTitle bounds the first line of a permission prompt that is printed as its heading.
const maxTitle = 60

// permission returns the permission prompt for a tool call, or asks whether the changes of a
// command that has run are applied.
func (u *ui) permission(a pendingAsk) *question {
	choices := u.choices(a)
	deny := choices[len(choices)-1].text
	choices = append(choices, choice{number: "5", words: "but", text: deny + ", and say what to do instead", then: "instead", do: func(ctx context.Context, words string) {
		u.sendAnswer(ctx, a, pawl.Answer{Outcome: pawl.OutcomeDenied, Text: words})
	}})
	title, text, _ := strings.Cut(a.ask.Text, "\n")
	if title = sanitize.Marked(title); len(title) > maxTitle {
		title, text = "Allow this tool call?", a.ask.Text
	}
	return u.forAsk(a, u.menu(func() { u.heading(a, title, text) }, choices))
}

// keys are what the user types for the answers to asks.
var keys = map[string]choice{
	"allow": {number: "1", words: "y yes allow apply"}, "session": {number: "2", words: "s session"}, "always": {number: "3", words: "a always"},
	"deny": {number: "4", words: "n no deny discard"}, "continue": {number: "1", words: "y yes continue"}, "stop": {number: "3", words: "n no stop"},
}

// choices returns the answers that an ask offers.
func (u *ui) choices(a pendingAsk) []choice {
	var list []choice
	for _, c := range transcript.Choices(a.ask) {
		entry := keys[c.Name]
		entry.text, entry.do = strings.ToLower(c.Label), u.answerWith(a, c.Answer)
		if len(c.Answer.Always) > 0 {
			entry.text += ", with the rules above"
		}
		list = append(list, entry)
	}
	return list
}

// confirmContinue returns a yes-or-no question: whether a turn that repeats itself
// continues.
func (u *ui) confirmContinue(a pendingAsk) *question {
	message := choice{number: "2", words: "but", text: "continue, with a message", then: "message", do: func(ctx context.Context, words string) {
		u.sendAnswer(ctx, a, pawl.Answer{Outcome: pawl.OutcomeAnswered, Text: words})
	}}
	a.ask.Kind = pawl.AskLoop // also of an ask without questions
	return u.forAsk(a, u.menu(func() { u.heading(a, "continue this turn?", a.ask.Text) }, slices.Insert(u.choices(a), 1, message)))
}

// forAsk marks a question as the presentation of an ask.
func (u *ui) forAsk(a pendingAsk, q *question) *question {
	q.ask = a.id
	return q
}

// form returns question number at of the model's questions, counted from 0; before
// holds the answers to the earlier ones.
func (u *ui) form(a pendingAsk, at int, before [][]string) *question {
	q := a.ask.Questions[at]
	hint := "number or answer: "
	if q.Multiple {
		hint = "numbers separated by commas, or answer: "
	}
	print := func() {
		if at == 0 {
			what := "question"
			if a.ask.Kind == pawl.AskPlan {
				what = "start with this plan?"
			}
			u.heading(a, what, a.ask.Text)
		}
		u.out.printf("question %d of %d: %s", at+1, len(a.ask.Questions), sanitizeLine(q.Header))
		u.out.full(q.Question)
		for i, o := range q.Options {
			u.printOption(i+1, o)
		}
		u.out.printf("0: skip")
	}
	return u.forAsk(a, &question{hint: hint, print: print, take: func(ctx context.Context, line string) {
		if line == "0" {
			u.question = nil
			u.sendAnswer(ctx, a, pawl.Answer{Outcome: pawl.OutcomeDenied})
			return
		}
		chosen, err := choose(q, line)
		if err != nil {
			u.out.printf("%v", err)
			return
		}
		answers := append(slices.Clone(before), chosen)
		if at+1 < len(a.ask.Questions) {
			u.present(u.form(a, at+1, answers))
			return
		}
		u.question = nil
		u.sendAnswer(ctx, a, pawl.Answer{Outcome: pawl.OutcomeAnswered, Answers: answers})
	}})
}

// printOption prints an option with its description in full: on one line if it is
// short.
func (u *ui) printOption(number int, o pawl.Option) {
	label, description := sanitizeLine(o.Label), sanitizeLine(o.Description)
	long := len(o.Label)+len(o.Description) > maxLineRunes/2
	switch {
	case long:
		u.out.printf("%d:", number)
		u.out.full(o.Label)
		u.out.full(o.Description)
	case description != "":
		u.out.printf("%d: %s (%s)", number, label, description)
	default:
		u.out.printf("%d: %s", number, label)
	}
}

// choose parses a line as the numbers of options, or else takes it as a free-text
// answer. A number out of range is an error: it is probably a typing mistake.
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
			return nil, fmt.Errorf("no option %d", n)
		}
		if label := q.Options[n-1].Label; !slices.Contains(chosen, label) {
			chosen = append(chosen, label)
		}
	}
	return chosen, nil
}

// answerWith returns a choice handler that sends a fixed answer.
func (u *ui) answerWith(a pendingAsk, answer pawl.Answer) func(context.Context, string) {
	return func(ctx context.Context, _ string) { u.sendAnswer(ctx, a, answer) }
}

// sendAnswer sends the user's answer to the service. If the service rejects it, the
// ask stays pending and is shown again.
func (u *ui) sendAnswer(ctx context.Context, a pendingAsk, answer pawl.Answer) {
	answer.Names = a.ask.Names // it counts only for what was shown
	err := u.runInterruptible(ctx, func(ctx context.Context) error { return u.Service.Answer(ctx, a.id.session, a.id.seq, answer) })
	switch {
	case err == nil:
	case errors.Is(err, pawl.ErrConflict), errors.Is(err, pawl.ErrNotFound):
		u.out.printf("answered: already answered elsewhere")
	default:
		u.out.printError(err)
		return
	}
	u.pendingAsks = slices.DeleteFunc(u.pendingAsks, func(b pendingAsk) bool { return a.id == b.id })
}
