package lineui

import (
	"context"
	"strings"
	"time"
)

// Input answers a question only after the question has been visible, with nothing
// typed, for this many steps. A single long timer would not do: if the process was
// suspended, the timer fires at once, and the lines typed meanwhile arrive right after
// it.
const (
	settleSteps   = 4
	settleStep    = 100 * time.Millisecond
	maxSettleStep = time.Second // a step that took longer does not count: the process was suspended
)

// inputLock keeps lines that were typed for something else from answering a question.
type inputLock struct {
	left    int       // steps until input is accepted
	started time.Time // when the current step began
	from    time.Time // input read before this time is rejected
}

func (l *inputLock) arm(now time.Time) { l.left, l.started = settleSteps, now }

// elapsed records that a step is over. It reports whether input is accepted from now
// on.
func (l *inputLock) elapsed(now time.Time) bool {
	if l.left > 0 && now.Sub(l.started) <= maxSettleStep {
		l.left--
	} else {
		l.left = settleSteps
	}
	l.started = now
	return l.left == 0
}

// accepts reports whether input that was read at a time is accepted. Input that comes
// too early restarts the wait.
func (l *inputLock) accepts(at time.Time) bool {
	if l.left > 0 {
		l.left = settleSteps
		return false
	}
	return !at.Before(l.from)
}

// question is what the next line answers.
type question struct {
	ask   askID  // the ask that it presents; zero for one of pawl's own questions
	print func() // prints the question
	hint  string // the prompt for the answer
	// take handles a non-empty answer. If ui.question is unchanged afterwards, the
	// prompt for it is shown again.
	take func(ctx context.Context, line string)
}

// present shows a question. Input typed before does not answer it.
func (u *ui) present(q *question) {
	u.question = q
	q.print()
	u.lock.arm(time.Now())
}

// presentFollowUp shows a question that follows from the user's own answer; it accepts
// input at once.
func (u *ui) presentFollowUp(q *question) {
	u.question = q
	q.print()
	u.lock = inputLock{from: time.Now()}
}

// settle records that a step of the lock is over.
func (u *ui) settle() {
	if u.lock.elapsed(time.Now()) {
		if u.Forget != nil {
			u.Forget()
		}
		u.lock.from = time.Now()
	}
}

// answer handles input while a question is shown.
func (u *ui) answer(ctx context.Context, in userInput) {
	if !u.lock.accepts(in.at) {
		u.out.printf("ignored, because it was typed before the question: %s", sanitizeLine(in.text()))
		return
	}
	u.out.lineEntered()
	q, line := u.question, strings.TrimSpace(in.text())
	switch {
	case in.pasted():
		u.out.printf("ignored: an answer is one line")
	case line == "": // ignored: Enter is too easily pressed to mean anything
	case line == "/again":
		q.print()
	case line == "/quit":
		u.quit()
	default:
		q.take(ctx, line)
	}
}

// choice is one answer of a menu.
type choice struct {
	number string // what the user types
	words  string // synonyms, separated by spaces
	text   string
	then   string // label of the prompt for additional text; "" means that it takes none
	do     func(ctx context.Context, words string)
}

// menu returns a question with fixed choices.
func (u *ui) menu(print func(), choices []choice) *question {
	q := &question{hint: "number: "}
	q.print = func() {
		print()
		for _, c := range choices {
			u.out.printf("%s: %s", c.number, c.text)
		}
	}
	q.take = func(ctx context.Context, line string) {
		first, rest, _ := strings.Cut(line, " ")
		first, rest = strings.ToLower(strings.TrimRight(first, ".,:")), strings.TrimSpace(rest)
		for _, c := range choices {
			if first != c.number && !containsWord(c.words, first) || rest != "" && c.then == "" {
				continue
			}
			if c.then != "" && rest == "" {
				u.presentFollowUp(u.askWords(q, c))
				return
			}
			u.question = nil
			c.do(ctx, rest)
			return
		}
		u.out.printf("not one of the answers; /again prints them again")
	}
	return q
}

func containsWord(words, word string) bool {
	for w := range strings.FieldsSeq(words) {
		if w == word {
			return true
		}
	}
	return false
}

// askWords asks for the additional text of a choice.
func (u *ui) askWords(q *question, c choice) *question {
	return &question{ask: q.ask, print: func() {}, hint: c.then + ": ", take: func(ctx context.Context, line string) {
		u.question = nil
		c.do(ctx, line)
	}}
}
