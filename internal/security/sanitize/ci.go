package sanitize

import "regexp"

// Commands of CI systems in a log: one form at the start of a line, as "::add-mask::", also after spaces; one anywhere, as
// "##[group]" or "##vso[task.setvariable]".
var (
	lineCommand = regexp.MustCompile(`(?m)^\s*::`)
	wordCommand = regexp.MustCompile(`##(\w*\[)`)
)

// CILog returns text in which CI systems find no commands: those at the start of a line get a bar before them.
func CILog(s string) string {
	return wordCommand.ReplaceAllString(lineCommand.ReplaceAllString(s, "| $0"), "## $1")
}
