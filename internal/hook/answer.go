package hook

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// blockCode is the exit code of a command that blocks; its stderr is the
// reason.
const blockCode = 2

// The exit codes of a shell for a command that cannot run. A guard that is missing must not let a call pass.
const (
	notExecutable = 126
	notFound      = 127
)

// answer is the result of a command.
type answer struct {
	code           int
	stdout, stderr *bounded
}

// read converts an answer to an outcome, according to the event's point.
func (c *command) read(e Event, t toolCall, a answer) (Outcome, error) {
	reason, _ := a.stderr.get()
	reason = strings.TrimSpace(sanitize.Marked(strings.ToValidUTF8(reason, "\ufffd")))
	switch a.code {
	case 0:
		return c.readOutput(e, t, a.stdout)
	case blockCode:
		var o Outcome
		c.block(e, &o, reason)
		return o, nil
	case -1:
		return Outcome{}, errors.New("killed by a signal")
	case notExecutable, notFound:
		return Outcome{}, fmt.Errorf("it could not run, exit code %d: %s", a.code, cut(cmp.Or(reason, "no reason given"), maxMessage/2))
	}
	text := fmt.Sprintf("failed with exit code %d and was ignored", a.code)
	if reason != "" {
		text += ": " + cut(reason, maxMessage/2)
	}
	return Outcome{Faults: []Fault{{Hook: c.name, Text: text}}}, nil
}

// block applies a block: it refuses a prompt or a call, adds a text for the
// model after a call, and continues the turn at its end. Elsewhere it is a
// message for the user.
func (c *command) block(e Event, o *Outcome, reason string) {
	can := powers[e.Point]
	given := cmp.Or(reason, "hook "+c.name+" gave no reason")
	switch {
	case can&canBlock != 0:
		o.Block, o.Reason = true, given
	case can&canContinue != 0 && e.StopBlocks >= MaxStopBlocks:
		o.Faults = append(o.Faults, Fault{Hook: c.name, Text: fmt.Sprintf("continued the turn %d times in a row: the turn ends now. Its reason: %s", MaxStopBlocks, cut(given, maxMessage/2))})
	case can&canContinue != 0:
		o.Continue, o.StopBlocked, o.Injection = true, true, given
	case e.Point == ToolAfter:
		o.Context = append(o.Context, given)
	default:
		o.Messages = append(o.Messages, given)
	}
}

// output is the JSON output of a command. Other keys are ignored.
type output struct {
	Continue       *bool    `json:"continue"`
	StopReason     string   `json:"stopReason"`
	SuppressOutput bool     `json:"suppressOutput"` // output is never shown
	SystemMessage  string   `json:"systemMessage"`
	Decision       string   `json:"decision"`
	Reason         string   `json:"reason"`
	Specific       specific `json:"hookSpecificOutput"`
}

type specific struct {
	Event    string          `json:"hookEventName"`
	Decision string          `json:"permissionDecision"`
	Reason   string          `json:"permissionDecisionReason"`
	Input    json.RawMessage `json:"updatedInput"`
	Context  string          `json:"additionalContext"`

	Request struct { // of permission.ask
		Behavior string          `json:"behavior"`
		Message  string          `json:"message"`
		Input    json.RawMessage `json:"updatedInput"`
	} `json:"decision"`
}

// plainContext are the points where output that is not JSON goes to the model.
var plainContext = []Point{ChatMessage, SessionStart}

// readOutput interprets the output of a command that has not failed.
func (c *command) readOutput(e Event, t toolCall, stdout *bounded) (Outcome, error) {
	text, more := stdout.get()
	text = strings.TrimSpace(text)
	valid := utf8.ValidString(text)
	if !isJSON(e.Point, text) {
		return c.plainOutput(e, text, more, valid), nil
	}
	var out output
	err := json.Unmarshal([]byte(text), &out)
	if err == nil {
		err = strictjson.Decode([]byte(text), new(any)) // duplicate keys are ambiguous
	}
	switch {
	case more:
		return Outcome{}, fmt.Errorf("the output is larger than %d bytes", maxOutput)
	case !valid:
		return Outcome{}, errors.New("the output is not valid UTF-8")
	case err != nil:
		return Outcome{}, fmt.Errorf("invalid output: print one JSON object and nothing else: %w", err)
	}
	out.mark()
	return c.mean(e, t, out)
}

