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
		return fault.New(pawl.ErrInvalid, "%.100q is not the name of a branch, tag or commit: %s", name, why)
	}
	return nil
}

func refFault(name string) string {
	switch {
	case name == "" || len(name) > maxRef:
		return "it is empty or too long"
	case name[0] == '-':
		return "it begins like an option"
	case name == "@" || strings.Contains(name, "@{"):
		return "@ has a meaning of its own"
	case strings.Contains(name, ".."):
		return "two dots are a range"
	case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) }):
		return "it has a character in it that no name has"
	case strings.HasSuffix(name, "."):
		return "it ends with a dot"
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || part[0] == '-' || strings.HasSuffix(part, ".lock") {
			return fmt.Sprintf("%q is no part of a name", part)
		}
	}
	return ""
}
