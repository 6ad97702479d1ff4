package gate

import (
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Summary describes the result of a check in a few words.
func Summary(r pawl.CheckRun) string {
	if r.Tests == nil {
		return result(r)
	}
	return result(r) + ", " + tests(r.Tests)
}

func cell(text string) string { return strings.ReplaceAll(sanitize.Line(text), "|", `\|`) }

func result(r pawl.CheckRun) string {
	switch {
	case r.Fault != "":
		return sanitize.Line(r.Fault)
	case r.Code == 0:
		return "passed"
	default:
		return fmt.Sprintf("exit %d", r.Code)
	}
}

func took(r pawl.CheckRun) string { return r.Duration.Round(time.Millisecond).String() }

func tests(c *pawl.TestCount) string {
	if c == nil {
		return ""
	}
	text := fmt.Sprintf("%d passed", c.Passed)
	for _, more := range []struct {
		n    int
		word string
	}{{c.Failed, "failed"}, {c.Skipped, "skipped"}, {c.Broken, "broken"}} {
		if more.n > 0 {
			text += fmt.Sprintf(", %d %s", more.n, more.word)
		}
	}
	return text
}
