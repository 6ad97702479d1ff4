package review

import "slices"

// Finding is a problem of a change, with its location.
type Finding struct {
	Path       string   `json:"path"`
	StartLine  int      `json:"start_line"` // in the new file; 0 means the whole file
	EndLine    int      `json:"end_line"`
	Severity   Severity `json:"severity"`
	Rule       string   `json:"rule"`
	Title      string   `json:"title"`
	Message    string   `json:"message"`
	Suggestion string   `json:"suggestion,omitempty"`

	Fingerprint string `json:"fingerprint,omitempty"` // stays the same in later reviews
}

// Severity says how serious a finding is.
type Severity string

// The severities, in ascending order.
const (
	Note    Severity = "note"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// Severities holds all severities, in ascending order.
var Severities = []Severity{Note, Warning, Error}

// AtLeast reports whether a severity is as high as another, or higher.
func (s Severity) AtLeast(other Severity) bool {
	return slices.Index(Severities, s) >= slices.Index(Severities, other)
}

// rule is a kind of finding. The rules are few and fixed, so that findings are stable between reviews.
type rule struct{ id, about string }

// notReviewed is the rule of the findings by Pawl itself about files left out.
const notReviewed = "not-reviewed"

var rules = []rule{
	{"correctness", "The code does not do what it should."},
	{"security", "The change can be abused, or leaks a secret."},
	{"data-loss", "Data can be lost or corrupted."},
	{"concurrency", "The code fails when things happen concurrently."},
	{"errors", "An error is ignored or reported wrongly."},
	{"performance", "The code uses more time or memory than it should."},
	{"compatibility", "The change breaks existing users."},
	{"tests", "The behavior is not tested, or the test cannot fail."},
	{"docs", "The documentation is wrong or missing."},
	{"maintainability", "The code is hard to understand or change."},
	{notReviewed, "The file was not reviewed."},
}
