// Package namespace tells what the user namespace of this process changes.
package namespace

import "os"

// IsolatedVar is the environment variable that names the view of an isolated process.
const IsolatedVar = "PAWL_ISOLATED"

// IsRoot reports whether a file with this owner belongs to root. In the user namespace of
// an isolated process root has no number of its own: such a process sees its files as
// those of the kernel's overflow user. The process that started it has checked them
// outside.
func IsRoot(uid uint32) bool {
	return uid == 0 || os.Getenv(IsolatedVar) != "" && uid == hiddenRoot()
}