// isJSON reports whether an output is meant to be JSON. Before a call, text
// that contains a decision counts too, so that a deny is not lost to a stray
// line.
func isJSON(p Point, text string) bool {
	return strings.HasPrefix(text, "{") || p == ToolBefore && slices.ContainsFunc(decisive, func(key string) bool { return strings.Contains(text, key) })
}

var decisive = []string{`"permissionDecision"`, `"decision"`, `"continue"`}

func (c *command) plainOutput(e Event, text string, more, valid bool) Outcome {
	var o Outcome
	if more || !valid {
		o.Faults = []Fault{{Hook: c.name, Text: fmt.Sprintf("the output is larger than %d bytes or not valid UTF-8: only its beginning is used", maxOutput)}}
	}
	if text != "" && slices.Contains(plainContext, e.Point) {
		o.Context = []string{sanitize.Marked(strings.ToValidUTF8(text, "\ufffd"))}
	}
	return o
}

// mark makes invisible characters in the texts visible.
func (out *output) mark() {
	for _, s := range []*string{&out.StopReason, &out.SystemMessage, &out.Reason, &out.Specific.Reason, &out.Specific.Context, &out.Specific.Request.Message} {
		*s = strings.TrimSpace(sanitize.Marked(*s))
	}
}

// mean converts an output to an outcome.
func (c *command) mean(e Event, t toolCall, out output) (Outcome, error) {
	var o Outcome
	if p, known := ParsePoint(out.Specific.Event); out.Specific.Event != "" && (!known || p != e.Point) {
		return o, fmt.Errorf("the output is for event %q, but the hook ran for %s", out.Specific.Event, c.Event)
	}
	if out.SystemMessage != "" {
		o.Messages = []string{out.SystemMessage}
	}
	if out.Continue != nil && !*out.Continue {
		o.Stop, o.StopReason = true, cmp.Or(out.StopReason, "hook "+c.name+" ended the turn")
		return o, nil
	}
	if err := c.decide(e, &o, out); err != nil {
		return Outcome{}, err
	}
	input := out.Specific.Input
	if e.Point == PermissionAsk {
		input = out.Specific.Request.Input
	}
	if isSet(input) {
		var err error
		if o.Input, err = c.changed(e, t, input); err != nil {
			return Outcome{}, err
		}
	}
	if out.Specific.Context != "" && powers[e.Point]&canContext != 0 {
		o.Context = append(o.Context, out.Specific.Context)
	}
	return o, nil
}

func isSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// changed returns a changed input with our field names.
func (c *command) changed(e Event, t toolCall, input json.RawMessage) (json.RawMessage, error) {
	if !c.Origin.claude() || e.Tool == "apply_patch" {
		return input, checkInput(input)
	}
	return ourInput(e.Tool, t.input, e.Input, input)
}

// decide applies all decisions of an output: the strictest counts.
func (c *command) decide(e Event, o *Outcome, out output) error {
	for _, d := range []struct{ word, reason string }{
		{out.Decision, out.Reason},
		{out.Specific.Decision, cmp.Or(out.Specific.Reason, out.Reason)},
		{out.Specific.Request.Behavior, cmp.Or(out.Specific.Request.Message, out.Reason)},
	} {
		switch d.word {
		case "":
		case "block", "deny":
			if !o.Block {
				c.block(e, o, d.reason)
			}
		case "ask":
			if powers[e.Point]&canDecide == 0 {
				return errors.New("decision ask is not possible for this event")
			}
			o.Decision = stricter(o.Decision, Ask)
			if d.reason != "" {
				o.Messages = append(o.Messages, d.reason)
			}
		case "allow", "approve":
			if c.CanAllow && powers[e.Point]&canDecide != 0 {
				o.Decision = stricter(o.Decision, Allow)
			}
		default:
			return fmt.Errorf("unknown decision %q: use allow, ask, deny or block", d.word)
		}
	}
	return nil
}
