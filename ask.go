package pawl

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// AskKind is the kind of an [Ask].
type AskKind string

// The kinds of asks.
const (
	AskQuestion   AskKind = "question"   // the model asks a question
	AskPlan       AskKind = "plan"       // the model presents a plan and asks whether to start
	AskPermission AskKind = "permission" // a tool call needs permission to run, or a command that has run to apply its changes
	AskLoop       AskKind = "loop"       // the turn repeats itself: continue?
)

// Question is one question to the user, who can always answer with free text
// instead of an option.
type Question struct {
	Header   string   `json:"header"` // a word or two
	Question string   `json:"question"`
	Options  []Option `json:"options,omitempty"`
	Multiple bool     `json:"multiple,omitempty"` // more than one option can be chosen
}

// Option is one of the answers that a [Question] offers.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// Ask is what the user is asked about a tool call. A call asks at most once, and at
// most once more for permission. An [AskLoop] belongs to the turn, between two
// steps, instead of to a call.
type Ask struct {
	Kind      AskKind       `json:"kind"`
	Text      string        `json:"text,omitempty"` // the plan, everything that the call would do, the changes of a command that wait to be applied, or what repeats
	Questions []Question    `json:"questions,omitempty"`
	Timeout   time.Duration `json:"timeout,omitempty"` // how long to wait for an answer; 0 means forever

	// What a prompt shows, besides the Text with all details. The command and the diff are
	// what the model wrote: untrusted, and not sanitized.
	Title   string `json:"title,omitempty"`   // what it is about, on one line
	Command string `json:"command,omitempty"` // what would run, or has run
	Diff    string `json:"diff,omitempty"`    // what would change; "" if it is very long
	Reason  string `json:"reason,omitempty"`  // why it asks, in a few sentences
	Risk    string `json:"risk,omitempty"`    // low, medium or high
	Ran     bool   `json:"ran,omitempty"`     // the command has run: the answer decides whether its changes are applied

	// For permissions: Offer lists the rules that "always allow" would add, in the
	// syntax of the configuration; if it is empty the permission can be given only
	// once. Names is the fingerprint of the call as shown: the permission is valid
	// for that call only.
	Offer []json.RawMessage `json:"offer,omitempty"`
	Names string            `json:"names,omitempty"`
}

// Answer is the outcome of an [Ask].
type Answer struct {
	Outcome Outcome    `json:"outcome"`
	Answers [][]string `json:"answers,omitempty"` // for each question the chosen labels, or free text
	Text    string     `json:"text,omitempty"`    // a message to the model, in addition to the answers

	Always  []json.RawMessage `json:"always,omitempty"`  // of a permission: rules to save, as offered or edited
	Session bool              `json:"session,omitempty"` // the rules apply to this session only, not to the project

	// Names repeats that of the ask, so that the answer counts only for what the user has
	// seen; "" is not checked.
	Names string `json:"names,omitempty"`
}

// Outcome is how an [Ask] ended.
type Outcome string

// The outcomes. Users can give only the first two.
const (
	OutcomeAnswered Outcome = "answered"
	OutcomeDenied   Outcome = "denied"
	OutcomeTimeout  Outcome = "timeout"
	OutcomeCanceled Outcome = "canceled"
	OutcomeAbsent   Outcome = "absent" // the prompt said that no user is present; see [Settings]
)

// Check returns an error if the answer does not fit the ask.
func (a Ask) Check(answer Answer) error {
	if answer.Names != "" && answer.Names != a.Names {
		return errors.New("the answer is for another request: read the request again")
	}
	switch answer.Outcome {
	case OutcomeDenied:
		if len(answer.Always) > 0 {
			return errors.New("a denied permission cannot be always allowed")
		}
		return nil
	case OutcomeAnswered:
	case OutcomeTimeout, OutcomeCanceled, OutcomeAbsent:
		return fmt.Errorf("outcome %q cannot be given by a user: use answered or denied", answer.Outcome)
	default:
		return fmt.Errorf("unknown outcome %q: use answered or denied", answer.Outcome)
	}
	if answer.Session && len(answer.Always) == 0 {
		return errors.New("an answer for the session needs the rules to allow: give them as always")
	}
	if len(answer.Always) > 0 && len(a.Offer) == 0 {
		return errors.New("always allow is not offered here: allow once or deny")
	}
	if a.Kind == AskPermission && answer.Text != "" {
		return errors.New("a message can only go with a denial: allow, then send the message as a prompt")
	}
	if len(answer.Answers) != len(a.Questions) {
		return fmt.Errorf("got %d answers to %d questions", len(answer.Answers), len(a.Questions))
	}
	for i, chosen := range answer.Answers {
		if n := len(chosen); n == 0 || n > 1 && !a.Questions[i].Multiple {
			return fmt.Errorf("got %d answers to the question %q: give one, or more if it allows several", n, a.Questions[i].Header)
		}
	}
	return nil
}

// Todo is an item of the model's todo list.
type Todo struct {
	ID       string       `json:"id"`
	Content  string       `json:"content"`
	Status   TodoStatus   `json:"status"`
	Priority TodoPriority `json:"priority"`
}

// TodoStatus is the state of a [Todo].
type TodoStatus string

// The statuses.
const (
	TodoPending    TodoStatus = "pending"
	TodoInProgress TodoStatus = "in_progress"
	TodoCompleted  TodoStatus = "completed"
	TodoCanceled   TodoStatus = "canceled"
)

// TodoPriority is the priority of a [Todo].
type TodoPriority string

// The priorities.
const (
	PriorityHigh   TodoPriority = "high"
	PriorityMedium TodoPriority = "medium"
	PriorityLow    TodoPriority = "low"
)
