package cli

import (
	"strings"

	"github.com/pawl-dev/pawl"
)

// ErrorText returns the text of err without the suffix of pawl.ErrInvalid.
func ErrorText(err error) string {
	return strings.TrimSuffix(err.Error(), ": "+pawl.ErrInvalid.Error())
}
