package lineui

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// formatDuration writes a duration in words, for screen readers.
func formatDuration(d time.Duration) string {
	seconds := int(d.Round(time.Second).Seconds())
	switch {
	case seconds < 60:
		return humanize.Plural(seconds, "second")
	case seconds < 3600:
		return twoUnits(seconds/60, "minute", seconds%60, "second")
	}
	return twoUnits(seconds/3600, "hour", seconds/60%60, "minute")
}

func twoUnits(n int, unit string, m int, smaller string) string {
	if m == 0 {
		return humanize.Plural(n, unit)
	}
	return humanize.Plural(n, unit) + " " + humanize.Plural(m, smaller)
}

// lineCount describes how many lines a text has.
func lineCount(text string) string {
	text = strings.TrimRight(text, "\n")
	if strings.TrimSpace(text) == "" {
		return "no output"
	}
	return humanize.Plural(strings.Count(text, "\n")+1, "line") + " of output"
}

// nextSteps says what to do about an error, by its code.
var nextSteps = map[pawl.Code]string{
	pawl.CodeInvalid:     "change what was asked for, and try again; /help lists the commands",
	pawl.CodeNotFound:    "it may have been deleted meanwhile: /sessions lists what is there",
	pawl.CodeConflict:    "somebody was faster: look at what is there now, and try again",
	pawl.CodeBusy:        "wait until the work is done, or interrupt it with Ctrl-C",
	pawl.CodeDenied:      "'pawl permissions' shows the rules; another /mode may allow it",
	pawl.CodeUnavailable: "see that the server or the network is there, and try again",
	pawl.CodeInternal:    "'pawl doctor' checks what pawl needs; what was said so far is kept",
}

// usageError is an input that cannot be carried out as written. Its message says what
// to do.
type usageError string

func (e usageError) Error() string { return string(e) }

// usagef returns a usageError. Untrusted arguments must be sanitized.
func usagef(format string, arguments ...any) error {
	return usageError(fmt.Sprintf(format, arguments...))
}

// printError prints an error and what to do next.
func (p *printer) printError(err error) {
	text := strings.TrimSpace(sanitizeBlock(err.Error()))
	first, rest, more := strings.Cut(text, "\n")
	p.printf("failed: %s", first)
	if more {
		p.block(rest)
	}
	var s usageError
	if !errors.As(err, &s) {
		p.printf("next: %s", nextSteps[pawl.CodeOf(err)])
	}
}

// turnHints says what to do after a turn that ended early, by reason.
var turnHints = map[pawl.Reason]string{
	pawl.ReasonMaxSteps:         "send a prompt to go on, or start with a higher --max-steps",
	pawl.ReasonMaxTokens:        "send a prompt to go on: the reply was longer than the model may write at once",
	pawl.ReasonBudget:           "send a prompt to go on, or start with a higher --max-cost",
	pawl.ReasonLoop:             "say what to do otherwise, and send it",
	pawl.ReasonPermissionDenied: "permit it, choose another /mode, or say what to do instead",
	pawl.ReasonError:            "'pawl doctor' says what is wrong; the session is kept, and a prompt goes on with it",
}

// nextStep says what to do after a turn, or returns "".
func nextStep(b pawl.TurnFinished) string {
	if b.Reason == pawl.ReasonError && b.Fault == pawl.FaultModel {
		return "send the prompt again, or choose another /model; 'pawl doctor' checks keys and providers"
	}
	return turnHints[b.Reason]
}
