package sandbox

import (
	"io/fs"
	"os"
)

// A placeholder is an empty directory in place of a protected name that does not exist,
// because a mount needs a mount point. Git ignores empty directories. Its unusual mode
// identifies placeholders that a crash has left. Sandboxes share placeholders: each
// holds a lock, and the last one removes it, because the mounts would vanish with it.
const placeholderMode = os.ModeDir | os.ModeSticky | 0o500

func isPlaceholder(path string, info fs.FileInfo) bool {
	return PlaceholderMode(info.Mode()) && (isHeld(path) || len(names(path)) == 0)
}

// PlaceholderMode reports whether a mode is that of a placeholder: an empty directory
// with it belongs to a sandbox and should be ignored. Bits that a directory inherits
// from its parent do not count.
func PlaceholderMode(mode fs.FileMode) bool {
	return mode&(os.ModeType|os.ModeSticky|0o700) == placeholderMode
}
