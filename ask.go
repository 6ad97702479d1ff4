package pawl

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// AskKind says what a person is asked for.
type AskKind string

// The kinds of asking.
const (
	AskQuestion   AskKind = "question"   // the model wants to know something
	AskPlan       AskKind = "plan"       // the model has a plan and wants to begin
	AskPermission AskKind = "permission" // a call would do what needs a person's word
	AskLoop       AskKind = "loop"       // the turn goes round in circles: shall it go on?
)

// Question is one thing that a person is asked. They may always answer in their
// own words instead of by an option.
type Question struct {
	Header   string   `json:"header"` // a word or two
	Question string   `json:"question"`
	Options  []Option `json:"options,omitempty"`
	Multiple bool     `json:"multiple,omitempty"` // more than one option may be chosen
}

// Option is an answer that is offered.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// Ask is what a person is asked about a call. A call asks once, and at most once
// more for its permission. An [AskLoop] is the turn's own, between two steps.
type Ask struct {
	Kind      AskKind       `json:"kind"`
	Text      string        `json:"text,omitempty"` // what it is about: the plan, all that the call would do, or what repeats
	Questions []Question    `json:"questions,omitempty"`
	Timeout   time.Duration `json:"timeout,omitempty"` // then nobody has answered; 0 means never

	// Of a permission. Offer are the rules that "always" would add, as they are
	// written in a configuration; none means that it may be given once only. Names
	// is the fingerprint of the call as it is shown: the permission is for that.
	Offer []json.RawMessage `json:"offer,omitempty"`
	Names string            `json:"names,omitempty"`
}

// Answer is what came of an [Ask].
type Answer struct {
	Outcome Outcome    `json:"outcome"`
	Answers [][]string `json:"answers,omitempty"` // for each question the chosen labels, or the person's own words
	Text    string     `json:"text,omitempty"`    // a word to the model, beside the answers

	Always []json.RawMessage `json:"always,omitempty"` // of a permission: rules to keep, as offered or made narrower
}

// Outcome says how an [Ask] ended.
type Outcome string

// The outcomes. A person can give only the first two.
const (
	OutcomeAnswered Outcome = "answered"
	OutcomeDenied   Outcome = "denied"
	OutcomeTimeout  Outcome = "timeout"
	OutcomeCanceled Outcome = "canceled"
	OutcomeAbsent   Outcome = "absent" // the prompt said that nobody can be asked
)

// Check returns what is wrong with a person's answer.
func (a Ask) Check(answer Answer) error {
	switch answer.Outcome {
	case OutcomeDenied:
		if len(answer.Always) > 0 {
			return errors.New("what is declined cannot be permitted for good")
		}
		return nil
	case OutcomeAnswered:
	case OutcomeTimeout, OutcomeCanceled, OutcomeAbsent:
		return fmt.Errorf("a person cannot answer %q", answer.Outcome)
	default:
		return fmt.Errorf("unknown outcome %q", answer.Outcome)
	}
	if len(answer.Always) > 0 && len(a.Offer) == 0 {
		return errors.New("it is not offered for good: permit it once, or decline")
	}
	if a.Kind == AskPermission && answer.Text != "" {
		return errors.New("a word to the model goes with a no: permit it, and send the word as a prompt")
	}
	if len(answer.Answers) != len(a.Questions) {
		return fmt.Errorf("%d answers to %d questions", len(answer.Answers), len(a.Questions))
	}
	for i, chosen := range answer.Answers {
		if n := len(chosen); n == 0 || n > 1 && !a.Questions[i].Multiple {
			return fmt.Errorf("%d answers to the question %q", n, a.Questions[i].Header)
		}
	}
	return nil
}

// Todo is one item of the list that the model keeps of its work.
type Todo struct {
	ID       string       `json:"id"`
	Content  string       `json:"content"`
	Status   TodoStatus   `json:"status"`
	Priority TodoPriority `json:"priority"`
}

// TodoStatus says how far an item has come.
type TodoStatus string

// The statuses.
const (
	TodoPending    TodoStatus = "pending"
	TodoInProgress TodoStatus = "in_progress"
	TodoCompleted  TodoStatus = "completed"
	TodoCanceled   TodoStatus = "canceled"
)

// TodoPriority says how much an item matters.
type TodoPriority string

// The priorities.
const (
	PriorityHigh   TodoPriority = "high"
	PriorityMedium TodoPriority = "medium"
	PriorityLow    TodoPriority = "low"
)
