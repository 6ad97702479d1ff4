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
	{"correctness", "It does not do what it should."},
	{"security", "It can be abused, or lets a secret out."},
	{"data-loss", "Data can be lost or damaged."},
	{"concurrency", "It goes wrong when things happen at once."},
	{"errors", "A failure is passed over, or told wrongly."},
	{"performance", "It takes more time or space than it should."},
	{"compatibility", "It breaks those who rely on how it was."},
	{"tests", "What it does is not tested, or the test cannot fail."},
	{"docs", "What is written about it is wrong or missing."},
	{"maintainability", "It will be hard to understand or change."},
	{notReviewed, "The file was left out of the review."},
}
