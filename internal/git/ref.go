package git

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
)

// maxRef bounds the bytes of a ref's name.
const maxRef = 255

// CheckRef refuses what cannot be the name of a branch, a tag or a commit. The
// rules are git's own for names. Expressions such as HEAD~1 or a..b are not
// names, and neither is anything that git could take for an option, in full or
// abbreviated.
func CheckRef(name string) error {
	if why := refFault(name); why != "" {
		return fmt.Errorf("%.100q is not the name of a branch, tag or commit: %s: %w", name, why, pawl.ErrInvalid)
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
