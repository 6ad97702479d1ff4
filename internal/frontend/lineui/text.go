package lineui

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
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
	pawl.CodeInvalid:     "change the request and try again; /help lists the commands",
	pawl.CodeNotFound:    "it may have been deleted; /sessions lists the sessions",
	pawl.CodeConflict:    "check the current state and try again",
	pawl.CodeBusy:        "wait until the turn ends, or interrupt it with Ctrl-C",
	pawl.CodeDenied:      "run `pawl permissions list` to see the rules, or choose another /mode",
	pawl.CodeUnavailable: "check the server and the network, and try again",
	pawl.CodeInternal:    "run `pawl doctor` to find the problem; the session is saved",
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
		p.printf("next: %s", cmp.Or(sanitizeLine(fault.HintOf(err)), nextSteps[pawl.CodeOf(err)]))
	}
}
