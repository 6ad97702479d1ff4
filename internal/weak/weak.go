//go:build !sectest

// Package weak takes defenses out, in builds for tests alone: so a test can show
// that another test would notice if one were missing.
package weak

// On reports whether a defense is taken out. A released pawl has none of this:
// it is always false.
func On(string) bool { return false }

// List is what is taken out, for a process of our own to take over with Set.
func List() string { return "" }

// Set takes defenses out, as List names them. It does nothing here.
func Set(string) (restore func()) { return func() {} }
