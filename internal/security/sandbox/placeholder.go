package sandbox

import (
	"io/fs"
	"os"
)

// A placeholder is an empty directory in the place of a protected name that is
// not there: something has to be, for the sandbox to be mounted upon it. Git does
// not see empty directories. It has a mode that no other directory has, by which a
// later run knows one that a crash has left, and is shared: every sandbox that
// relies on it has it locked, and only the last one takes it away. If it went
// earlier, the mount would go with it.
const placeholderMode = os.ModeDir | os.ModeSticky | 0o500

func isPlaceholder(path string, info fs.FileInfo) bool {
	return PlaceholderMode(info.Mode()) && (isHeld(path) || len(names(path)) == 0)
}

// PlaceholderMode reports whether a mode is a placeholder's: an empty directory that has
// it is the sandbox's own, comes and goes, and is nobody's work. The bits that a directory
// takes over from the one above do not count.
func PlaceholderMode(mode fs.FileMode) bool {
	return mode&(os.ModeType|os.ModeSticky|0o700) == placeholderMode
}
