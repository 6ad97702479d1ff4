package cli

import (
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
	if similar := suggest.Quoted("", value, known); similar != "" {
		return fault.New(pawl.ErrInvalid, "unknown %s %.80q", what, value).Hint("Did you mean %s?", similar)
	}
	if len(known) == 0 || len(known) > maxListed {
		return fault.New(pawl.ErrInvalid, "unknown %s %.80q", what, value)
	}
	return fault.New(pawl.ErrInvalid, "unknown %s %.80q: use %s", what, value, humanize.Join(known, "or"))
}
