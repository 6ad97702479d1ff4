package cli

import (
	"strings"

	"github.com/pawl-dev/pawl"
)

// ErrorText is an error without what kind of error it is.
func ErrorText(err error) string {
	return strings.TrimSuffix(err.Error(), ": "+pawl.ErrInvalid.Error())
}
