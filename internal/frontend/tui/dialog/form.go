package dialog

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// form asks the model's questions, or whether to accept a plan, which is shown above.
// Nothing is selected at first, so that enter alone does not accept it.
type form struct {
	*base
	at      int // the question; len(answers) means the review of all answers
	answers []answerState
	word    string // to the model, beside the answers
	wording bool   // the field is for the word
}

// answerState is the answer to a question so far.
type answerState struct {
	cursor int // the option; -1 means none, len(options) the user's own words
	chosen map[int]bool
	own    string
}

func newForm(b *base) *form {
	f := &form{base: b}
	for range b.asking.Ask.Questions {
		g := answerState{chosen: map[int]bool{}}
		if f.isPlan() {
			g.cursor = -1
		}
		f.answers = append(f.answers, g)
	}
	return f
}

func (f *form) isPlan() bool { return f.asking.Ask.Kind == pawl.AskPlan }

// uses reports whether a character does something in the form.
func (f *form) uses(key string) bool {
	n, err := strconv.Atoi(key)
	number := err == nil && !f.review() && n >= 1 && n <= len(f.asking.Ask.Questions[f.at].Options)+1
	return number || key == "space" || f.shared.Keys.Action(keys.Ask, key) == keys.Message
}

// question returns the current question and its answer.
func (f *form) question() (pawl.Question, *answerState) {
	return f.asking.Ask.Questions[f.at], &f.answers[f.at]
}

// review reports whether all answers are shown for review.
func (f *form) review() bool { return f.at >= len(f.answers) }

// Update handles a message.
func (f *form) Update(msg tea.Msg) (ui.Dialog, tea.Cmd) {
	if cmd, ok := f.beside(msg); ok {
		return f, cmd
	}
	if k, ok := msg.(tea.KeyPressMsg); ok {
		if !f.lock.Takes() || f.field == nil && f.pane.Key(f.shared.Keys, k.String(), false) {
			return f, nil
		}
		if f.field == nil {
			return f, f.key(k)
		}
	}
	if f.field != nil {
		return f, f.write(msg)
	}
	return f, nil
}

func (f *form) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch f.shared.Keys.Action(keys.Dialog, name) {
	case keys.Close:
		return f.answer(pawl.Answer{Outcome: pawl.OutcomeDenied, Text: f.word})
	case keys.Choose:
		return f.enter()
	case keys.Up:
		f.move(-1)
		return nil
	case keys.Down:
		f.move(1)
		return nil
	default:
	}
	if f.shared.Keys.Action(keys.Ask, name) == keys.Message {
		f.wording, f.field = true, newField(f.shared, "message to the model", f.word)
		return nil
	}
	switch name {
	case "left", "shift+tab":
		f.at = max(0, f.at-1)
	case "right", "tab":
		if !f.review() && f.ready(f.at) && len(f.answers) > 1 {
			f.at++
		}
	case "space":
		if !f.review() {
			return f.toggle()
		}
	default:
		return f.digit(name)
	}
	return nil
}

func (f *form) move(by int) {
	if f.review() {
		return
	}
	q, g := f.question()
	g.cursor = max(0, min(g.cursor+by, len(q.Options)))
}

// digit moves to an option by its number, and chooses it.
func (f *form) digit(name string) tea.Cmd {
	n, err := strconv.Atoi(name)
	if err != nil || f.review() {
		return nil
	}
	q, g := f.question()
	if n < 1 || n > len(q.Options)+1 {
		return nil
	}
	g.cursor = n - 1
	if q.Multiple {
		return f.toggle()
	}
	return f.enter()
}

// toggle chooses an option, or removes the choice.
func (f *form) toggle() tea.Cmd {
	q, g := f.question()
	switch {
	case g.cursor < 0:
	case g.cursor == len(q.Options):
		f.ownWords()
	case g.chosen[g.cursor]:
		delete(g.chosen, g.cursor)
	default:
		if !q.Multiple {
			clear(g.chosen)
			g.own = ""
		}
		g.chosen[g.cursor] = true
	}
	return nil
}

func (f *form) ownWords() {
	_, g := f.question()
	f.wording, f.field = false, newField(f.shared, "your answer", g.own)
}

// enter takes the option under the cursor and continues; with multiple choice, the
// chosen ones.
func (f *form) enter() tea.Cmd {
	if f.review() {
		return f.send()
	}
	q, g := f.question()
	switch {
	case g.cursor == len(q.Options) && (g.own == "" || !q.Multiple):
		f.ownWords()
		return nil
	case g.cursor < 0:
		return nil
	case !q.Multiple:
		clear(g.chosen)
		g.own, g.chosen[g.cursor] = "", true
	case !f.ready(f.at):
		g.chosen[g.cursor] = true
	}
	return f.next()
}

// next goes to the next question. A single question needs no review.
func (f *form) next() tea.Cmd {
	if len(f.answers) == 1 {
		return f.send()
	}
	f.at++
	return nil
}

// ready reports whether a question has an answer.
func (f *form) ready(i int) bool { return len(f.answers[i].chosen) > 0 || f.answers[i].own != "" }

// send sends the answers, or goes to the first question without one.
func (f *form) send() tea.Cmd {
	a := pawl.Answer{Outcome: pawl.OutcomeAnswered, Text: f.word}
	for i := range f.answers {
		if !f.ready(i) {
			f.at = i
			return nil
		}
		a.Answers = append(a.Answers, f.labels(i))
	}
	return f.answer(a)
}

// labels returns the answers to a question.
func (f *form) labels(i int) []string {
	var labels []string
	for n, o := range f.asking.Ask.Questions[i].Options {
		if f.answers[i].chosen[n] {
			labels = append(labels, o.Label)
		}
	}
	if own := f.answers[i].own; own != "" {
		labels = append(labels, own)
	}
	return labels
}

// write handles input for the field: an answer, or a word beside the answers.
func (f *form) write(msg tea.Msg) tea.Cmd {
	end, cmd := f.field.update(msg)
	if end == fieldOpen {
		return cmd
	}
	text := f.field.value()
	f.field = nil
	switch {
	case end == fieldLeft:
	case f.wording:
		f.word = text
	default:
		q, g := f.question()
		g.own = text
		if text == "" || q.Multiple {
			return nil
		}
		clear(g.chosen)
		return f.next()
	}
	return nil
}
