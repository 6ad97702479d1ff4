package hook

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// maxMatcher is the maximum length of a matcher in bytes.
const maxMatcher = 1000

// matcher reports whether one of the names matches.
type matcher func(names []string) bool

func everything([]string) bool { return true }

// plainMatcher matches a list of names, separated by | or commas.
var plainMatcher = regexp.MustCompile(`^[\w\s|,-]+$`)

// parseMatcher parses a matcher: "" and * match everything, Edit|Write is a
// list of names, anything else a regular expression that is searched for in a
// name or, if it is not valid, a pattern with *. An invalid one matches
// everything and returns an error: a guard must not be lost to a typing error.
func parseMatcher(text string) (matcher, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "" || text == "*":
		return everything, nil
	case len(text) > maxMatcher:
		return everything, fmt.Errorf("the matcher is too long (%d bytes, the limit is %d): the hook runs for everything", len(text), maxMatcher)
	case plainMatcher.MatchString(text):
		words := strings.FieldsFunc(text, func(r rune) bool { return r == '|' || r == ',' || r == ' ' })
		return func(names []string) bool {
			return slices.ContainsFunc(names, func(name string) bool {
				return slices.ContainsFunc(words, func(word string) bool { return strings.EqualFold(word, name) })
			})
		}, nil
	}
	expr, err := regexp.Compile(text)
	if err != nil {
		if expr, err = globExpr(text); err != nil {
			return everything, fmt.Errorf("invalid matcher %q: the hook runs for everything. Use names separated by |, or a regular expression", text)
		}
	}
	return func(names []string) bool { return slices.ContainsFunc(names, expr.MatchString) }, nil
}

// globExpr converts a list of patterns to a regular expression.
func globExpr(text string) (*regexp.Regexp, error) {
	if strings.ContainsAny(text, `()[]{}^$+\`) {
		return nil, fmt.Errorf("invalid pattern %q", text)
	}
	quoted := regexp.QuoteMeta(text)
	return regexp.Compile("^(?:" + strings.NewReplacer(`\*`, ".*", `\?`, ".", `\|`, "|").Replace(quoted) + ")$")
}

// subjects returns the names that a matcher is compared with; nil means that
// the event has none and all commands run.
func subjects(e Event) []string {
	switch e.Point {
	case ToolBefore, ToolAfter, PermissionAsk:
		return toolNames(e.Tool)
	case SessionStart, Notification:
		return []string{e.Source}
	case SessionEnd:
		return []string{string(e.Reason)}
	case CompactionBefore, CompactionAfter:
		return []string{e.Trigger}
	case SubagentStop:
		return []string{e.Agent}
	default:
		return nil
	}
}
