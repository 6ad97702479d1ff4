package cli

import (
	"strconv"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/suggest"
)

// maxListed is how many known values Unknown lists.
const maxListed = 10

// Unknown returns the error for a value that is not among the known ones. It suggests similar values
// or, without any, lists the known ones if they are few.
func Unknown(what, value string, known []string) *fault.Error {
	if similar := suggest.Names(value, known); len(similar) > 0 {
		return fault.New(pawl.ErrInvalid, "unknown %s %.80q", what, value).Hint("%s", DidYouMean(similar))
	}
	if len(known) == 0 || len(known) > maxListed {
		return fault.New(pawl.ErrInvalid, "unknown %s %.80q", what, value)
	}
	return fault.New(pawl.ErrInvalid, "unknown %s %.80q: use %s", what, value, Or(known))
}

// DidYouMean returns the hint that suggests names.
func DidYouMean(names []string) string {
	var quoted []string
	for _, n := range names {
		quoted = append(quoted, strconv.Quote(n))
	}
	return "Did you mean " + Or(quoted) + "?"
}

// Or joins words with commas and "or".
func Or(words []string) string { return humanize.Join(words, "or") }
