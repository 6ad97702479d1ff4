package sandbox

import "github.com/pawl-dev/pawl/internal/weak"

// weakened reports whether a defense is taken out, which only builds for tests
// can do.
func weakened(name string) bool { return weak.On("sandbox." + name) }
