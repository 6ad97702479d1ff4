//go:build !linux

package sandbox

// Release takes away what boxes have left in workspaces: here, nothing.
func Release() {}

func isHeld(string) bool { return false }
