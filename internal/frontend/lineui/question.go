package lineui

import (
	"context"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/weak"
)

// What is typed answers a question once it was there, and nothing was typed, for so
// many steps. One long wait would not do: after pawl was stopped such a wait is over
// at once, and the lines that piled up meanwhile come right behind it.
const (
	settleSteps = 4
	settleStep  = 100 * time.Millisecond
	stuck       = time.Second // a step that took so long is no step
)

// lock keeps lines that were typed for something else from answering.
type lock struct {
	left    int       // steps until lines count
	ordered time.Time // when the step began
	from    time.Time // what was read before does not count
}

func (l *lock) shut(now time.Time) { l.left, l.ordered = settleSteps, now }

// step takes note that a step is over. It reports whether lines count from now on.
func (l *lock) step(now time.Time) bool {
	if l.left > 0 && now.Sub(l.ordered) <= stuck {
		l.left--
	} else {
		l.left = settleSteps
	}
	l.ordered = now
	return l.left == 0
}

// takes reports whether a line that was read at a time counts. One that comes too
// early makes the wait begin anew.
func (l *lock) takes(at time.Time) bool {
	if weak.On("ask.dwell") {
		return true
	}
	if l.left > 0 {
		l.left = settleSteps
		return false
	}
	return !at.Before(l.from)
}

// question is something that the next line answers.
type question struct {
	of   askID  // the ask that it puts; zero for one of pawl's own
	say  func() // says what is asked
	hint string // stands before the answer
	// take takes an answer that is not empty. If the question is still the same
	// after it, it is asked once more.
	take func(ctx context.Context, line string)
}

// pose puts a question. What was typed before does not answer it.
func (t *talk) pose(q *question) {
	t.question = q
	q.say()
	t.lock.shut(time.Now())
	if weak.On("ask.dwell") {
		t.lock.left = 0
	}
}

// ask puts a question that follows from the person's own answer.
func (t *talk) ask(q *question) {
	t.question = q
	q.say()
	t.lock = lock{from: time.Now()}
}

// settle takes note that a step of the lock is over.
func (t *talk) settle() {
	if t.lock.step(time.Now()) {
		if t.Forget != nil {
			t.Forget()
		}
		t.lock.from = time.Now()
	}
}

// answer takes what was typed while a question is asked.
func (t *talk) answer(ctx context.Context, in typed) {
	if !t.lock.takes(in.at) {
		t.voice.say("not taken, for it was typed before the question: %s", name(in.text()))
		return
	}
	t.voice.typed()
	q, line := t.question, strings.TrimSpace(in.text())
	switch {
	case in.pasted():
		t.voice.say("not taken: an answer is one line")
	case line == "": // too easily typed to mean anything
	case line == "/again":
		q.say()
	case line == "/quit":
		t.quit()
	default:
		q.take(ctx, line)
	}
}

// choice is an answer that is offered.
type choice struct {
	number string // what is typed
	words  string // what means the same, with blanks between
	text   string
	then   string // asks for words that belong to it; "" means that none do
	do     func(ctx context.Context, words string)
}

// menu is a question with choices.
func (t *talk) menu(say func(), choices []choice) *question {
	q := &question{hint: "number: "}
	q.say = func() {
		say()
		for _, c := range choices {
			t.voice.say("%s: %s", c.number, c.text)
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
				t.ask(t.wordsFor(q, c))
				return
			}
			t.question = nil
			c.do(ctx, rest)
			return
		}
		t.voice.say("that is none of the answers; /again says them again")
	}
	return q
}

// containsWord reports whether a word is one of some.
func containsWord(words, word string) bool {
	for w := range strings.FieldsSeq(words) {
		if w == word {
			return true
		}
	}
	return false
}

// wordsFor asks for the words of a choice.
func (t *talk) wordsFor(q *question, c choice) *question {
	return &question{of: q.of, say: func() {}, hint: c.then + ": ", take: func(ctx context.Context, line string) {
		t.question = nil
		c.do(ctx, line)
	}}
}
