package git

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// maxRef bounds the length of a ref name in bytes.
const maxRef = 255

// CheckRef returns an error unless name is a valid name of a branch, tag or commit
// by git's rules. It rejects expressions such as HEAD~1 or a..b, and anything that
// git could take for an option.
func CheckRef(name string) error {
	if why := refFault(name); why != "" {
		return fault.New(pawl.ErrInvalid, "invalid name of a branch, tag or commit %.100q: %s", name, why)
	}
	return nil
}

func refFault(name string) string {
	switch {
	case name == "" || len(name) > maxRef:
		return "it is empty or too long"
	case name[0] == '-':
		return "it starts like an option"
	case name == "@" || strings.Contains(name, "@{"):
		return "@ has a special meaning"
	case strings.Contains(name, ".."):
		return "two dots are a range"
	case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) }):
		return "it contains an invalid character"
	case strings.HasSuffix(name, "."):
		return "it ends with a dot"
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || part[0] == '-' || strings.HasSuffix(part, ".lock") {
			return fmt.Sprintf("invalid part %q", part)
		}
	}
	return ""
}
