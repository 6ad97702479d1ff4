//go:build !sectest

package sandbox

// weakened reports whether a defense is taken out, which only builds for tests
// can do.
func weakened(string) bool { return false }

// weakness is what a helper adopts: nothing.
func weakness() string { return "" }

func adoptWeakness(string) {}
