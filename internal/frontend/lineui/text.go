package lineui

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// took is how long something was under way, as it is spoken.
func took(d time.Duration) string {
	seconds := int(d.Round(time.Second).Seconds())
	switch {
	case seconds < 60:
		return humanize.Plural(seconds, "second")
	case seconds < 3600:
		return spoken(seconds/60, "minute", seconds%60, "second")
	}
	return spoken(seconds/3600, "hour", seconds/60%60, "minute")
}

func spoken(n int, unit string, m int, smaller string) string {
	if m == 0 {
		return humanize.Plural(n, unit)
	}
	return humanize.Plural(n, unit) + " " + humanize.Plural(m, smaller)
}

// lineCount says how many lines a text has.
func lineCount(text string) string {
	text = strings.TrimRight(text, "\n")
	if strings.TrimSpace(text) == "" {
		return "no output"
	}
	return humanize.Plural(strings.Count(text, "\n")+1, "line") + " of output"
}

// nextSteps are what to do about a failure, by its class.
var nextSteps = map[pawl.Code]string{
	pawl.CodeInvalid:     "change what was asked for, and try again; /help lists the commands",
	pawl.CodeNotFound:    "it may have been deleted meanwhile: /sessions lists what is there",
	pawl.CodeConflict:    "somebody was faster: look at what is there now, and try again",
	pawl.CodeBusy:        "wait until the work is done, or interrupt it with Ctrl-C",
	pawl.CodeDenied:      "'pawl permissions' shows the rules; another /mode may allow it",
	pawl.CodeUnavailable: "see that the server or the network is there, and try again",
	pawl.CodeInternal:    "'pawl doctor' checks what pawl needs; what was said so far is kept",
}

// slipError is something that cannot be done as it was written. It says itself what
// to do.
type slipError string

func (e slipError) Error() string { return string(e) }

// slip returns one. What of it a stranger wrote was made safe before.
func slip(format string, arguments ...any) error {
	return slipError(fmt.Sprintf(format, arguments...))
}

// fail says what went wrong and what to do next.
func (v *voice) fail(err error) {
	text := strings.TrimSpace(shown(err.Error()))
	first, rest, more := strings.Cut(text, "\n")
	v.say("failed: %s", first)
	if more {
		v.block(rest)
	}
	var s slipError
	if !errors.As(err, &s) {
		v.say("next: %s", nextSteps[pawl.CodeOf(err)])
	}
}

// ends say what a person can do about the end of a turn.
var ends = map[pawl.Reason]string{
	pawl.ReasonMaxSteps:         "send a prompt to go on, or start with a higher --max-steps",
	pawl.ReasonMaxTokens:        "send a prompt to go on: the reply was longer than the model may write at once",
	pawl.ReasonBudget:           "send a prompt to go on, or start with a higher --max-cost",
	pawl.ReasonLoop:             "say what to do otherwise, and send it",
	pawl.ReasonPermissionDenied: "permit it, choose another /mode, or say what to do instead",
	pawl.ReasonError:            "'pawl doctor' says what is wrong; the session is kept, and a prompt goes on with it",
}

// nextOf says what a person can do about the end of a turn, or "".
func nextOf(b pawl.TurnFinished) string {
	if b.Reason == pawl.ReasonError && b.Fault == pawl.FaultModel {
		return "send the prompt again, or choose another /model; 'pawl doctor' checks keys and providers"
	}
	return ends[b.Reason]
}
